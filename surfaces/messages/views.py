"""Pages of messages: list, filters, search, spam decisions, replies by hand."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_POST, require_safe

from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftKind
from surfaces.errors import RuleBroken
from surfaces.messages import listing as message_listing
from surfaces.messages.filters import NONE, Filters
from surfaces.messages.models import Direction, Message, MessageKind, ReplyStatus, SpamStatus
from surfaces.operators.permissions import moderator_required
from surfaces.spam import feedback
from surfaces.threads.render import thread_page
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

VIEWS = [  # the filters people come for
    (_lazy("Everything"), Filters()),
    (_lazy("Waiting for a reply"), Filters(waiting=True)),
    (_lazy("Suspect"), Filters(spam_status=SpamStatus.SUSPECT)),
    (_lazy("Failed"), Filters(reply_status=ReplyStatus.FAILED)),
    (_lazy("Spam"), Filters(spam_status=SpamStatus.SPAM)),
    (_lazy("Ours"), Filters(direction=Direction.OUTGOING)),
]
CHOICES: list[tuple[str, str | Promise, str | Promise, dict[str, Any]]] = [
    # name, label, what nothing chosen means, values with their words
    ("direction", _lazy("Sent by"), _lazy("All"),
     {Direction.INCOMING: _lazy("Others"), Direction.OUTGOING: _lazy("Us")}),
    ("kind", _lazy("Kind"), _lazy("Posts and comments"),
     {MessageKind.POST: _lazy("Posts"), MessageKind.COMMENT: _lazy("Comments")}),
    ("spam_status", _lazy("Spam"), _lazy("Any"),
     {NONE: _lazy("No verdict"), **dict(SpamStatus.choices)}),
    ("reply_status", _lazy("Reply"), _lazy("Any"),
     {NONE: _lazy("None yet"), **dict(ReplyStatus.choices)}),
]  # fmt: skip


@require_safe
def messages(request: OperatorRequest) -> HttpResponse:
    filters = Filters.of(request.GET, within=request.user.reach.accounts)
    page = message_listing.list_messages(filters, request.GET)
    asked = filters.query()
    shown = {
        "page": page,
        "filters": filters,
        "views": [(name, view.query(), view.query() == asked) for name, view in VIEWS],
        "choices": [(*choice, asked.get(choice[0], "")) for choice in CHOICES],
    }
    return render(request, "surfaces/messages/list.html", shown)


@require_safe
def message(request: OperatorRequest, pk: int) -> HttpResponse:
    place = reverse("surfaces:thread", args=[_get(request, pk).post_id])
    return redirect(f"{place}?message={pk}#m{pk}")


@require_POST
@moderator_required
def mark_spam(request: OperatorRequest, pk: int) -> HttpResponse:
    return _mark(request, pk, is_spam=True)


@require_POST
@moderator_required
def mark_clean(request: OperatorRequest, pk: int) -> HttpResponse:
    return _mark(request, pk, is_spam=False)


@require_POST
@moderator_required
def unmark(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _get(request, pk)
    with rule_errors_as_toasts(request):
        feedback.unmark(found, by=request.user.actor, now=timezone.now())
        words = _("Restored the spam filter’s verdict for %(name)s.") % {"name": _name(found)}
        toasts.show_toast(request, words)
    return _judged(request, found)


@require_POST
@moderator_required
def try_again(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _get(request, pk)
    with rule_errors_as_toasts(request):
        retry.retry_message(found, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Attempts reset; up to 10 more."))
    return _judged(request, found)


def _mark(request: OperatorRequest, pk: int, *, is_spam: bool) -> HttpResponse:
    found = _get(request, pk)
    with rule_errors_as_toasts(request):
        feedback.mark(found, is_spam=is_spam, by=request.user.actor, now=timezone.now())
        said = _("spam; drafts for it are withdrawn") if is_spam else _("clean; it may be answered")
        named = {"kind": found.kind, "name": _name(found), "said": said}
        words = _("The %(kind)s by %(name)s is %(said)s.") % named
        toasts.show_toast(request, words, undo=reverse("surfaces:unmark", args=[pk]))
    return _judged(request, found)


def _judged(request: OperatorRequest, found: Message) -> HttpResponse:
    if not request.htmx:
        return redirect_back(request, "surfaces:message", found.pk)
    row = message_listing.rows([found.pk])[0]
    return render(request, "surfaces/messages/_marked.html", {"message": row, "oob": True})


@require_POST
@moderator_required
def answer(request: OperatorRequest, pk: int) -> HttpResponse:
    found, text = _get(request, pk), request.POST.get("text", "")
    what = DraftKind.COMMENT if found.is_post else DraftKind.REPLY
    try:
        draft = draft_services.compose(
            account=found.account, what=what, target=found, text=text,
            by=request.user.actor, now=timezone.now(),
        )  # fmt: skip
    except RuleBroken as error:
        typed = {"pk": pk, "text": text, "error": str(error)}
        return thread_page(request, found.post_id, around=pk, typed=typed, status=422)
    words = _("Draft saved for %(name)s. It must be approved before it is sent.")
    toasts.show_toast(request, words % {"name": _name(found)})
    place = reverse("surfaces:thread", args=[found.post_id])
    return redirect(f"{place}?message={pk}#draft-{draft.pk}")


def _get(request: OperatorRequest, pk: int) -> Message:
    rows = Message.objects.select_related("account__surface").defer("raw_json", "search")
    return get_object_or_404(request.user.reach.narrow(rows, agent=""), pk=pk)


def _name(found: Message) -> str:
    return found.author[:60] or "unknown"
