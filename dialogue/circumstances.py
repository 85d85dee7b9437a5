"""Read all that `turn_taking.decide` may depend on: a handful of queries, however many comments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from dialogue import spending
from dialogue.hours import day_of, opens_at
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.models.agent import Lives
from dialogue.models.settings import VoiceKind
from dialogue.turn_taking import Limits, Turn
from surfaces.models import Account, Draft, Message, Pause
from surfaces.models.account import Mode
from surfaces.models.account import State as AccountState
from surfaces.models.draft import DEAD, UNDER_WAY, Judged, State, What
from surfaces.models.message import Direction
from surfaces.models.pause import Scope
from surfaces.vetting import depth_of

RECENT = 20  # newest drafts looked at for when an agent last spoke


def limits_of(agent: Agent) -> Limits:
    kept = agent.settings
    return Limits(
        tries=kept.tries,
        oldest=timedelta(days=kept.oldest_days) if kept.oldest_days else None,
        per_day=kept.replies_per_day,
        per_thread=kept.replies_per_thread,
        spacing=kept.spacing,
    )


def replies_of(agents: Collection[str]) -> QuerySet[Draft]:
    """What these agents, by slug, said in reply or mean to say."""
    return Draft.objects.filter(agent__in=agents, what=What.REPLY).exclude(state__in=DEAD)


def in_threads(replies: QuerySet[Draft], posts: Collection[int]) -> Counter[tuple[str, int]]:
    """How many of `replies` each agent has under each post."""
    threads = replies.filter(target__post__in=posts).values_list("agent", "target__post")
    counts = threads.annotate(count=Count("pk")).order_by()
    return Counter({(slug, post): count for slug, post, count in counts})


def said_today(mine: QuerySet[Draft], agent: Agent, *, now: datetime) -> int:
    """How many count on the agent's day.

    What is on its way may leave today; what waits for a person counts on its own day.
    """
    begin, _ = day_of(now, agent.zone)
    unsent = mine.filter(sent_at=None).filter(Q(state__in=UNDER_WAY) | Q(made_at__gte=begin))
    return mine.filter(sent_at__gte=begin).count() + unsent.count()


@dataclass(slots=True)
class World:
    """What a batch of notifications has in common, read at once."""

    now: datetime
    answered: set[int] = field(default_factory=set)
    drafts: dict[int, list[Draft]] = field(default_factory=lambda: defaultdict(list))
    pauses: list[Pause] = field(default_factory=list)
    ours: set[tuple[int, str]] = field(default_factory=set)  # (surface, remote id or handle)
    today: Counter[str] = field(default_factory=Counter)
    in_thread: Counter[tuple[str, int]] = field(default_factory=Counter)
    last: dict[str, datetime] = field(default_factory=dict)
    awake: set[int] = field(default_factory=set)
    spent: dict[int, tuple[str, datetime] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Notification], *, now: datetime) -> World:
        """Some ten queries, whatever the number of rows, and five more per agent among them."""
        world = cls(now)
        agents = {row.agent_id: row.agent for row in rows}
        messages = [row.message_id for row in rows if row.message_id]
        world._read_answers(messages)
        world._read_rivals(rows)
        world._read_counts(rows)
        world.pauses = list(Pause.objects.live())
        running = Activation.objects.running().filter(agent__in=agents)
        world.awake = set(running.values_list("agent_id", flat=True))
        for agent in agents.values():
            if agent.settings.voice == VoiceKind.MODEL:
                world.spent[agent.pk] = spending.spent(agent.slug, agent.settings, now=now)
        return world

    def _read_answers(self, messages: Sequence[int]) -> None:
        ours = Message.objects.filter(parent=OuterRef("pk"), direction=Direction.OUTGOING)
        rows = Message.objects.filter(pk__in=messages).filter(Exists(ours))
        self.answered = set(rows.values_list("pk", flat=True))
        for draft in Draft.objects.filter(target__in=messages, what=What.REPLY).order_by("-id"):
            self.drafts[draft.target_id or 0].append(draft)

    def _read_rivals(self, rows: Sequence[Notification]) -> None:
        surfaces = {row.presence.account.surface_id for row in rows}
        for account in Account.objects.filter(surface__in=surfaces).only(
            "surface_id", "handle", "remote_id"
        ):
            for name in (account.remote_id, account.handle.lower()):
                if name:
                    self.ours.add((account.surface_id, name))

    def _read_counts(self, rows: Sequence[Notification]) -> None:
        agents = {row.agent.slug: row.agent for row in rows}
        replies = replies_of(agents)
        self.in_thread = in_threads(replies, {row.message.post_id for row in rows if row.message})
        for slug, agent in agents.items():
            mine = replies.filter(agent=slug)
            self.today[slug] = said_today(mine, agent, now=self.now)
            newest = mine.order_by("-id").values_list("sent_at", "not_before", "made_at")[:RECENT]
            # What leaves much later, after a sending that failed, is not said yet.
            soon = self.now + agent.settings.spacing
            said = [at for row in newest if (at := row[0] or row[1] or row[2]) <= soon]
            if said:
                self.last[slug] = max(said)

    # ── one comment ───────────────────────────────────────────────────────

    def turn(self, row: Notification) -> Turn:
        """The facts of one notification."""
        message, presence, agent = row.comment, row.presence, row.agent
        account, kept = presence.account, agent.settings
        drafts = self.drafts.get(message.pk, [])
        spent = self.spent.get(agent.pk)
        return Turn(
            spam_status=message.spam_status,
            reply_status=message.reply_status,
            attempts=message.reply_attempts,
            failure=message.reply_why if message.reply_status == "failed" else "",
            is_answered=message.pk in self.answered,
            is_ours=message.is_ours or _is_author(message, account),
            is_our_agent=self._is_our_agent(message, account),
            is_deleted=message.deleted_at is not None,
            written_at=message.created_at,
            thread_is_known=message.post.is_post,
            thread_is_deleted=message.post.deleted_at is not None,
            forbidden=_forbidden(message, account),
            has_live_draft=any(draft.state not in DEAD for draft in drafts),
            not_before=row.not_before,
            is_present=presence.ended_at is None,
            paused=self._paused(presence),
            is_autonomous=kept.is_autonomous,
            mode=account.mode,
            account_trouble=_trouble(account, self.now),
            lives_elsewhere=agent.lives == Lives.ELSEWHERE,
            opens_at=opens_at(
                self.now, zone=agent.zone, start=agent.active_from, end=agent.active_to
            ),
            replies_today=self.today[agent.slug],
            day_ends_at=day_of(self.now, agent.zone)[1],
            replies_in_thread=self.in_thread[agent.slug, message.post_id],
            last_reply_at=self.last.get(agent.slug),
            spent=spent[0] if spent else "",
            spent_until=spent[1] if spent else None,
            backs_off_until=agent.backs_off_until,
            is_awake=agent.pk in self.awake,
            **_last_word(drafts, row),
            in_run_of=_run(message, agent) if kept.answers_runs_once else "",
        )

    def _is_our_agent(self, message: Message, account: Account) -> bool:
        names = {message.author_id, message.author.lower()} - {""}
        return any((account.surface_id, name) in self.ours for name in names)

    def may_speak(self, presence: Presence) -> bool:
        """Nothing that holds without an end speaks against this presence."""
        agent, account = presence.agent, presence.account
        return (
            agent.lives == Lives.HERE
            and agent.settings.is_autonomous
            and account.mode != Mode.OFF
            and not _trouble(account, self.now)
            and not self._paused(presence)
        )

    def _paused(self, presence: Presence) -> str:
        account = presence.account
        subjects = {
            (Scope.ALL, ""),
            (Scope.SURFACE, account.surface.slug),
            (Scope.ACCOUNT, account.name),
            (Scope.AGENT, presence.agent.slug),
        }
        for pause in self.pauses:
            if (pause.scope, pause.subject) in subjects:
                why = f": {pause.why}" if pause.why else ""
                return f"{str(pause).lower()} is paused by {pause.by.rpartition(':')[2]}{why}"
        return ""


def _is_author(message: Message, account: Account) -> bool:
    """By id, where both have one; else by name, which services fold."""
    if account.remote_id and message.author_id:
        return message.author_id == account.remote_id
    return bool(account.handle) and message.author.lower() == account.handle.lower()


def _forbidden(message: Message, account: Account) -> str:
    deepest = account.surface.traits.max_depth
    if deepest is None or message.parent_id is None or depth_of(message) < deepest:
        return ""
    return f"it stands at level {deepest}, and {account.surface.traits.label} takes no reply there"


def _trouble(account: Account, now: datetime) -> str:
    """Why nothing can be sent from here, whatever is written."""
    if not account.is_on or not account.surface.is_on:
        return "the account is switched off"
    lasts = account.state_until is None or account.state_until > now
    if account.state == AccountState.AUTH_FAILED:
        return f"the account cannot sign in: {account.state_why}"
    if account.state == AccountState.SUSPENDED and lasts:
        return f"the account is suspended: {account.state_why}"
    return ""


def _last_word(drafts: Sequence[Draft], row: Notification) -> dict[str, Any]:
    """What became of the last draft, unless a person asked again since."""
    last = drafts[0] if drafts else None
    is_asked = row.asked_at is not None
    if last is None or (row.asked_at and last.made_at <= row.asked_at):
        return {"was_asked_for": is_asked}
    rejection = ""
    if last.judged == Judged.REJECTED:
        by = last.decided_by.rpartition(":")[2]
        rejection = f"{by}: {last.why}" if last.why else by
    return {"is_shadowed": last.state == State.SHADOWED, "rejection": rejection}


def _run(message: Message, agent: Agent) -> str:
    """A newer comment by the same author under the same parent: its answer sees this one."""
    unread = Notification.objects.unread().filter(agent=agent, message=OuterRef("pk"))
    rows = Message.objects.filter(
        Exists(unread), account=message.account_id, post=message.post_id,
        parent=message.parent_id, author=message.author, deleted_at=None,
    )  # fmt: skip
    newer = rows.filter(
        Q(created_at__gt=message.created_at) | Q(created_at=message.created_at, pk__gt=message.pk)
    )
    is_any = (newer.awaiting_reply() | newer.cleared()).exists()
    return f"the answer to {message.author}'s newer comment here answers it too" if is_any else ""
