"""The built-in community: a surface like any other, with its own verbs and an HTTP contract."""
