"""Read one thread for a page: a tree with drafts at their places.

Three queries, however long the thread is, and those of the floors above.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.aggregates import JSONBAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Func, JSONField, OuterRef, Q, QuerySet, Subquery

from surfaces.desk.models import DeskViewer
from surfaces.drafts.models import DEAD, UNDECIDED, UNDER_WAY, Draft, DraftState
from surfaces.messages.models import Direction, Message, SpamStatus
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.settings.models import InstanceSettings
from surfaces.spam.scoring import Thresholds
from surfaces.threads import extensions
from surfaces.threads import notes as thread_notes
from surfaces.threads import tree as thread_tree

PEOPLE = 12  # named beside the thread; the rest is counted
MOST_READERS = 20
# What waits on the desk, by what it is about.
OF_MESSAGES = ("suspect", "given_up")
OF_DRAFTS = ("draft", "lapsed", "failed", "unknown")
SHOWN = {*UNDECIDED, *UNDER_WAY, DraftState.FAILED}
PRESSING = {*UNDECIDED, DraftState.UNKNOWN, DraftState.FAILED}


@dataclass(frozen=True, slots=True)
class AnsweredMessage:
    pk: int
    author: str
    is_here: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadNode:
    message: Message
    drafts: list[Draft]  # not yet said, shown under it
    notes: list[thread_notes.Note]
    may_answer: bool
    may_retry: bool
    line: thread_tree.TreeLine | None = None  # None: the post itself
    answers: AnsweredMessage | None = None  # whom it answers, where its place does not show it


@dataclass(frozen=True, slots=True)
class Participant:
    name: str
    count: int
    is_ours: bool
    is_bot: bool | None


@dataclass(frozen=True, slots=True)
class Viewer:
    operator: int
    name: str
    kind: str
    item: int
    until: datetime

    @property
    def is_draft(self) -> bool:
        return self.kind in OF_DRAFTS


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadView:
    post: Message
    root: ThreadNode
    nodes: list[ThreadNode]
    slice: thread_tree.TreeSlice
    people: list[Participant]
    others: int  # people not named
    comments: int
    ours: int
    spam: int
    drafts: dict[int, list[Draft]]  # every draft of what is shown, by what it answers
    makers: dict[int, Draft]  # by what became of it
    told: extensions.ThreadAnnotations  # by the floors above
    readers: list[Viewer]
    thresholds: Thresholds

    @property
    def waiting(self) -> int:
        rows = [draft for drafts in self.drafts.values() for draft in drafts]
        return sum(draft.state in UNDECIDED for draft in rows)

    @property
    def pressing(self) -> ThreadNode | None:
        nodes = [self.root, *self.nodes]
        return next((n for n in nodes if any(d.state in PRESSING for d in n.drafts)), None)

    @property
    def newest(self) -> ThreadNode | None:
        said = [n for n in self.nodes if n.message.spam_status != SpamStatus.SPAM]
        return max(said, key=lambda node: node.message.created_at, default=None)

    def find(self, pk: int | None) -> ThreadNode | None:
        return next((node for node in [self.root, *self.nodes] if node.message.pk == pk), None)


def thread_queryset(*, reach: Scope = UNRESTRICTED, now: datetime) -> QuerySet[Message]:
    """Posts with account, what hangs under them, who reads it, and the spam bounds. One query."""
    posts = Message.objects.select_related("account__surface").defer("raw_json", "search")
    # Whose lease on anything of the post's thread lasts.
    inside = Message.objects.filter(post=OuterRef(OuterRef("pk"))).values("pk")
    drafts = Draft.objects.filter(target__post=OuterRef(OuterRef("pk"))).values("pk")
    about = Q(kind__in=OF_MESSAGES, item_id__in=inside) | Q(kind__in=OF_DRAFTS, item_id__in=drafts)
    readers = DeskViewer.objects.now_at(now).filter(about).order_by("since", "id")
    under = Message.objects.filter(post=OuterRef("pk")).exclude(pk=OuterRef("pk"))
    edges = JSONBAgg(_array(*EDGE), order_by=["created_at", "id"])
    house = InstanceSettings.objects.order_by().values("suspect_from", "spam_from")[:1]
    return reach.narrow(posts, agent="").annotate(
        under=Subquery(under.order_by().values("post").annotate(_=edges).values("_")),
        readers=ArraySubquery(readers.values(_=_array(*READER))[:MOST_READERS]),
        suspect_from=Subquery(house.values("suspect_from")),
        spam_from=Subquery(house.values("spam_from")),
    )


EDGE = ("id", "parent_id", "author", "author_is_bot", "direction", "spam_status")
READER = ("operator", "operator__first_name", "operator__last_name", "operator__username",
          "kind", "item_id", "until")  # fmt: skip


def _array(*names: str) -> Func:
    return Func(*map(F, names), function="jsonb_build_array", output_field=JSONField())


def _named(row: Sequence[Any]) -> Viewer:
    operator, first, last, username, kind, item, until = row
    name = f"{first} {last}".strip() or username
    return Viewer(operator, name, kind, item, datetime.fromisoformat(until))


def build_page(
    post: Message, *, around: int | None = None, reach: Scope = UNRESTRICTED
) -> ThreadView:
    """Read the page of this head's thread that holds message `around`, or the first page."""
    head: Any = post
    known = head.under or []
    bounds = () if head.suspect_from is None else (head.suspect_from, head.spam_from)
    laid = thread_tree.lay_out(((row[0], row[1]) for row in known), post=post.pk)
    cut = thread_tree.cut(laid, around=around)
    rows = _rows(post, [place.pk for place in cut.places])
    drafts, makers = _drafts(post, rows, reach)
    about = {draft.pk: draft for group in (*drafts.values(), makers.values()) for draft in group}
    told = extensions.of_messages([post, *rows.values()], list(about.values()), reach)
    people = _people(post, known)
    lines = [line for line in thread_tree.lines(cut.places) if line.place.pk in rows]
    asked = {line.place.parent for line in lines}
    said = [(row[0], row[2] or "") for row in known if row[0] in asked]
    authors = {pk: AnsweredMessage(pk, author, pk in rows) for pk, author in said}
    given = (drafts, makers, told.notes)
    return ThreadView(
        post=post, root=_node(post, *given),
        nodes=[_node(rows[line.place.pk], *given, line, authors) for line in lines], slice=cut,
        people=people[:PEOPLE], others=len(people[PEOPLE:]), comments=len(known),
        ours=sum(row[4] == Direction.OUTGOING for row in known),
        spam=sum(row[5] == SpamStatus.SPAM for row in known), drafts=drafts, makers=makers,
        told=told, readers=[_named(row) for row in head.readers], thresholds=Thresholds(*bounds),
    )  # fmt: skip


