"""The bell: how many notices nobody read yet."""

from typing import Any

from django import template

register = template.Library()
MOST = 100  # beyond this, "99+" says enough


@register.inclusion_tag("surfaces/notices/_bell.html", takes_context=True)
def bell(context: dict[str, Any]) -> dict[str, Any]:
    """`{% bell %}`: counted with what waits. Nothing for who is not signed in."""
    shell = context.get("shell")
    if shell is None:
        return {}
    count = shell.unread.count
    return {"user": context["user"], "count": count, "words": "99+" if count >= MOST else count}
