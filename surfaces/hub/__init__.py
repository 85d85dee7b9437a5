"""The hub: the built-in community, a surface with its own services and HTTP contract."""
