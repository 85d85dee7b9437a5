"""Write one JSON object per log line: a fixed sentence, ids beside it, never a secret."""

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")

STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# What must never reach a log, wherever it comes from: what is called a secret, passwords in URLs,
# and keys by their shape, our own and those of services, percent-encoded too.
# A key begins where no word goes on; what is percent-encoded or escaped before it is no word.
BEGINS = (
    r"(?:(?<![a-z0-9])|(?<=%[0-9a-f]{2})|(?<=%25[0-9a-f]{2})"
    r"|(?<=\\[nrtbf])|(?<=\\x[0-9a-f]{2})|(?<=\\u[0-9a-f]{4}))"
)
SCORE = r"(?:_|%(?:25)*5F)"  # an underscore, however often it was encoded
SECRETS = re.compile(
    r"(?i)(bearer(?:\s+|\+|%20)|sk-|(?:token|password|secret|api[_-]?key|authorization|session_?id"
    r"|(?:[?&]|%(?:25)*(?:26|3F))key)[\"']?\s*(?:=|:|%(?:25)*3D)\s*[\"']?"
    r"(?:(?:bearer|basic|token)\s+)?)((?<=')[^']{4,}|(?<=\")[^\"]{4,}|[^\s\"',;&]{4,})"
    r"|(://[^/\s:@]*:)([^@\s/]+)(?=@)"
    rf"|({BEGINS}(?:clq|whsec|moltbook){SCORE}(?:sk_)?)[\w.~+/=%-]{{4,}}"
    # Names in a program begin alike; a key is longer.
    rf"|({BEGINS}(?:hub{SCORE}(?=[\w%-]{{10}})|gh[pousr]_(?=\w{{20}})|github_pat_(?=\w{{20}})"
    r"|AIza(?=[\w-]{30})|xox[abprs]-|AKIA(?=\w{16})|eyJ(?=[\w-]{10,}\.[\w-]{10,}\.)))[\w.~+/=%-]+"
)
SECRET_NAMES = re.compile(r"(?i)token|password|secret|credential|api_?key|authorization|cookie")


def mask(text: str) -> str:
    """Return `text` with anything that looks like a secret replaced by ***."""
    return SECRETS.sub(lambda found: f"{found[1] or found[3] or found[5] or found[6]}***", text)


def mask_records() -> None:
    """Mask what is logged before any handler sees it, also those of a web server's access log."""
    make = logging.getLogRecordFactory()

    def masked(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if isinstance(record.msg, str):
            record.msg = mask(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(map(_masked_argument, record.args))
        elif isinstance(record.args, Mapping):
            record.args = {name: _masked_argument(value) for name, value in record.args.items()}
        return record

    logging.setLogRecordFactory(masked)


def _masked_argument(value: Any) -> Any:
    return mask(value) if isinstance(value, str) else value


def _safe(name: str, value: Any) -> Any:
    if SECRET_NAMES.search(name):
        return "***"
    if isinstance(value, int | float | bool) or value is None:
        return value
    return mask(str(value))


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "say": mask(record.getMessage()),
        }
        if request_id.get():
            line["request_id"] = request_id.get()
        for name, value in vars(record).items():
            if name not in STANDARD:
                line[name] = _safe(name, value)
        if record.exc_info:
            line["error"] = mask(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        extra = " ".join(
            f"{name}={_safe(name, value)}"
            for name, value in vars(record).items()
            if name not in STANDARD
        )
        return mask(super().format(record)) + (f"  {extra}" if extra else "")


def configuration(level: str, style: str) -> dict[str, Any]:
    """Return the LOGGING setting."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "config.logs.JsonFormatter"},
            "text": {"()": "config.logs.TextFormatter", "format": "%(levelname)s %(message)s"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": style}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # One line per request to a surface is for debugging; it would hold full URLs.
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},  # the models' libraries bring their own
            "httpcore": {"level": "WARNING"},
            # A line for each malformed request would be a stranger's to write.
            "uvicorn.error": {"level": "ERROR"},
            # It says each task twice; what a task did is said by the task.
            "django-q": {"level": "WARNING"},
        },
    }
