"""Run the web processes: `python -m config.processes.web [--host H] [--port P] [--access-log]`.

This process only binds the port, starts `WEB_WORKERS` workers, and replaces what dies.
"""

import argparse
import logging.config

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from config import env, logs
from config.processes.http_protocol import BoundedProtocol

PATIENCE = 2  # seconds for pages to be finished when the server ends


def main() -> None:
    given = env.load()
    parser = argparse.ArgumentParser(prog="config.processes.web", description=__doc__)
    parser.add_argument("--host", default=given.host, help="address to listen on")
    parser.add_argument("--port", type=int, default=given.port, help="port to listen on")
    parser.add_argument("--access-log", action="store_true", help="log each request")
    asked = parser.parse_args()
    logging.config.dictConfig(logs.configuration(given.log_level, given.log_format))
    config = Config(
        "config.asgi:application",
        host=asked.host,
        port=asked.port,
        workers=given.web_workers,
        loop="asyncio",
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=asked.access_log,
        proxy_headers=False,  # Django reads them, where COLLOQUY_URL says that there is a proxy
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    Multiprocess(config, sockets=[config.bind_socket()]).run()


if __name__ == "__main__":
    main()
