"""What the pages of the first floor read: each in a number of queries that never grows."""
