"""Live updates: pages are notified of changes of the desk and of pauses.

    a row of the desk, a pause ──trigger──> NOTIFY ──one LISTEN per web process──> `streams`
    `streams` ──`now`, once a second and reach──> every browser that holds `GET /live` open

A browser without a stream polls `GET /live/now`. Both return the same.
"""

# In the environ of a server that can part with a socket: a list for the view's `Stream`.
HANDS_OVER = "colloquy.hands_over"
