"""The ASGI application: pages in a pool of threads, streams in the event loop beside them.

Served by `python -m config.processes.web`, which bounds what a connection may hold.
"""

import asyncio
import multiprocessing
import os
import resource
import signal
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
pages = get_wsgi_application()  # sets up Django, for what is imported next

# ruff: noqa: E402
from config.processes.heartbeat import web_heartbeat
from config.processes.http_protocol import BoundedProtocol
from config.processes.wsgi_pool import Receive, Send, WSGIPool
from surfaces.live.streams import of_this_process

BESIDE_STREAMS = 1000  # connections of a process that wait for a page or for a request
OTHER_FILES = 300  # open files of a process that are no clients: long bodies, modules, the database

pool = WSGIPool(pages, threads=settings.WEB_THREADS, max_body=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


async def application(scope: Any, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["type"] == "http":
        await pool(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    BoundedProtocol.max_connections = _room_for(settings.LIVE_CLIENTS + BESIDE_STREAMS)
    _end_with_parent()
    streams, heartbeat = of_this_process(), web_heartbeat()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await streams.stop()
    await asyncio.gather(
        asyncio.to_thread(pool.close, connections.close_all), asyncio.to_thread(heartbeat.end)
    )
    await send({"type": "lifespan.shutdown.complete"})


def _room_for(clients: int) -> int:
    """Ask for so many files; return how many clients there are files for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = clients + OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(clients, max(files - OTHER_FILES, files // 2))


def _end_with_parent() -> None:
    """Without the process that started it and holds its port, a worker ends in good order."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(parent.sentinel)
        os.kill(os.getpid(), signal.SIGTERM)

    loop.add_reader(parent.sentinel, end)
