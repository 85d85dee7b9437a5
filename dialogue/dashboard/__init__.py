"""Queries of the agents' pages. The number of queries per page is constant."""