def _rows(post: Message, ids: list[int]) -> dict[int, Message]:
    found = Message.objects.filter(pk__in=ids).defer("raw_json", "search")
    rows = {row.pk: row for row in found.annotate(judged_by=F("spam_decision__by"))}
    for row in rows.values():
        row.account, row.post = post.account, post  # one thread, one account
    return rows


def _drafts(
    post: Message, rows: dict[int, Message], reach: Scope
) -> tuple[dict[int, list[Draft]], dict[int, Draft]]:
    by_target: dict[int, list[Draft]] = {}
    by_message: dict[int, Draft] = {}
    known = {post.pk: post, **rows}
    about = Q(target__in=[*known]) | Q(message__in=[*known])
    for draft in reach.narrow(Draft.objects.filter(about)).order_by("id"):
        draft.account = post.account
        if draft.target_id in known:
            draft.target = known[draft.target_id]
        if draft.message_id in known:
            draft.message = known[draft.message_id]
        if draft.target_id:
            by_target.setdefault(draft.target_id, []).append(draft)
        if draft.message_id:
            by_message[draft.message_id] = draft
    return by_target, by_message


def _node(
    message: Message,
    drafts: dict[int, list[Draft]],
    makers: dict[int, Draft],
    also: Mapping[int, Sequence[thread_notes.Note]],
    line: thread_tree.TreeLine | None = None,
    authors: Mapping[int, AnsweredMessage] | None = None,
) -> ThreadNode:
    about = drafts.get(message.pk, [])
    parent = line.place.parent if line and not line.is_under_parent else None
    live = [draft for draft in about if draft.state not in DEAD]
    is_open = message.deleted_at is None and message.spam_status != SpamStatus.SPAM
    return ThreadNode(
        message=message,
        drafts=[draft for draft in about if draft.state in SHOWN],
        notes=thread_notes.notes(message, about, makers.get(message.pk), also.get(message.pk, ())),
        may_answer=is_open and (message.is_post or not (live or message.is_ours)),
        may_retry=thread_notes.may_retry(message, about),
        line=line,
        answers=(authors or {}).get(parent) if parent else None,
    )


def _people(post: Message, known: Iterable[Sequence[Any]]) -> list[Participant]:
    said: Counter[str] = Counter({post.author: 1})
    seen = {post.author: (post.is_ours, post.author_is_bot)}
    for _, _, author, is_bot, direction, _ in known:
        name = author or ""  # NULL, as the database has it
        said[name] += 1
        seen[name] = (direction == Direction.OUTGOING, bool(is_bot) if is_bot is not None else None)
    return [Participant(name, count, *seen[name]) for name, count in said.most_common()]
