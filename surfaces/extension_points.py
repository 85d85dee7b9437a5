"""What `dialogue` adds to the pages of `surfaces`: one `Extension` per app, named in settings.

`dialogue` imports `surfaces`, never the reverse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.module_loading import import_string


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentScope:
    """Maps agents to accounts, for operators with limited access."""

    accounts_of: Callable[..., Any]  # (slugs) -> ids of accounts, fit for a subquery
    agents_of: Callable[..., Any]  # (account ids) -> slugs
    choices: Callable[..., Any]  # (scope) -> [(slug, name), ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftGuard:
    """A rule that keeps a draft from being sent for good, checked in the moment of sending."""

    forbids: str  # SQL over a draft `d` and its account `a`; constant text, no values in it
    why: str  # code of the reason


@dataclass(frozen=True, kw_only=True, slots=True)
class NavLink:
    """An entry of the menu, of the list of settings, or of both."""

    view: str  # name of its URL, e.g. dialogue:agents
    label: Any
    icon: str
    key: str = ""  # after "g"
    text: Any = ""  # what its page is for, in the list of settings
    pages: frozenset[str] = frozenset()  # other views that belong to it
    is_tab: bool = False  # stands in the bar of a phone, too


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    nav_items: Sequence[NavLink] = ()  # in the menu, after Drafts
    settings_links: Sequence[NavLink] = ()
    connect_view: str = ""  # where an account is connected
    reports_view: str = ""  # what one agent did, by its slug
    desk_kinds: Sequence[Any] = ()  # DeskKind, in the order of the desk's menu
    home_panels: Sequence[Callable[..., Any]] = ()  # (Dashboard) -> HomePanel | None
    onboarding_steps: Sequence[Callable[[], Any]] = ()  # () -> OnboardingStep
    thread_annotations: Sequence[Callable[..., Any]] = ()  # (messages, drafts, scope)
    timeline_events: Sequence[Callable[..., Any]] = ()  # (message, drafts, scope)
    notice_sources: Sequence[Callable[..., Any]] = ()  # (now) -> SystemEvents
    agent_scope: AgentScope | None = None
    draft_guards: Sequence[DraftGuard] = ()
    # (row, names of its facts that changed): each makes due what waited for them
    wait_endings: Sequence[Callable[[Any, frozenset[str]], object]] = ()
    # Name and (scope) -> text, another one when open pages are to look again
    live_marks: Sequence[tuple[str, Callable[..., str]]] = ()
    wait_bounds: Sequence[Any] = ()  # WaitBound: how far ahead of now a column may be


def extensions() -> tuple[Extension, ...]:
    """The extensions named in settings, loaded once."""
    return _load(tuple(settings.EXTENSIONS))


def end_waits(row: Any, *facts: str) -> None:
    """Make due whatever waited for these facts of `row`: settings by name, or an act.

    Call it in the transaction that changes them. The tables `ENDS` of the packages say which wait
    hangs on which fact.
    """
    for found in extensions():
        for end in found.wait_endings:
            end(row, frozenset(facts))


def connect_url() -> str:
    """Where an operator connects an account."""
    return reverse(next(found.connect_view for found in extensions() if found.connect_view))


def reports_url(agent: str) -> str:
    """Where an operator reads what an agent did."""
    return reverse(next(f.reports_view for f in extensions() if f.reports_view), args=[agent])


def draft_guards() -> list[DraftGuard]:
    return [guard for found in extensions() for guard in found.draft_guards]


def agent_scope() -> AgentScope:
    return next(found.agent_scope for found in extensions() if found.agent_scope)


@cache
def _load(names: tuple[str, ...]) -> tuple[Extension, ...]:
    return tuple(import_string(name) for name in names)
