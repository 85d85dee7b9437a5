"""gunicorn's threaded worker, which can part with a socket.

A stream of events stays open for minutes. In a thread of the worker it would keep pages from
being answered, and each thread keeps a connection to the database. So the answer to `/live` is
begun here like any other, and then its socket goes to the one thread that writes to all of them.
"""

from datetime import datetime
from types import FrameType
from typing import Any

from gunicorn.http import wsgi
from gunicorn.workers.gthread import TConn, ThreadWorker

from surfaces.live import HANDS_OVER

STREAM = "/live"


class LiveWorker(ThreadWorker):  # type: ignore[misc]
    _streams: Any = None

    def handle_request(self, req: Any, conn: TConn) -> bool:
        if req.path != STREAM or self.cfg.is_ssl:
            return bool(super().handle_request(req, conn))
        begun = datetime.now()  # noqa: DTZ005 - as gunicorn's own log has it
        resp, environ = wsgi.create(req, conn.sock, conn.client, conn.server, self.cfg)
        handed: list[Any] = []
        environ.update({"wsgi.multithread": True, HANDS_OVER: handed})
        self.nr += 1
        answer = self.wsgi(environ, resp.start_response)
        resp.force_close()
        # No length and no chunks: the body lasts until the connection ends.
        resp.chunked = resp.chunked and not handed
        try:
            for part in answer:
                resp.write(part)
            resp.close()
        finally:
            self.log.access(resp, req, environ, datetime.now() - begun)  # noqa: DTZ005
            answer.close()
        if handed:
            from surfaces.live.streams import of_this_process  # Django is set up by now

            self._streams = of_this_process()
            conn.is_handed_over = True
            self._streams.take(handed[0], conn.sock)
        return False

    def finish_request(self, conn: TConn, fs: Any) -> None:
        if getattr(conn, "is_handed_over", False):
            self.nr_conns -= 1
        else:
            super().finish_request(conn, fs)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._streams is not None:
            self._streams.stop()
        super().handle_exit(sig, frame)
