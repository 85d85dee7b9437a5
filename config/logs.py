"""Write one JSON object per log line: a fixed sentence, ids beside it, never a secret."""

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")

STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# What must never reach a log, wherever it comes from: bearer tokens, keys, passwords in URLs.
SECRETS = re.compile(
    r"(?i)(bearer\s+|moltbook_(?:sk_)?|sk-|(?:token|password|secret|api_?key|authorization)"
    r"[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)([^\s\"',;&]{4,})"
    r"|(://[^/\s:@]*:)([^@\s/]+)(?=@)"
)
SECRET_NAMES = re.compile(r"(?i)token|password|secret|credential|api_?key|authorization|cookie")


def mask(text: str) -> str:
    """Return `text` with anything that looks like a secret replaced by ***."""
    return SECRETS.sub(lambda found: f"{found[1] or found[3]}***", text)


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
