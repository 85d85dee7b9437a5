"""What an agent's config.yaml may contain: every key, its type, its bounds, and its column.

A key with a column has that column's bounds. A key without one is checked just as strictly,
stored with the agent, and written again by an export.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

import pydantic
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictBool, field_validator

from dialogue.agents.models.settings import OutputStyle
from dialogue.agents.settings.values import KERNELS, MAX_KERNELS, column, is_list
from dialogue.voice.endpoints import is_address
from surfaces.accounts.connect import SLUG, is_loopback
from surfaces.settings.fields import Column

NO_MODEL = ("scripted", "none")  # providers without a language model
CLOCK = r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?"


def check_text(
    most: int = 2_000, pattern: str = r"(?s).*\S.*", must: str = "not be blank; remove the key"
) -> AfterValidator:
    def check(words: str) -> str:
        if len(words) > most:
            raise ValueError(f"must have at most {most:,} characters, not {len(words):,}")
        if not re.fullmatch(pattern, words):
            raise ValueError(f"must {must}")
        return words

    return AfterValidator(check)


def one_of(*choices: str) -> AfterValidator:
    return check_text(120, "|".join(choices), f"be one of {', '.join(choices)}")


def text(*rule: Any) -> Any:
    return Annotated[str, check_text(*rule)]


def many(kind: Any, most: int = 100) -> Any:
    return Annotated[list[kind], Field(max_length=most)]


def mapping(kind: Any) -> Any:
    return Annotated[dict[str, kind], Field(max_length=100)]


def number(low: float, high: float, kind: type = int) -> Any:
    return Annotated[kind, Field(strict=True, ge=low, le=high)]


def column_type(name: str) -> Any:
    """The type of a column of agents, or of their settings, with its bounds."""
    field = column(name)
    if is_list(name):
        return many(text(1_000), MAX_KERNELS) if name == KERNELS else WORDS
    if field.choices:
        # YAML reads the mode `off` as false.
        read = BeforeValidator(lambda value: "off" if value is False else value)
        return Annotated[str, read, one_of(*(str(value) for value, _ in field.flatchoices))]
    if isinstance(field, models.BooleanField):
        return StrictBool
    if isinstance(field, models.TimeField):
        return text(15, CLOCK, "be a time of day like 08:00") | None
    if isinstance(field, models.CharField):
        return text(field.max_length) | None if name == "name" else text(field.max_length)
    low, high = bounds(field)
    return number(low, high, int if isinstance(field, models.IntegerField) else float)


def bounds(field: Column) -> tuple[float, float]:
    low = max(one.limit_value for one in field.validators if isinstance(one, MinValueValidator))
    high = min(one.limit_value for one in field.validators if isinstance(one, MaxValueValidator))
    return low, high


@dataclass(frozen=True, slots=True)
class Scaled:
    """A column of whole numbers that a file counts in a larger unit: megabytes of kilobytes."""

    column: str
    times: int

    @property
    def type(self) -> Any:
        low, high = bounds(column(self.column))
        kind = number(low / self.times, high / self.times, float)
        return Annotated[kind, AfterValidator(self.check)]

    def check(self, value: float) -> float:
        if value * self.times % 1:
            raise ValueError(f"must be a multiple of 1/{self.times:,}, such as 0.25 or 2")
        return value

    def read(self, value: float) -> int:
        return int(value * self.times)

    def written(self, kept: int) -> int | float:
        return kept // self.times if kept % self.times == 0 else kept / self.times


PROVIDER = check_text(40, r"[A-Za-z0-9][A-Za-z0-9_.-]*", "be a provider like anthropic or scripted")
VARIABLE = check_text(100, r"[A-Z_][A-Z0-9_]*", "be the name of a variable like ANTHROPIC_API_KEY")


def check_address(url: str) -> str:
    if len(url) > 300 or not is_address(url):
        raise ValueError("must be an address like https://host/v1, without a password")
    return url


class ConfigSection(BaseModel, extra="forbid"):
    pass


class ModelSpec(ConfigSection):
    provider: Annotated[str, PROVIDER]
    model: Annotated[str, check_text(160)]
    api_base: Annotated[str, AfterValidator(check_address)] | None = None
    api_key_env: Annotated[str, VARIABLE] | None = None
    output_style: Annotated[str, one_of(*OutputStyle.values)] = "tool"
    streams: StrictBool = False

    @field_validator("model")
    @classmethod
    def check_model(cls, model: str, info: pydantic.ValidationInfo) -> str:
        if info.data.get("provider") in NO_MODEL:
            raise ValueError(f"cannot be asked: the provider {info.data['provider']} has no models")
        return model

    @field_validator("api_key_env")
    @classmethod
    def check_key(cls, variable: str | None, info: pydantic.ValidationInfo) -> str | None:
        at = urlsplit(info.data.get("api_base") or "")
        if variable and variable.lower().removesuffix("_file") in settings.ENV.__dataclass_fields__:
            raise ValueError("names a variable of Colloquy itself")
        if variable and at.scheme == "http" and not is_loopback(at.hostname or ""):
            raise ValueError("names a key, which http would send unencrypted; use https")
        return variable

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    def __str__(self) -> str:
        at = f" at {self.api_base}" if self.api_base else ""
        return f"{self.name}{at}, {self.output_style}{', streams' if self.streams else ''}"


def check_server(value: Any) -> Any:
    """The name of an MCP server, or the section that says how to start one."""
    if isinstance(value, dict):
        return SERVER.model_validate(value).model_dump(exclude_unset=True)
    return pydantic.TypeAdapter(WORD).validate_python(value)


FLAG, WORD, COMMAND, SHARE = StrictBool, text(120), text(500), number(0, 1, float)
WORDS, COMMANDS = many(WORD), many(COMMAND)
NAME = text(63, SLUG.pattern, "be a short name: letters, digits, - and _, no sign first")
ANY_TEXT = text(2_000, r"(?s).*")
SERVER_KEYS: dict[str, Any] = {
    "name": (WORD, ...), "command": COMMAND, "args": many(ANY_TEXT),
    "env": mapping(ANY_TEXT),
}  # fmt: skip
# Text names the column of a key; anything else is the type of a key without one.
LAYOUT: dict[str, Any] = {
    "version": WORD | None,
    "name": NAME,
    "display_name": "name",
    "description": text() | None,
    "type": Annotated[str, one_of(
        "native", "claude-code", "goose", "aider", "opencode", "amp", "mentat", "custom"
    )],
    "lives": "lives",
    "timezone": "timezone",
    "active_hours": {"from": "active_from", "to": "active_to"},
    "brain": {
        **{name: info.rebuild_annotation() for name, info in ModelSpec.model_fields.items()},
        "voice": "voice", "temperature": "temperature", "max_tokens": "output_tokens",
        "timeout_seconds": "timeout_seconds", "fallbacks": many(ModelSpec, 7),
    },
    "budget": {
        "tokens_per_day": "tokens_per_day", "tokens_per_month": "tokens_per_month",
        "money_per_day": "money_per_day", "money_per_month": "money_per_month",
        "price_in": "price_in", "price_out": "price_out",
    },
    "capabilities": {
        "grants": "grants", "skills": WORDS,
        "mcp_servers": many(Annotated[Any, AfterValidator(check_server)]),
        "shell": {
            "enabled": FLAG, "allowed_commands": COMMANDS, "blocked_patterns": COMMANDS,
            "timeout_seconds": number(1, 86_400),
        },
        "approvals": {
            "mode": "approval_mode", "read": "on_read", "write": "on_write",
            "publish": "on_publish", "execute": "on_execute", "external": "on_external",
            "hours": "approval_hours",
        },
        "spawning": {"can_propose": FLAG, "allowed_templates": WORDS},
    },
    "interests": {
        "topics": "topics", "communities": "communities", "keywords": "keywords",
        "follow_agents": "follows",
    },
    "behavior": {
        "mode": "mode", "can_create_posts": "lays_stones", "oldest_days": "oldest_days",
        "answers_runs_once": "answers_runs_once", "respond_to_mentions": "responds_to_mentions",
        "respond_to_replies": "responds_to_replies", "respond_to_dms": "responds_to_dms",
        "max_iterations": "max_iterations", "max_daily_posts": "posts_per_day",
        "max_daily_comments": "replies_per_day",
        "discovery": {
            "enabled": "explores", "respond_to_questions": "explores_questions",
            "respond_to_discussions": "explores_discussions", "frequency": "explore_frequency",
            "stale_minutes": "stale_minutes", "min_confidence": "min_confidence",
        },
        "limits": {
            "max_daily_posts": "posts_per_day", "max_daily_comments": "replies_per_day",
            "notifications_per_activation": "notifications_per_run",
            "max_tool_calls": "max_tool_calls", "tokens_per_activation": "tokens_per_run",
            "money_per_activation": "money_per_run", "seconds_per_activation": "seconds_per_run",
            "max_responses_per_thread": "replies_per_thread",
            "min_interval_seconds": "spacing_seconds", "tries_per_comment": "tries",
            "longest_reply": "longest_reply",
        },
    },
    "kernels": KERNELS,
    "memory": {
        "enabled": "has_memory", "max_size_mb": Scaled("memory_kilobytes", 1_024),
        "remember": {
            "conversations_with": WORDS, "projects_worked_on": FLAG, "decisions_made": FLAG,
            "feedback_received": FLAG,
        },
        "retrieval": {
            "strategy": "memory_strategy", "max_context_items": "memory_items",
            "relevance_threshold": SHARE,
        },
    },
    "network": {"enabled": FLAG, "allowed_hosts": WORDS, "blocked_hosts": WORDS},
    "cache_ttl": number(0, 365 * 24 * 3600),
}  # fmt: skip
# Keys that older files have elsewhere, with where an export writes them.
OLD_KEYS = {
    f"behavior.{name}": f"behavior.limits.{name}"
    for name in ("max_daily_comments", "max_daily_posts")
}


def build_section(keys: dict[str, Any]) -> type[ConfigSection]:
    fields: dict[str, Any] = {}
    for name, kind in keys.items():
        if isinstance(kind, dict):
            kind = build_section(kind)
        elif isinstance(kind, str):
            kind = column_type(kind)
        elif isinstance(kind, Scaled):
            kind = kind.type
        fields[name] = kind if isinstance(kind, tuple) else (kind, None)
    return pydantic.create_model("ConfigSection", __base__=ConfigSection, **fields)


def _walk(keys: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, kind in keys.items():
        column = kind.column if isinstance(kind, Scaled) else kind
        yield above + name, column if isinstance(column, str) else ""
        if isinstance(kind, dict):
            yield from _walk(kind, f"{above}{name}.")


SERVER = build_section(SERVER_KEYS)
AgentConfig = build_section(LAYOUT)
SCALED = {"memory.max_size_mb": LAYOUT["memory"]["max_size_mb"]}
KEYS = dict(_walk(LAYOUT))  # every key in order, with its column or ""
COLUMNS = {key: name for key, name in KEYS.items() if name and key not in OLD_KEYS}
