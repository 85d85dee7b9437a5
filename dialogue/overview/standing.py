"""Whether an agent speaks by itself now, and if not, why: one line for the pages.

The same facts as `turn_taking` decides by, without any one comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dialogue.hours import opens_at
from dialogue.models import Agent, Presence
from dialogue.models.agent import Lives
from dialogue.models.settings import VoiceKind
from dialogue.overview.figures import Bar
from surfaces.models import Pause
from surfaces.models.account import Mode
from surfaces.models.pause import Scope


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    words: str
    css: str = ""  # of the dot: ok, wait, bad, or none
    until: datetime | None = None
    why: str = ""
    pause: Pause | None = None  # the agent's own


def standing(
    agent: Agent,
    presences: Sequence[Presence],
    pauses: Iterable[Pause],
    bars: Iterable[Bar],
    *,
    now: datetime,
) -> Standing:
    """The first that applies, from what a person did to what passes by itself."""
    return (
        _paused(agent, list(pauses))
        or _set(agent, presences)
        or _passing(agent, bars, now)
        or Standing(words="Answers by itself", css="ok")
    )


def _paused(agent: Agent, pauses: list[Pause]) -> Standing | None:
    own = next((p for p in pauses if p.scope == Scope.AGENT and p.subject == agent.slug), None)
    if own:
        return Standing(words=f"Paused by {_name(own.by)}", css="bad", why=own.why, pause=own)
    if all_ := next((pause for pause in pauses if pause.scope == Scope.ALL), None):
        words = f"Everything is paused by {_name(all_.by)}"
        return Standing(words=words, css="bad", why=all_.why)
    return None


def _name(actor: str) -> str:
    return actor.rpartition(":")[2]


def _set(agent: Agent, presences: Sequence[Presence]) -> Standing | None:
    """What its settings say."""
    if agent.lives == Lives.ELSEWHERE:
        return Standing(words="Lives elsewhere: it is woken and answers by itself", css="ok")
    if not presences:
        return Standing(words="Speaks nowhere yet")
    if not agent.settings.is_autonomous:
        return Standing(words="Switched off: it writes nothing unasked")
    if all((presence.mode or agent.settings.mode) == Mode.OFF for presence in presences):
        return Standing(words="Its mode is off: nothing is written")
    return None


def _passing(agent: Agent, bars: Iterable[Bar], now: datetime) -> Standing | None:
    """What ends by itself."""
    if agent.backs_off_until and agent.backs_off_until > now:
        failed = f"{agent.failures} failures in a row" if agent.failures > 1 else "it failed"
        return Standing(words="Backs off", css="wait", until=agent.backs_off_until, why=failed)
    start = opens_at(now, zone=agent.zone, start=agent.active_from, end=agent.active_to)
    if start:
        return Standing(words="Outside its hours", css="wait", until=start)
    # A template costs nothing, so no budget holds it up.
    has_price = agent.settings.voice == VoiceKind.MODEL
    if has_price and (full := next((bar for bar in bars if bar.is_full), None)):
        return Standing(words=f"{full.label}: {full.words} used", css="wait", until=full.until)
    return None
