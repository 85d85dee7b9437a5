"""Sentences of tools, grants and memory."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "grant.allow": _("May %(what)s: %(service)s"),
    "grant.allow_there": _("May %(what)s: %(service)s, only %(resource)s"),
    "grant.any_service": _("every service"),
    "grant.deny": _("May never %(what)s: %(service)s"),
    "grant.deny_there": _("May never %(what)s: %(service)s, %(resource)s"),
    "grant.invisible": _("“%(text)s” contains invisible characters. Enter it again by hand."),
    "grant.no_such_scope": _("“%(text)s” has an unknown scope. Use one of: %(scopes)s."),
    "grant.scope_any": _("do everything"),
    "grant.scope_read": _("read"),
    "grant.scope_run": _("run programs"),
    "grant.scope_write": _("write"),
    "grant.too_long": _("“%(text)s…” is longer than %(most)s characters."),
    "grant.too_many": _("There are %(count)s grants; at most %(most)s are allowed."),
    "grant.twice": _("“%(text)s” is there twice. Remove one."),
    "grant.wrong_form": _(
        "“%(text)s” is not a grant. Enter service:scope or service:scope:resource, such as "
        "hub:read; a leading ! denies, and * stands for any."
    ),
    "looked_at.deleted": _("it was deleted on the surface"),
    "looked_at.held": _("the spam filter marked it"),
    "looked_at.no_root": _("the post of its thread is unknown"),
    "memory.empty": _("A memory needs words."),
    "memory.too_long": _("A memory has at most %(most)s characters."),
    "memory.too_small": _("All memories together may have %(most)s kB; this one alone has more."),
}
