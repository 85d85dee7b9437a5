"""What the pages of stones read: the list, twelve weeks as pictures, one number as it was read.

A stone earns comments by strangers that are no spam, and the people who wrote them. Every
page takes a number of queries that never grows.
"""
