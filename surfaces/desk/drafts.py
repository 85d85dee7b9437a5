"""Drafts on the desk: to review, lapsed around, failed, or sent for all we know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Func, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast, Coalesce, Left
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surfaces import drafting, judging, queueing, surroundings, timeline, undoing
from surfaces.desk.kinds import Act, Given, Kind, Line
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import DeskItem, Draft
from surfaces.models.draft import State, What
from surfaces.showing import span

EXCERPT = 240
REASONS = (
    gettext_lazy("Off topic"),
    gettext_lazy("Repeats us"),
    gettext_lazy("Wrong fact"),
    gettext_lazy("Tone"),
)
HEAVY = [
    *("text", "terms", "pointer", "exit", "challenge"),
    *("account__sealed_credential", "account__cursor"),
    *(f"target__{name}" for name in ("raw_json", "search", "content", "title")),
]


def stamped(rows: QuerySet[Draft]) -> QuerySet[Draft]:
    """Each with a `stamp` of what would be said and to what, computed where the words lie."""
    names = ("state", "title", "text", "community", "stale_why")
    asked = Coalesce(F("target__content"), Value(""))
    gone = Coalesce(Cast("target__deleted_at", TextField()), Value(""))
    said = [Value("\x1f"), *(F(name) for name in names), asked, gone]
    return rows.annotate(stamp=MD5(Func(*said, function="CONCAT_WS", output_field=TextField())))


def load(ids: Iterable[int]) -> Mapping[int, Draft]:
    rows = Draft.objects.filter(pk__in=list(ids)).select_related("account__surface", "target")
    rows = rows.defer(*HEAVY).annotate(
        excerpt=Left("text", EXCERPT), question=Left("target__content", EXCERPT)
    )
    return {row.pk: row for row in stamped(rows)}


def get(pk: int) -> Draft | None:
    rows = Draft.objects.select_related("account__surface", "target__post", "message")
    heavy = [f"{name}__{column}" for name in ("target", "target__post", "message")
             for column in ("raw_json", "search")]  # fmt: skip
    return rows.defer(*heavy).filter(pk=pk).first()


def _line(row: Any, item: DeskItem, *, said: str, why: str, badge: str = "", css: str = "") -> Line:
    return Line(
        who=row.agent or _("by hand"),
        place=row.account.surface.name,
        author=row.target.author if row.target else "",
        said=said,
        whys=(why,),
        badge=badge,
        badge_css=css,
        stamp=row.stamp,
    )


def _waiting(row: Any, item: DeskItem) -> Line:
    said = row.question if row.target else f"{row.title} {row.excerpt}".strip()
    return _line(row, item, said=said, why=row.why)


def _lapsed(row: Any, item: DeskItem) -> Line:
    said = row.question if row.target else f"{row.title} {row.excerpt}".strip()
    return _line(row, item, said=said, why=row.stale_why, badge=_("changed"), css="wait")


def _failed(row: Any, item: DeskItem) -> Line:
    return _line(row, item, said=row.excerpt, why=row.why, badge=_("high"), css="bad")


def title(row: Draft) -> str:
    named = {
        "who": row.agent or row.account.name,
        "author": row.target.author if row.target else "",
        "place": row.account.surface.name,
    }
    if row.what == What.POST:
        return _("%(who)s posts on %(place)s") % named
    return _("%(who)s answers @%(author)s on %(place)s") % named


def context(row: Draft, now: datetime) -> dict[str, Any]:
    is_lost = row.state == State.UNKNOWN and row.needs_person
    return {
        "draft": row,
        "around": surroundings.of_draft(row),
        "by_hand": drafting.is_by_hand(row),
        "candidates": queueing.candidates(row) if is_lost else [],
        "limit": queueing.text_limit(row),
        "length": row.account.surface.traits.length(row.text),
    }


def decided(row: Draft, me: str, now: datetime) -> str:
    if row.state in {State.WAITING, State.FAILED} or row.needs_person:
        return ""
    return queueing.decided_before(row, me, now)


# ── acts ──────────────────────────────────────────────────────────────────


def approve(row: Draft, given: Given) -> str:
    """From its own page with the digest shown there, from the queue with its stamp."""
    if stamp := given.typed("stamp"):
        with transaction.atomic():
            locked = stamped(Draft.objects.select_for_update(of=("self",))).get(pk=row.pk)
            if getattr(locked, "stamp", "") != stamp:
                raise StaleState("It changed since you looked. Look at it again.")
            _approve(locked, locked.digest(), locked.stale_why, given)
    else:
        _approve(row, given.typed("digest"), given.typed("seen"), given)
    return _when("Approved", row, given)


def _approve(row: Draft, digest: str, seen: str, given: Given) -> None:
    drafting.approve(row, digest=digest, seen=seen, by=given.by, now=given.now, delay=given.delay)


def _when(done: str, row: Draft, given: Given) -> str:
    to = f" the reply to @{row.target.author[:60]}" if row.target else " the post"
    leaves = f" It leaves in {span(given.delay)}." if given.delay >= timedelta(seconds=1) else ""
    return f"{done}{to}.{leaves}"


def edit(row: Draft, given: Given) -> str:
    if given.typed("digest") != row.digest():
        raise StaleState("Somebody changed these words since you began. Yours are kept below.")
    typed = {name: given.posted.get(name, "") for name in ("text", "title", "community")}
    drafting.edit(row, **queueing.checked(row, typed), by=given.by, now=given.now)
    return "Saved. It waits for a yes to the new words."


def reject(row: Draft, given: Given) -> str:
    why = given.typed("why") or given.typed("reason")
    if not why and drafting.is_rejection(row, given.by):
        raise BadInput("Rejecting needs a reason. Choose one or write your own.")
    drafting.withdraw(row, why=why, by=given.by, now=given.now)
    to = f" the reply to @{row.target.author[:60]}" if row.target else " the post"
    return f"Rejected{to}. It will not be sent."


def send_back(row: Draft, given: Given) -> str:
    drafting.send_back(row, note=given.typed("note"), by=given.by, now=given.now)
    return "Sent back with your note."


def retry(row: Draft, given: Given) -> str:
    drafting.retry(row, by=given.by, now=given.now, delay=given.delay)
    return _when("Retried", row, given)


def spam(row: Draft, given: Given) -> str:
    """What it answers is spam: that teaches the filter and withdraws the draft."""
    if row.target is None or row.target.is_post:
        raise NotAllowed("This answers no comment, so there is nothing to call spam.")
    judging.mark(row.target, is_spam=True, by=given.by, now=given.now)
    return f"Spam: @{row.target.author[:60]}. The draft is withdrawn."


def _no_spam(row: Draft, given: Given) -> str:
    if row.target is None:
        raise NotAllowed("This answers no comment.")
    undoing.unmark(row.target, by=given.by, now=given.now)
    return "Undone. The draft waits again."


def settle_there(row: Draft, given: Given) -> str:
    remote_id = given.typed("typed_id") or given.typed("remote_id")
    drafting.settle_there(row, remote_id=remote_id, by=given.by, now=given.now)
    return "Settled: it was sent."


def settle_absent(row: Draft, given: Given) -> str:
    drafting.settle_absent(row, by=given.by, now=given.now, delay=given.delay)
    return _when("Settled as not there. Sends again", row, given)


def _taken_back(row: Draft, given: Given) -> str:
    undoing.bring_back(row, by=given.by, now=given.now)
    return "Taken back. It waits for a decision again."


def _words_back(row: Draft, given: Given) -> str:
    undoing.undo_edit(row, by=given.by, now=given.now)
    return "The words before your edit stand again."


APPROVE = Act(name="approve", label=gettext_lazy("Approve"), key="a", css="primary",
              verb=approve, undo=_taken_back)  # fmt: skip
EDIT = Act(name="edit", label=gettext_lazy("Edit"), key="e", verb=edit, undo=_words_back,
           in_bulk=False)  # fmt: skip
REJECT = Act(name="reject", label=gettext_lazy("Reject"), key="r", css="danger", verb=reject,
             undo=_taken_back)  # fmt: skip
SEND_BACK = Act(name="send_back", label=gettext_lazy("Send back"), key="b", verb=send_back,
                undo=_taken_back, in_bulk=False)  # fmt: skip
SPAM = Act(name="spam", label=gettext_lazy("Spam"), key="s", verb=spam, undo=_no_spam)
RETRY = Act(name="retry", label=gettext_lazy("Retry"), key="a", css="primary", verb=retry,
            undo=_taken_back)  # fmt: skip
THERE = Act(name="settle_there", label=gettext_lazy("It was sent"), key="", verb=settle_there,
            in_bulk=False)  # fmt: skip
ABSENT = Act(name="settle_absent", label=gettext_lazy("Send it again"), key="",
             verb=settle_absent, undo=_taken_back, in_bulk=False)  # fmt: skip

REVIEW = (APPROVE, REJECT, EDIT, SEND_BACK, SPAM)
SHARED: dict[str, Any] = {
    "load": load, "get": get, "context": context, "title": title, "decided": decided,
    "reasons": REASONS, "steps": timeline.of_draft,
}  # fmt: skip
KINDS = [
    Kind(name="draft", label=gettext_lazy("Draft to review"), short=gettext_lazy("Draft"),
         plural=gettext_lazy("Drafts to review"), icon="pen", line=_waiting,
         template="surfaces/desk/_draft.html", acts=REVIEW, **SHARED),
    Kind(name="failed", label=gettext_lazy("Failed reply"), short=gettext_lazy("Failed"),
         plural=gettext_lazy("Failed replies"), icon="fail", css="bad", line=_failed,
         template="surfaces/desk/_failed.html", acts=(RETRY, REJECT, SPAM), **SHARED),
    Kind(name="unknown", label=gettext_lazy("Unknown send"), short=gettext_lazy("Unknown"),
         plural=gettext_lazy("Unknown sends"), icon="ask", css="info", line=_failed,
         template="surfaces/desk/_unknown.html", acts=(THERE, ABSENT), **SHARED),
    Kind(name="lapsed", label=gettext_lazy("Lapsed draft"), short=gettext_lazy("Lapsed"),
         plural=gettext_lazy("Lapsed drafts"), icon="clock", line=_lapsed,
         template="surfaces/desk/_draft.html", acts=REVIEW, **SHARED),
]  # fmt: skip
