"""News without noise: pages learn what entered and left the desk, and what was paused.

    a row of the desk, a pause ──trigger──> NOTIFY ──one LISTEN per web process──> `streams`
    `streams` ──`now`, once a second and reach──> every browser that holds `GET /live` open

A browser that holds none asks `GET /live/now` instead. Both say the same.
"""
