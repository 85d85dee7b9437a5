"""Serve the WSGI application from ASGI, with a fixed pool of threads.

A request takes a thread once its body is here as a whole, and gives it back before its answer is
written: a slow client holds a socket, never a thread. Each thread keeps its database connection.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from tempfile import SpooledTemporaryFile
from threading import Barrier, BrokenBarrierError
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from surfaces.web.async_body import ASYNC_BODY, AsyncBody

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_SECONDS = 60.0  # for a whole body
IN_MEMORY = 64 * 1024  # bytes of a body; a longer one is kept in a file
PART = 64 * 1024  # bytes written before a slow client is waited for
PROXIES = {"127.0.0.1", "::1"}  # from here X-Forwarded-Proto is believed
TOO_SLOW = b"The body of the request did not arrive in time."


@dataclass(slots=True)
class Answer:
    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    rest: list[AsyncBody] = field(default_factory=list)


class ClientGone(Exception):
    pass


class WSGIPool:
    def __init__(
        self, app: Any, *, threads: int, max_body: int, body_seconds: float = BODY_SECONDS
    ) -> None:
        self.app, self.threads = app, threads
        self.max_body, self.body_seconds = max_body, body_seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="page")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self.body_seconds):
                body, length = await self._read(receive)
        except ClientGone:
            return
        except TimeoutError:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await _send(send, Answer(408, headers, TOO_SLOW))
            return
        with body:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._pool, self._answer, scope, body, length)
        if not answer.rest:
            await _send(send, answer)
            return
        # A server that ends need not wait for it.
        scope.setdefault("state", {})["is_async_body"] = True
        await _send_async(receive, send, answer)

    def close(self, connections: Callable[[], None]) -> None:
        """Let each thread end its `connections`. Waits a second for threads that are at work."""
        all_threads = Barrier(self.threads)

        def end() -> None:
            with suppress(BrokenBarrierError):
                all_threads.wait(1)  # so that no thread does it twice, and one not at all
            connections()

        for ended in [self._pool.submit(end) for _ in range(self.threads)]:
            with suppress(TimeoutError):
                ended.result(1.5)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _read(self, receive: Receive) -> tuple[IO[bytes], int]:
        """The body and its length. Beyond the limit the rest is not read: Django will refuse it."""
        first = await _part(receive)
        body: IO[bytes] = BytesIO(first["body"])
        length, has_more = len(first["body"]), first["more_body"]
        if has_more:
            body = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the caller closes it
            body.write(first["body"])
        try:
            while has_more and length <= self.max_body:
                part = await _part(receive)
                body.write(part["body"])
                length, has_more = length + len(part["body"]), part["more_body"]
        except BaseException:
            body.close()
            raise
        body.seek(0)
        return body, length

    def _answer(self, scope: Message, body: IO[bytes], length: int) -> Answer:
        """Run the application, in a thread of the pool."""
        answer = Answer()
        parts: list[bytes] = []

        def start_response(status: str, headers: Iterable[tuple[str, str]], *_: Any) -> Any:
            answer.status = int(status.split(" ", 1)[0])
            answer.headers = [
                (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers
            ]
            return parts.append

        given = environ(scope, body, length) | {ASYNC_BODY: answer.rest}
        found = self.app(given, start_response)
        try:
            parts.extend(found)
        finally:
            if hasattr(found, "close"):
                found.close()  # ends the request for Django: what must happen in this thread
        answer.body = b"".join(parts)
        return answer


def environ(scope: Message, body: IO[bytes], length: int) -> dict[str, Any]:
    """What PEP 3333 asks for. A name with an underscore could pass for another: it is left out."""
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    path = scope.get("raw_path") or scope["path"].encode()
    made: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 0),
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        if b"_" in raw_name:
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        if name != "CONTENT_TYPE":
            name = f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        joint = "; " if name == "HTTP_COOKIE" else ","
        made[name] = f"{made[name]}{joint}{value}" if name in made else value
    declared = made.pop("HTTP_CONTENT_LENGTH", "")
    made["CONTENT_LENGTH"] = str(max(length, int(declared) if declared.isdigit() else 0))
    is_https = client[0] in PROXIES and made.get("HTTP_X_FORWARDED_PROTO") == "https"
    made["wsgi.url_scheme"] = "https" if is_https else scope.get("scheme", "http")
    return made


async def _part(receive: Receive) -> dict[str, Any]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return {"body": message.get("body", b""), "more_body": message.get("more_body", False)}


async def _send(send: Send, answer: Answer) -> None:
    names = {name for name, _ in answer.headers}
    if b"content-length" not in names and answer.status not in {204, 304}:
        answer.headers.append((b"content-length", str(len(answer.body)).encode()))
    await send(_start(answer))
    for start in range(0, len(answer.body), PART):
        part = answer.body[start : start + PART]
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_async(receive: Receive, send: Send, answer: Answer) -> None:
    """The head and the first words from the thread, the rest from a coroutine."""
    answer.headers.append((b"connection", b"close"))  # the end of the body is seen at once
    await send(_start(answer))

    async def write(part: bytes) -> None:
        await send({"type": "http.response.body", "body": part, "more_body": True})

    async def client_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    await write(answer.body)
    gone = asyncio.ensure_future(client_gone())
    try:
        for rest in answer.rest:
            await rest(write, gone)
    finally:
        gone.cancel()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _start(answer: Answer) -> Message:
    return {
        "type": "http.response.start", "status": answer.status, "headers": answer.headers,
    }  # fmt: skip
