"""The desk: one queue of everything that waits for a person, whatever its kind.

    a row of some table ──trigger──> desk_items ──filters, order──> the queue
    kind + item ──its kind's `load`──> the row ──`pane`──> the page
    an action ──its kind's service, compare-and-set──> an outcome, and its undo

Kinds are added by an `Extension`, so `surfaces` needs to import no other app.
"""
