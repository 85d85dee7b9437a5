"""Status line of an agent: whether it replies automatically now, and if not, why.

Uses the same facts as `replies.decision`, without those of a comment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dialogue.agents.active_hours import next_opening
from dialogue.agents.models.agent import Agent, AgentLocation
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import Frequency, VoiceKind
from dialogue.budgets.meters import BudgetMeter
from surfaces.accounts.models.account import ReplyMode
from surfaces.models import Pause
from surfaces.pauses.models import PauseScope
from surfaces.text.reasons import StoredReason


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentStatus:
    words: str
    css: str = ""  # of the dot: ok, wait, bad, or none
    until: datetime | None = None
    why: StoredReason | str = ""
    pause: Pause | None = None  # the agent's own


def agent_status(
    agent: Agent,
    presences: Sequence[Presence],
    pauses: Iterable[Pause],
    bars: Iterable[BudgetMeter],
    *,
    now: datetime,
) -> AgentStatus:
    """Return the first that applies: pauses, settings, then what ends on its own."""
    return (
        _paused(agent, list(pauses))
        or _set(agent, presences)
        or _passing(agent, bars, now)
        or AgentStatus(words=_("Replies automatically"), css="ok")
    )


def _paused(agent: Agent, pauses: list[Pause]) -> AgentStatus | None:
    own = next((p for p in pauses if p.scope == PauseScope.AGENT and p.subject == agent.slug), None)
    if own:
        words = _("Paused by %(name)s") % {"name": _name(own.by)}
        return AgentStatus(words=words, css="bad", why=own.why, pause=own)
    if all_ := next((pause for pause in pauses if pause.scope == PauseScope.ALL), None):
        words = _("Everything is paused by %(name)s") % {"name": _name(all_.by)}
        return AgentStatus(words=words, css="bad", why=all_.why)
    return None


def _name(actor: str) -> str:
    return actor.rpartition(":")[2]


def _set(agent: Agent, presences: Sequence[Presence]) -> AgentStatus | None:
    if agent.lives == AgentLocation.ELSEWHERE:
        return AgentStatus(words=_("An external agent replies, notified by webhook"), css="ok")
    if not presences:
        return AgentStatus(words=_("No account assigned"))
    if not agent.settings.is_autonomous:
        return AgentStatus(words=_("Disabled: automatic replies are off"))
    if all((presence.mode or agent.settings.mode) == ReplyMode.OFF for presence in presences):
        return AgentStatus(words=_("Mode off: nothing is written"))
    return None


def _passing(agent: Agent, bars: Iterable[BudgetMeter], now: datetime) -> AgentStatus | None:
    if agent.backs_off_until and agent.backs_off_until > now:
        failed = ngettext("%(failures)s failure", "%(failures)s failures in a row", agent.failures)
        why, until = failed % {"failures": agent.failures}, agent.backs_off_until
        return AgentStatus(words=_("Backing off"), css="wait", until=until, why=why)
    start = next_opening(now, zone=agent.zone, start=agent.active_from, end=agent.active_to)
    if start:
        return AgentStatus(words=_("Outside active hours"), css="wait", until=start)
    # The scripted voice costs nothing, so budgets do not apply.
    has_price = agent.settings.voice == VoiceKind.MODEL
    if has_price and (full := next((bar for bar in bars if bar.is_full), None)):
        used = _("%(label)s: %(words)s used") % {"label": full.label, "words": full.words}
        return AgentStatus(words=used, css="wait", until=full.until)
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class NextRun:
    """When the agent may be activated next: a time, or in words why there is none."""

    words: str
    at: datetime | None = None


def next_run(agent: Agent, status: AgentStatus, *, now: datetime) -> NextRun:
    """Not earlier than what holds it ends, nor than something is due."""
    if status.css != "ok":
        at = max(filter(None, (status.until, agent.due_at)), default=None)
        if status.until is None:
            return NextRun(words=_("None: %(why)s") % {"why": status.words})
        return NextRun(words=_("Not before"), at=at)
    if agent.lives == AgentLocation.ELSEWHERE:
        return NextRun(words=_("Elsewhere"))
    if agent.due_at is not None:
        late = agent.due_at <= now
        return NextRun(words=_("Due since") if late else _("Not before"), at=agent.due_at)
    if not agent.settings.explores:
        return NextRun(words=_("When a comment is due"))
    if agent.settings.explore_frequency != Frequency.STALENESS or not agent.last_activated_at:
        return NextRun(words=_("When a comment is due, or to explore"))
    idle = agent.last_activated_at + timedelta(minutes=agent.settings.stale_minutes)
    return NextRun(words=_("To explore, not before"), at=max(idle, now))
