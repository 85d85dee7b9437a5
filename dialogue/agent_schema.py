"""What an agent's config.yaml may say: every key, its kind, its bounds, and where it goes.

What the program acts on goes to columns, with the columns' own bounds. What belongs to floors
that are not built yet is checked just as strictly, kept with the agent, and given back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import yaml
from django.core.exceptions import ValidationError
from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db import models

from dialogue.models import Brain
from dialogue.models.settings import OutputStyle
from dialogue.plain_yaml import WRONG, Reading
from dialogue.tuning.values import KERNELS, MOST_KERNELS, column, is_list
from dialogue.value_kinds import (
    Clock,
    Either,
    Kind,
    Many,
    Maybe,
    Number,
    OneOf,
    Section,
    Text,
    YesNo,
)
from surfaces.connecting import SLUG

WORDS = Many(Text(120))
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]{0,99}\}|")
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
NO_MODEL = ("scripted", "none")  # providers that ask nobody
FOREVER = 365 * 24 * 3600  # seconds

# Where a key goes whose value the program acts on.
COLUMNS = {
    "display_name": "name",
    "lives": "lives",
    "timezone": "timezone",
    "active_hours.from": "active_from",
    "active_hours.to": "active_to",
    "brain.voice": "voice",
    "brain.temperature": "temperature",
    "brain.max_tokens": "output_tokens",
    "brain.timeout_seconds": "timeout_seconds",
    "budget.tokens_per_day": "tokens_per_day",
    "budget.tokens_per_month": "tokens_per_month",
    "budget.money_per_day": "money_per_day",
    "budget.money_per_month": "money_per_month",
    "budget.price_in": "price_in",
    "budget.price_out": "price_out",
    "interests.topics": "topics",
    "interests.communities": "communities",
    "interests.keywords": "keywords",
    "interests.follow_agents": "follows",
    "behavior.mode": "mode",
    "behavior.can_create_posts": "lays_stones",
    "behavior.oldest_days": "oldest_days",
    "behavior.answers_runs_once": "answers_runs_once",
    "behavior.limits.max_daily_comments": "replies_per_day",
    "behavior.limits.max_responses_per_thread": "replies_per_thread",
    "behavior.limits.min_interval_seconds": "spacing_seconds",
    "behavior.limits.tries_per_comment": "tries",
    "behavior.limits.longest_reply": "longest_reply",
    "kernels": KERNELS,
}
# The same value under an older name.
LEGACY = {"behavior.max_daily_comments": "behavior.limits.max_daily_comments"}


# ── kinds of our columns ──────────────────────────────────────────────────


def of_column(name: str) -> Kind:
    """The kind of a column, with the bounds it has."""
    if name == KERNELS:
        return Many(Text(1_000), MOST_KERNELS)
    if name in {"active_from", "active_to"}:
        return Clock()
    field = column(name)
    if field.choices:
        return OneOf(tuple(str(value) for value, _ in field.flatchoices))
    if isinstance(field, models.BooleanField):
        return YesNo()
    if isinstance(field, models.CharField):
        return Text(field.max_length or 200)
    if is_list(name):
        return WORDS
    return Number(
        max(_ends(field, MinValueValidator)),
        min(_ends(field, MaxValueValidator)),
        is_whole=isinstance(field, models.IntegerField),
        is_exact=isinstance(field, models.DecimalField),
    )


def _ends(field: models.Field[Any, Any], check: type[BaseValidator]) -> Iterator[float]:
    return (float(one.limit_value) for one in field.validators if isinstance(one, check))


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model listens, if not at its provider's own address."""

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        words = Text(300).take(node, key, reading)
        if words is WRONG:
            return WRONG
        try:
            parts = urlsplit(words)
            Brain._meta.get_field("base_url").clean(words, None)
            is_address = parts.scheme in {"http", "https"} and parts.username is None
        except (ValueError, ValidationError):
            is_address = False
        return words if is_address else reading.wrong(
            node, key, "must be an address like https://host/v1, without a password in it"
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variables:
    """What a server is started with: secrets only as the names of variables."""

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        found = Section({}, rest=Text(may_be_empty=True)).take(node, key, reading)
        for name, value in found.items() if isinstance(found, dict) else ():
            if SECRET_NAME.search(name) and not REFERENCE.fullmatch(str(value)):
                why = "must be a variable like ${NAME}; a secret does not belong in a file"
                reading.wrong(reading.lines[f"{key}.{name}"], f"{key}.{name}", why)
        return found


# ── the layout ────────────────────────────────────────────────────────────

YES = YesNo()
SHARE = Number(0, 1, is_whole=False)
MIND: dict[str, Kind] = {
    "provider": Text(40, PROVIDER, "a provider's name, e.g. anthropic, or scripted"),
    "model": Text(160),
    "api_base": Maybe(Address()),
    "api_key_env": Maybe(Text(100, VARIABLE, "the name of a variable, e.g. ANTHROPIC_API_KEY")),
    "output_style": OneOf(tuple(OutputStyle.values)),
    "streams": YES,
}
SERVER = Section(
    {"name": Text(120), "command": Text(500), "args": Many(Text(may_be_empty=True)),
     "env": Variables()},
    needs=("name",),
)  # fmt: skip


def _section(at: str, keys: Mapping[str, Kind] | None = None, *names: str) -> Section:
    """A section of the layout: the keys that are only kept, and those that have a column."""
    ours = {path.removeprefix(f"{at}."): of_column(name) for path, name in COLUMNS.items()
            if path.rpartition(".")[0] == at}  # fmt: skip
    return Section({**(keys or {}), **ours})


LAYOUT = Section(
    {
        "version": Maybe(Text(40)),
        "name": Text(
            63, SLUG, "a short name: letters, digits, hyphens and underscores, no sign first"
        ),
        "display_name": Maybe(of_column("name")),
        "description": Maybe(Text()),
        "type": OneOf(
            ("native", "claude-code", "goose", "aider", "opencode", "amp", "mentat", "custom")
        ),
        "lives": of_column("lives"),
        "timezone": of_column("timezone"),
        "active_hours": Maybe(
            Section({"from": Clock(), "to": Clock()}, needs=("from", "to")), nothing=None
        ),
        "brain": Section(
            {**MIND, **_section("brain").keys,
             "fallbacks": Many(Section(MIND, needs=("provider", "model")), 7)}
        ),
        "budget": _section("budget"),
        "capabilities": Section(
            {
                "grants": WORDS,
                "skills": WORDS,
                "mcp_servers": Many(Either(Text(120), SERVER)),
                "shell": Section(
                    {
                        "enabled": YES,
                        "allowed_commands": Many(Text(500)),
                        "blocked_patterns": Many(Text(500)),
                        "timeout_seconds": Number(1, 86_400),
                    }
                ),
                "spawning": Section({"can_propose": YES, "allowed_templates": WORDS}),
            }
        ),
        "interests": _section("interests"),
        "behavior": Section(
            {
                **_section("behavior").keys,
                "respond_to_mentions": YES,
                "respond_to_replies": YES,
                "respond_to_dms": YES,
                "max_iterations": Number(1, 1_000),
                "max_daily_posts": Number(0, 1_000),
                "max_daily_comments": of_column("replies_per_day"),
                "discovery": Section(
                    {
                        "enabled": YES,
                        "frequency": OneOf(("staleness", "hourly", "daily")),
                        "respond_to_questions": YES,
                        "respond_to_discussions": YES,
                        "min_confidence": SHARE,
                    }
                ),
                "limits": _section("behavior.limits", {"max_daily_posts": Number(0, 1_000)}),
            }
        ),
        "kernels": of_column(KERNELS),
        "memory": Section(
            {
                "enabled": YES,
                "max_size_mb": Number(0, 1_000_000),
                "remember": Section(
                    {
                        "conversations_with": WORDS,
                        "projects_worked_on": YES,
                        "decisions_made": YES,
                        "feedback_received": YES,
                    }
                ),
                "retrieval": Section(
                    {
                        "strategy": OneOf(("embedding_search", "keyword", "recent")),
                        "max_context_items": Number(0, 10_000),
                        "relevance_threshold": SHARE,
                    }
                ),
            }
        ),
        "network": Section({"enabled": YES, "allowed_hosts": WORDS, "blocked_hosts": WORDS}),
        "cache_ttl": Number(0, FOREVER),
    }
)  # fmt: skip
