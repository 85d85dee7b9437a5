"""Move what imported files say from `carried` into the new columns of the settings.

A value that the column cannot take stays in `carried`; the column keeps its cautious default and
the settings page of the agent names the value. Grants move all or none: without one `!` that
cannot be read, the others would allow more than the file does.
"""

import re
from collections.abc import Callable
from typing import Any

from django.db import migrations

GRANT = re.compile(r"!?(\*|[a-z][a-z0-9_-]*):(\*|[A-Za-z0-9][A-Za-z0-9_.-]*)(:\S(.*\S)?)?")
MB = 1_024  # kilobytes
Check = Callable[[Any], bool]


def whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def flag(value: Any) -> bool:
    return isinstance(value, bool)


def one_of(*choices: str) -> Check:
    return lambda value: value in choices


def share(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value <= 1


def grants(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= 100
        and all(isinstance(it, str) and len(it) <= 120 and GRANT.fullmatch(it) for it in value)
    )


# Key of config.yaml: column, and whether it takes the value. The older of two keys comes first.
KEYS: dict[str, tuple[str, Check]] = {
    "capabilities.grants": ("grants", grants),
    "behavior.respond_to_mentions": ("responds_to_mentions", flag),
    "behavior.respond_to_replies": ("responds_to_replies", flag),
    "behavior.respond_to_dms": ("responds_to_dms", flag),
    "behavior.max_iterations": ("max_iterations", whole(1, 100)),
    "behavior.max_daily_posts": ("posts_per_day", whole(0, 100)),
    "behavior.limits.max_daily_posts": ("posts_per_day", whole(0, 100)),
    "behavior.discovery.enabled": ("explores", flag),
    "behavior.discovery.respond_to_questions": ("explores_questions", flag),
    "behavior.discovery.respond_to_discussions": ("explores_discussions", flag),
    "behavior.discovery.frequency": (
        "explore_frequency",
        one_of("staleness", "hourly", "daily"),
    ),
    "behavior.discovery.min_confidence": ("min_confidence", share),
    "memory.enabled": ("has_memory", flag),
    "memory.max_size_mb": ("memory_kilobytes", whole(1, 100)),
    "memory.retrieval.strategy": (
        "memory_strategy",
        one_of("embedding_search", "keyword", "recent"),
    ),
    "memory.retrieval.max_context_items": ("memory_items", whole(0, 50)),
}
OLD = "behavior.max_daily_posts"


def take(nested: dict[str, Any], key: str) -> Any:
    """Remove a key and the sections that it leaves empty; return its value."""
    first, _, rest = key.partition(".")
    if not rest:
        return nested.pop(first, None)
    inner = nested.get(first)
    if not isinstance(inner, dict):
        return None
    value = take(inner, rest)
    if not inner:
        del nested[first]
    return value


def put(nested: dict[str, Any], key: str, value: Any) -> None:
    *above, last = key.split(".")
    for name in above:
        nested = nested.setdefault(name, {})
    nested[last] = value


def to_columns(apps: Any, schema_editor: Any) -> None:
    Agent = apps.get_model("dialogue", "Agent")
    AgentSettings = apps.get_model("dialogue", "AgentSettings")
    for agent in Agent.objects.exclude(carried={}).only("carried").order_by("pk"):
        values: dict[str, Any] = {}
        for key, (column, fits) in KEYS.items():
            value = take(agent.carried, key)
            if value is None:
                continue
            if fits(value):
                values[column] = value * MB if column == "memory_kilobytes" else value
            else:
                put(agent.carried, key, value)
        Agent.objects.filter(pk=agent.pk).update(carried=agent.carried)
        if values:
            AgentSettings.objects.filter(agent=agent.pk).update(**values)


def to_carried(apps: Any, schema_editor: Any) -> None:
    """What differs from the default, as an older version keeps and exports it."""
    AgentSettings = apps.get_model("dialogue", "AgentSettings")
    usual = {column: AgentSettings._meta.get_field(column).get_default() for column, _ in KEYS.values()}
    for row in AgentSettings.objects.select_related("agent").order_by("pk"):
        kept = row.agent.carried
        for key, (column, _) in KEYS.items():
            value = getattr(row, column)
            if key == OLD or value == usual[column]:
                continue
            # That version counts whole megabytes.
            put(kept, key, -(-value // MB) if column == "memory_kilobytes" else value)
        type(row.agent).objects.filter(pk=row.agent_id).update(carried=kept)


class Migration(migrations.Migration):
    dependencies = [("dialogue", "0008_desk_tool_calls")]

    operations = [migrations.RunPython(to_columns, to_carried)]
