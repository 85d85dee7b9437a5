"""Live updates: pages are notified of changes of the desk and of pauses.

    a row of the desk, a pause ──trigger──> NOTIFY ──one LISTEN per web process──> `streams`
    `streams` ──`now`, once a second and reach──> every browser that holds `GET /live` open

A browser without a stream polls `GET /live/now`. Both return the same.
"""
