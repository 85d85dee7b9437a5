"""Read one thread for a page: laid out as a tree, ours marked, drafts where they would stand.

Four queries, however long the thread is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, Q

from surfaces import margin, tree
from surfaces.models import Draft, Message
from surfaces.models.draft import DEAD, State
from surfaces.models.message import Direction, SpamStatus

PEOPLE = 12  # named beside the thread; the rest is counted
SHOWN = [State.COMPOSED, State.WAITING, State.APPROVED, State.SENDING, State.UNKNOWN, State.FAILED]

PRESSING = {State.COMPOSED, State.WAITING, State.UNKNOWN, State.FAILED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A message as the page shows it."""

    message: Message
    drafts: list[Draft]  # not yet said, shown under it
    notes: list[margin.Note]
    may_answer: bool
    may_retry: bool
    line: tree.Line | None = None  # None: the post itself
    answers: Message | None = None  # whom it answers, where its place does not show it


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    count: int
    is_ours: bool
    is_bot: bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    post: Message
    root: Node
    nodes: list[Node]
    slice: tree.Slice
    people: list[Person]
    others: int  # people not named
    comments: int
    ours: int
    spam: int
    drafts: dict[int, list[Draft]]  # every draft of what is shown, by what it answers

    @property
    def waiting(self) -> int:
        rows = [draft for drafts in self.drafts.values() for draft in drafts]
        return sum(draft.state in {State.COMPOSED, State.WAITING} for draft in rows)

    @property
    def pressing(self) -> Node | None:
        """The first message whose draft a person should look at."""
        nodes = [self.root, *self.nodes]
        return next((n for n in nodes if any(d.state in PRESSING for d in n.drafts)), None)

    @property
    def newest(self) -> Node | None:
        """What was said to us last, spam aside."""
        said = [n for n in self.nodes if n.message.spam_status != SpamStatus.SPAM]
        return max(said, key=lambda node: node.message.created_at, default=None)

    def find(self, pk: int | None) -> Node | None:
        return next((node for node in [self.root, *self.nodes] if node.message.pk == pk), None)


def read(post: Message, *, around: int | None = None) -> Thread:
    """Read the page of `post`'s thread that holds message `around`, or the first page."""
    known = list(
        Message.objects.filter(post=post)
        .exclude(pk=post.pk)
        .order_by("created_at", "id")
        .values_list("id", "parent_id", "author", "author_is_bot", "direction", "spam_status")
    )
    cut = tree.cut(tree.lay_out(((row[0], row[1]) for row in known), post=post.pk), around=around)
    rows = _rows(post, [place.pk for place in cut.places])
    drafts, makers = _drafts(post, rows)
    people = _people(post, known)
    lines = [line for line in tree.lines(cut.places) if line.place.pk in rows]
    return Thread(
        post=post,
        root=_node(post, drafts, makers),
        nodes=[_node(rows[line.place.pk], drafts, makers, line, rows) for line in lines],
        slice=cut,
        people=people[:PEOPLE],
        others=len(people[PEOPLE:]),
        comments=len(known),
        ours=sum(row[4] == Direction.OUTGOING for row in known),
        spam=sum(row[5] == SpamStatus.SPAM for row in known),
        drafts=drafts,
    )


def _rows(post: Message, ids: list[int]) -> dict[int, Message]:
    found = Message.objects.filter(pk__in=ids).defer("raw_json", "search")
    rows = {row.pk: row for row in found.annotate(judged_by=F("spam_decision__by"))}
    for row in rows.values():
        row.account, row.post = post.account, post  # one thread, one account
    return rows


def _drafts(
    post: Message, rows: dict[int, Message]
) -> tuple[dict[int, list[Draft]], dict[int, Draft]]:
    """Drafts by what they answer, and by what became of them."""
    shown = [post.pk, *rows]
    by_target: dict[int, list[Draft]] = {}
    by_message: dict[int, Draft] = {}
    about = Q(target__in=shown) | Q(message__in=shown)
    for draft in Draft.objects.filter(about).order_by("id"):
        if draft.target_id:
            by_target.setdefault(draft.target_id, []).append(draft)
        if draft.message_id:
            by_message[draft.message_id] = draft
    return by_target, by_message


def _node(
    message: Message,
    drafts: dict[int, list[Draft]],
    makers: dict[int, Draft],
    line: tree.Line | None = None,
    rows: dict[int, Message] | None = None,
) -> Node:
    about = drafts.get(message.pk, [])
    parent = line.place.parent if line and not line.is_under_parent else None
    live = [draft for draft in about if draft.state not in DEAD]
    is_open = message.deleted_at is None and message.spam_status != SpamStatus.SPAM
    return Node(
        message=message,
        drafts=[draft for draft in about if draft.state in SHOWN],
        notes=margin.notes(message, about, makers.get(message.pk)),
        may_answer=is_open and (message.is_post or not (live or message.is_ours)),
        may_retry=margin.may_retry(message, about),
        line=line,
        answers=(rows or {}).get(parent) if parent else None,
    )


def _people(post: Message, known: Iterable[tuple[object, ...]]) -> list[Person]:
    """Who is here, the busiest first."""
    said: Counter[str] = Counter({post.author: 1})
    seen = {post.author: (post.is_ours, post.author_is_bot)}
    for _, _, author, is_bot, direction, _ in known:
        name = str(author)
        said[name] += 1
        seen[name] = (direction == Direction.OUTGOING, bool(is_bot) if is_bot is not None else None)
    return [Person(name, count, *seen[name]) for name, count in said.most_common()]
