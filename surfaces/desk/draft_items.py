"""Drafts on the desk: to review, stale, failed, or with unknown delivery."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Func, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast, Coalesce, Left
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.delivery import settle
from surfaces.desk.kinds import Action, ActionInput, DeskKind, RowSummary
from surfaces.desk.models import DeskItem
from surfaces.drafts import presenters, undo
from surfaces.drafts import retry as draft_retry
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import Draft, DraftKind, DraftState, RejectionReason
from surfaces.errors import NotAllowed, StaleState
from surfaces.messages.models import beginning
from surfaces.spam import feedback
from surfaces.text.reasons import FORMATS
from surfaces.threads import context as thread_context
from surfaces.threads import timeline

EXCERPT = 240
IN_QUEUE = ("agent", "title", "why", "stale_why", "account__surface__name", "target__author")


def stamped(rows: QuerySet[Draft]) -> QuerySet[Draft]:
    names = ("state", "title", "text", "community", "stale_why")
    asked = Coalesce(F("target__content"), Value(""))
    gone = Coalesce(Cast("target__deleted_at", TextField()), Value(""))
    said = [Value("\x1f"), *(F(name) for name in names), asked, gone]
    return rows.annotate(stamp=MD5(Func(*said, function="CONCAT_WS", output_field=TextField())))


def load(ids: Iterable[int]) -> Mapping[int, Draft]:
    rows = Draft.objects.filter(pk__in=list(ids)).select_related("account__surface", "target")
    excerpts = {"excerpt": Left("text", EXCERPT), "question": beginning("target__content", EXCERPT)}
    return {row.pk: row for row in stamped(rows.only(*IN_QUEUE).annotate(**excerpts))}


def get(pk: int) -> Draft | None:
    return stamped(Draft.objects.for_page().filter(pk=pk)).first()


def _line(row: Any, said: str, why: object, badge: str = "", css: str = "") -> RowSummary:
    return RowSummary(
        who=row.agent or _("by hand"), place=row.account.surface.name,
        author=row.target.author if row.target else "", said=said, whys=(str(why),), badge=badge,
        badge_css=css, stamp=row.stamp,
    )  # fmt: skip


def _waiting(row: Any, item: DeskItem) -> RowSummary:
    return _line(row, _asked(row), row.why)


def _lapsed(row: Any, item: DeskItem) -> RowSummary:
    return _line(row, _asked(row), row.stale_why, _("changed"), "wait")


def _failed(row: Any, item: DeskItem) -> RowSummary:
    return _line(row, row.excerpt, row.why, _("high"), "bad")


def _asked(row: Any) -> str:
    return str(row.question if row.target else f"{row.title} {row.excerpt}".strip())


def title(row: Draft) -> str:
    named = {
        "who": row.agent or row.account.name,
        "author": row.target.author if row.target else "",
        "place": row.account.surface.name,
    }
    if row.what == DraftKind.POST:
        return _("%(who)s posts on %(place)s") % named
    return _("%(who)s replies to @%(author)s on %(place)s") % named


def context(row: Draft, now: datetime) -> dict[str, Any]:
    is_lost = row.state == DraftState.UNKNOWN and row.needs_person
    return {
        "draft": row, "around": thread_context.of_draft(row),
        "by_hand": draft_services.is_by_hand(row),
        "candidates": presenters.candidates(row) if is_lost else [],
        "limit": presenters.text_limit(row), "length": row.account.surface.traits.length(row.text),
    }  # fmt: skip


def decided(row: Draft, me: str, now: datetime) -> str:
    if row.state in {DraftState.WAITING, DraftState.FAILED} or row.needs_person:
        return ""
    return presenters.decided_before(row, me, now)


def approve(row: Draft, given: ActionInput) -> str:
    """Approve, with the digest from its page or the stamp from the queue."""
    if stamp := given.typed("stamp"):
        with transaction.atomic():
            locked = stamped(Draft.objects.select_for_update(of=("self",))).get(pk=row.pk)
            if getattr(locked, "stamp", "") != stamp:
                raise StaleState(_lazy("It changed after you opened it. Check it again."))
            _approve(locked, locked.digest(), locked.stale_why.digest, given)
    else:
        _approve(row, given.typed("digest"), given.typed("seen"), given)
    return _when(_("Approved %(what)s."), row, given)


def _approve(row: Draft, digest: str, seen: str, given: ActionInput) -> None:
    draft_services.approve(
        row, digest=digest, seen=seen, by=given.by, now=given.now, delay=given.delay
    )


def _when(done: str, row: Draft, given: ActionInput) -> str:
    said = done % {"what": _named(row)}
    wait = row.not_before - given.now if row.not_before else given.delay
    return FORMATS["sentences"]([said, presenters.when_sent(row, wait)])


def _named(row: Draft) -> str:
    if row.target is None:
        return _("the post")
    return _("the reply to @%(author)s") % {"author": row.target.author[:60]}


def edit(row: Draft, given: ActionInput) -> str:
    if given.typed("digest") != row.digest():
        raise StaleState(presenters.EDITED_MEANWHILE)
    typed = {name: given.posted.get(name, "") for name in ("text", "title", "community")}
    draft_services.edit(row, **presenters.checked(row, typed), by=given.by, now=given.now)
    return _("Saved. The draft waits for approval.")


def reject(row: Draft, given: ActionInput) -> str:
    why = given.typed("why") or given.typed("reason")
    is_rejection = draft_services.is_rejection(row, given.by)
    draft_services.take_back(row, why=why, by=given.by, now=given.now)
    if is_rejection:
        return _("Rejected %(what)s. It will not be sent.") % {"what": _named(row)}
    return _("Withdrew %(what)s. It will not be sent.") % {"what": _named(row)}


def send_back(row: Draft, given: ActionInput) -> str:
    draft_services.send_back(row, note=given.typed("note"), by=given.by, now=given.now)
    return _("Sent back with your note.")


def retry(row: Draft, given: ActionInput) -> str:
    draft_retry.retry_draft(row, by=given.by, now=given.now, delay=given.delay)
    return _when(_("Retried %(what)s."), row, given)


def spam(row: Draft, given: ActionInput) -> str:
    """Mark the comment as spam: this trains the filter and withdraws the draft."""
    if row.target is None or row.target.is_post:
        raise NotAllowed(_lazy("This answers no comment, so there is nothing to call spam."))
    feedback.mark(row.target, is_spam=True, by=given.by, now=given.now)
    named = {"author": row.target.author[:60]}
    return _("Marked as spam: @%(author)s. The draft is withdrawn.") % named


def _no_spam(row: Draft, given: ActionInput) -> str:
    if row.target is None:
        raise NotAllowed(_lazy("This answers no comment."))
    feedback.unmark(row.target, by=given.by, now=given.now)
    return _("Undone. It needs a decision again.")


def settle_there(row: Draft, given: ActionInput) -> str:
    remote_id = given.typed("typed_id") or given.typed("remote_id")
    settle.settle_as_sent(row, remote_id=remote_id, by=given.by, now=given.now)
    return _("Marked as sent.")


def settle_absent(row: Draft, given: ActionInput) -> str:
    settle.settle_as_not_sent(row, by=given.by, now=given.now, delay=given.delay)
    done = _("Marked %(what)s as not delivered.")
    if row.state == DraftState.APPROVED:
        return _when(done, row, given)
    not_again = _("It is not sent again: all attempts are used.")
    return FORMATS["sentences"]([done % {"what": _named(row)}, not_again])


def _taken_back(row: Draft, given: ActionInput) -> str:
    undo.undo_decision(row, by=given.by, now=given.now)
    return _("Undone. It needs a decision again.")


def _words_back(row: Draft, given: ActionInput) -> str:
    undo.undo_edit(row, by=given.by, now=given.now)
    return _("Undone. The text before your edit is restored.")


APPROVE = Action(name="approve", label=_lazy("Approve"), key="a", css="primary",
              verb=approve, undo=_taken_back, is_sent_after=True)  # fmt: skip
EDIT = Action(name="edit", label=_lazy("Edit"), key="e", verb=edit, undo=_words_back,
           in_bulk=False, by_stamp=False)  # fmt: skip
REJECT = Action(name="reject", label=_lazy("Reject"), key="r", css="danger", verb=reject,
             undo=_taken_back)  # fmt: skip
SEND_BACK = Action(name="send_back", label=_lazy("Send back"), key="b", verb=send_back,
                undo=_taken_back, in_bulk=False)  # fmt: skip
SPAM = Action(name="spam", label=_lazy("Spam"), key="s", verb=spam, undo=_no_spam)
RETRY = Action(name="retry", label=_lazy("Retry"), key="t", css="primary", verb=retry,
            undo=_taken_back, is_sent_after=True)  # fmt: skip
THERE = Action(name="settle_there", label=_lazy("Mark as sent"), key="", verb=settle_there,
            in_bulk=False)  # fmt: skip
ABSENT = Action(name="settle_absent", label=_lazy("Resend"), key="",
             verb=settle_absent, undo=_taken_back, in_bulk=False, is_sent_after=True)  # fmt: skip

REVIEW = (APPROVE, REJECT, EDIT, SEND_BACK, SPAM)
SHARED: dict[str, Any] = {
    "subject": "draft", "load": load, "get": get, "context": context, "title": title,
    "decided": decided, "reasons": RejectionReason.choices, "steps": timeline.of_draft,
}  # fmt: skip
KINDS = [
    DeskKind(name="draft", label=_lazy("Draft to review"), short=_lazy("Draft"),
         plural=_lazy("Drafts to review"), icon="pen", line=_waiting,
         template="surfaces/desk/_draft_item.html", acts=REVIEW, **SHARED),
    DeskKind(name="failed", label=_lazy("Failed reply"), short=_lazy("Failed"),
         plural=_lazy("Failed replies"), icon="fail", css="bad", line=_failed,
         template="surfaces/desk/_failed_item.html", acts=(RETRY, REJECT, SPAM), **SHARED),
    DeskKind(name="unknown", label=_lazy("Unconfirmed send"), short=_lazy("Unconfirmed"),
         plural=_lazy("Unconfirmed sends"), icon="ask", css="info", line=_failed,
         template="surfaces/desk/_unknown_item.html", acts=(THERE, ABSENT),
         decide_template="surfaces/desk/_settle_unknown.html", **SHARED),
    DeskKind(name="lapsed", label=_lazy("Stale draft"), short=_lazy("Stale"),
         plural=_lazy("Stale drafts"), icon="clock", line=_lapsed,
         template="surfaces/desk/_draft_item.html", acts=REVIEW, **SHARED),
]  # fmt: skip
