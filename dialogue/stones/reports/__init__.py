"""Queries of the stones pages: the list, the weekly charts, the draw of one stone.

Engagement is the number of comments by others that are not spam, and of their authors. The
number of queries per page is constant.
"""
