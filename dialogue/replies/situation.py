"""Read the facts for `decision.decide`, in a constant number of queries per batch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q

from dialogue.activations.models import ActivationItem, ItemState
from dialogue.activations.permissions import account_trouble, paused_by, read_pauses
from dialogue.agents.active_hours import local_day, next_opening
from dialogue.agents.limits import in_threads, replies_of, said_today
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import services as budget_services
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.replies.decision import ReplyLimits, Situation
from surfaces.accounts.models.account import ReplyMode
from surfaces.drafts.models import DEAD, DraftState, Feedback
from surfaces.drafts.validation import reply_depth
from surfaces.messages.models import Direction, MessageKind
from surfaces.models import Account, Draft, Message, Pause
from surfaces.text.reasons import StoredReason, note, reason

# Kinds of notifications and the setting that says whether they are answered.
WANTED = {
    "mention": "responds_to_mentions",
    "reply": "responds_to_replies",
    "dm": "responds_to_dms",
}
RECENT = 20  # newest drafts searched for an agent's last reply


@dataclass(slots=True)
class SituationBatch:
    now: datetime
    answered: set[int] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)  # notifications whose conversation waits
    drafts: dict[int, list[Draft]] = field(default_factory=lambda: defaultdict(list))
    pauses: dict[int, Pause] = field(default_factory=dict)  # by presence
    ours: set[tuple[int, str]] = field(default_factory=set)  # (surface, remote id or handle)
    today: Counter[str] = field(default_factory=Counter)
    in_thread: Counter[tuple[str, int]] = field(default_factory=Counter)
    last: dict[str, datetime] = field(default_factory=dict)
    awake: set[int] = field(default_factory=set)
    spent: dict[int, tuple[StoredReason, datetime] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Notification], *, now: datetime) -> SituationBatch:
        """About ten queries, and five more per agent."""
        world = cls(now)
        agents = {row.agent_id: row.agent for row in rows}
        messages = [row.message_id for row in rows if row.message_id]
        world._read_answers(messages)
        world._read_ours(rows)
        world._read_counts(rows)
        waiting = ActivationItem.objects.filter(notification__in=rows, state=ItemState.WAITING)
        world.waiting = set(waiting.values_list("notification_id", flat=True).order_by())
        world.read_pauses({row.presence_id for row in rows})
        running = Activation.objects.running().filter(agent__in=agents)
        world.awake = set(running.values_list("agent_id", flat=True))
        for agent in agents.values():
            if agent.settings.voice == VoiceKind.MODEL:
                world.spent[agent.pk] = budget_services.spent(agent.slug, agent.settings, now=now)
        return world

    def read_pauses(self, presences: Collection[int]) -> None:
        self.pauses = read_pauses(presences)

    def _read_ours(self, rows: Sequence[Notification]) -> None:
        """Our accounts on the surfaces of `rows`, by id and by name without case.

        All of them: a database folds case by its locale, and not as Python folds the authors.
        """
        surfaces = {row.presence.account.surface_id for row in rows}
        found = Account.objects.filter(surface__in=surfaces).order_by()
        for surface, remote_id, handle in found.values_list("surface", "remote_id", "handle"):
            self.ours |= {(surface, name) for name in (remote_id, handle.lower()) if name}

    def _read_answers(self, messages: Sequence[int]) -> None:
        ours = Message.objects.filter(direction=Direction.OUTGOING)
        replied, commented = Q(parent=OuterRef("pk")), Q(parent=None, post=OuterRef("pk"))
        under_post = Q(kind=MessageKind.POST) & Exists(ours.filter(commented).comments())
        rows = Message.objects.filter(pk__in=messages)
        rows = rows.filter(Exists(ours.filter(replied)) | under_post)
        self.answered = set(rows.values_list("pk", flat=True))
        drafts = Draft.objects.filter(target__in=messages)
        for draft in drafts.order_by("-id"):
            self.drafts[draft.target_id or 0].append(draft)

    def _read_counts(self, rows: Sequence[Notification]) -> None:
        agents = {row.agent.slug: row.agent for row in rows}
        replies = replies_of(agents)
        self.in_thread = in_threads(replies, {row.message.post_id for row in rows if row.message})
        for slug, agent in agents.items():
            mine = replies.filter(agent=slug)
            self.today[slug] = said_today(mine, agent, now=self.now)
            newest = mine.order_by("-id").values_list("sent_at", "not_before", "made_at")[:RECENT]
            # A retry that is sent much later does not count yet.
            soon = self.now + agent.settings.spacing
            said = [at for row in newest if (at := row[0] or row[1] or row[2]) <= soon]
            if said:
                self.last[slug] = max(said)

    def turn(self, row: Notification) -> Situation:
        message, presence, agent = row.comment, row.presence, row.agent
        account, kept = presence.account, agent.settings
        start, end = agent.active_from, agent.active_to
        drafts = self.drafts.get(message.pk, [])
        spent = self.spent.get(agent.pk)
        names = {message.author_id, message.author.lower()} - {""}
        # On a post others may comment, too: what was written for this notification counts.
        mine = [draft for draft in drafts if not message.is_post or draft.written_for == row.cause]
        status, failure = _progress(message, mine, row)
        return Situation(
            spam_status=message.spam_status,
            attempts=message.reply_attempts,
            reply_status=status,
            failure=failure,
            is_answered=message.pk in self.answered,
            is_ours=message.is_ours or _is_author(message, account),
            is_our_agent=any((account.surface_id, name) in self.ours for name in names),
            is_deleted=message.deleted_at is not None,
            written_at=message.created_at,
            thread_is_known=message.post.is_post,
            thread_is_deleted=message.post.deleted_at is not None,
            forbidden=_forbidden(message, account),
            has_live_draft=any(draft.state not in DEAD for draft in drafts),
            not_before=row.not_before,
            is_wanted=_is_wanted(row),
            waits_for_tool=row.pk in self.waiting,
            is_present=presence.ended_at is None,
            paused=self._paused(presence),
            is_autonomous=kept.is_autonomous,
            mode=account.mode,
            account_trouble=account_trouble(account, self.now),
            lives_elsewhere=agent.lives == AgentLocation.ELSEWHERE,
            opens_at=next_opening(self.now, zone=agent.zone, start=start, end=end),
            replies_today=self.today[agent.slug],
            day_ends_at=local_day(self.now, agent.zone)[1],
            replies_in_thread=self.in_thread[agent.slug, message.post_id],
            last_reply_at=self.last.get(agent.slug),
            spent=spent[0] if spent else "",
            spent_until=spent[1] if spent else None,
            backs_off_until=agent.backs_off_until,
            is_awake=agent.pk in self.awake,
            **_last_word(mine, row),
            in_run_of=_run(message, agent),
        )

    def may_speak(self, presence: Presence) -> bool:
        """Whether no lasting rule forbids replies of this presence."""
        agent, account = presence.agent, presence.account
        return (
            agent.lives == AgentLocation.HERE
            and agent.settings.is_autonomous
            and account.mode != ReplyMode.OFF
            and not account_trouble(account, self.now)
            and not self._paused(presence)
        )

    def _paused(self, presence: Presence) -> StoredReason:
        pause = self.pauses.get(presence.pk)
        return paused_by(pause) if pause else StoredReason()


def _is_author(message: Message, account: Account) -> bool:
    """Compare by id where both have one, else by name without case."""
    if account.remote_id and message.author_id:
        return message.author_id == account.remote_id
    return bool(account.handle) and message.author.lower() == account.handle.lower()


def _forbidden(message: Message, account: Account) -> StoredReason | str:
    deepest = account.surface.traits.max_depth
    if deepest is None or message.parent_id is None or reply_depth(message) < deepest:
        return ""
    return reason("reply.too_deep", deepest=deepest, label=account.surface.traits.label)


def _is_wanted(row: Notification) -> bool:
    """Kinds without a setting are answered."""
    name = WANTED.get(row.kind)
    return name is None or bool(getattr(row.agent.settings, name))


def _progress(
    message: Message, drafts: Sequence[Draft], row: Notification
) -> tuple[str | None, StoredReason | str]:
    """How far the answer is. Of a post only its drafts tell that sending failed for good."""
    last = drafts[0] if drafts and message.is_post else None
    is_new = last and not (row.asked_at and last.made_at <= row.asked_at)
    if last and is_new and last.state == DraftState.FAILED:
        return "failed", last.why
    failed = message.reply_status == "failed"
    return message.reply_status, message.reply_why if failed else ""


def _last_word(drafts: Sequence[Draft], row: Notification) -> dict[str, Any]:
    """The fate of the last draft, unless an operator requested a reply since."""
    last = drafts[0] if drafts else None
    is_asked = row.asked_at is not None
    if last is None or (row.asked_at and last.made_at <= row.asked_at):
        return {"was_asked_for": is_asked}
    rejection = StoredReason()
    if last.judged == Feedback.REJECTED:
        by = last.decided_by.rpartition(":")[2]
        rejection = reason("reply.rejected", by=by, why=last.why) if last.why else note(by)
    return {"is_shadowed": last.state == DraftState.SHADOWED, "rejection": rejection}


def _run(message: Message, agent: Agent) -> StoredReason | str:
    """A newer comment by the same author under the same parent; its reply covers this one."""
    if message.is_post or not agent.settings.answers_runs_once:
        return ""
    unread = Notification.objects.unread().filter(agent=agent, message=OuterRef("pk"))
    rows = Message.objects.filter(
        Exists(unread), account=message.account_id, post=message.post_id,
        parent=message.parent_id, author=message.author, deleted_at=None,
    )  # fmt: skip
    at = message.created_at
    newer = rows.filter(Q(created_at__gt=at) | Q(created_at=at, pk__gt=message.pk))
    is_any = (newer.awaiting_reply() | newer.cleared()).exists()
    return reason("reply.in_run_of", author=message.author) if is_any else ""


def limits_of(agent: Agent) -> ReplyLimits:
    kept = agent.settings
    return ReplyLimits(
        tries=kept.tries, oldest=timedelta(days=kept.oldest_days) if kept.oldest_days else None,
        per_day=kept.replies_per_day, per_thread=kept.replies_per_thread, spacing=kept.spacing,
    )  # fmt: skip
