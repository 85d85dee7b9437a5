"""Bodies that are written for minutes: by the event loop, so that they hold no thread.

A view answers as always, through every middleware. Where the server offers a list under
`ASYNC_BODY` in the environ, the view may append one coroutine function, which writes the rest.
"""

from asyncio import Future
from collections.abc import Awaitable, Callable

ASYNC_BODY = "colloquy.async_body"

Write = Callable[[bytes], Awaitable[None]]
# It gets what writes a part of the body, and a future that is done once the client is gone.
AsyncBody = Callable[[Write, "Future[None]"], Awaitable[None]]
