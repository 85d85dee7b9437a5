"""The desk: one queue of everything that waits for a person, whatever its kind.

    a row of some table ──trigger──> desk_items ──filters, order──> the queue
    kind + item ──its kind's `load`──> the row ──`pane`──> what a person sees
    an act ──its kind's verb, compare-and-set──> an outcome in words, and how to take it back

A kind is registered by dotted name (`DESK_KINDS`), so the ground floor shows what it does not know.
"""
