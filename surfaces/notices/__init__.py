"""Notifications to operators: which, when, with which content, by which channel.

    desk, accounts, pauses ──gathering──> notices, due at an hour (`schedule`, `matching`)
    due ──settling──> handled (gone from the desk) | later (a colleague is at it) | dropped
        ├──> told, on the page
        └──folded: many into one──> delivery ──claim, commit──> mail or call ──> told
                                       ^                                   ├─> later ─> failed
                                       └────────── an expired lease ────┘

A notice is made at most once for a person, a way, a thing and a reason: a constraint holds it.
No transaction is open while we talk to a mail server or call anybody.
"""
