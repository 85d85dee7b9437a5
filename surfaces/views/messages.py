"""All messages, filtered and searched; what an operator says of one; an answer by hand."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from surfaces import drafting, judging, listing, toasts, undoing
from surfaces.doors import may_decide
from surfaces.errors import RuleBroken
from surfaces.filters import NONE, Filters
from surfaces.models import Message
from surfaces.models.draft import What
from surfaces.models.message import Direction, Kind, MessageQuerySet, ReplyStatus, SpamStatus
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences
from surfaces.views.threads import thread_page

VIEWS = [  # the filters people come for
    ("Everything", Filters()),
    ("Waiting for a reply", Filters(waiting=True)),
    ("Suspect", Filters(spam_status=SpamStatus.SUSPECT)),
    ("Failed", Filters(reply_status=ReplyStatus.FAILED)),
    ("Spam", Filters(spam_status=SpamStatus.SPAM)),
    ("Ours", Filters(direction=Direction.OUTGOING)),
]
CHOICES = [  # name, label, what nothing chosen means, values with their words
    ("direction", "Said by", "All", {Direction.INCOMING: "Others", Direction.OUTGOING: "Us"}),
    ("kind", "Kind", "Posts and comments", {Kind.POST: "Posts", Kind.COMMENT: "Comments"}),
    ("spam_status", "Spam", "Any", {NONE: "Not judged", **dict(SpamStatus.choices)}),
    ("reply_status", "Reply", "Any", {NONE: "None yet", **dict(ReplyStatus.choices)}),
]  # fmt: skip


@require_safe
def messages(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value) for name, value in request.GET.items()}
    filters = Filters.of(given, within=request.user.reach.accounts)
    page = listing.page(filters, before=given.get("before", ""), after=given.get("after", ""))
    asked = filters.query()
    shown = {
        "page": page,
        "filters": filters,
        "views": [(name, view.query(), view.query() == asked) for name, view in VIEWS],
        "choices": [(*choice, asked.get(choice[0], "")) for choice in CHOICES],
    }
    return render(request, "surfaces/messages.html", shown)


@require_safe
def message(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_within(request, Message.objects.only("post_id")), pk=pk)
    return redirect(f"{reverse('surfaces:thread', args=[found.post_id])}?message={pk}#m{pk}")


@require_POST
@may_decide
def mark_spam(request: OperatorRequest, pk: int) -> HttpResponse:
    return _mark(request, pk, is_spam=True)


@require_POST
@may_decide
def mark_clean(request: OperatorRequest, pk: int) -> HttpResponse:
    return _mark(request, pk, is_spam=False)


@require_POST
@may_decide
def unmark(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_within(request, Message.objects.defer("raw_json", "search")), pk=pk)
    with sentences(request):
        undoing.unmark(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"Undone. The filter’s own word on {_name(found)} stands again.")
    return _judged(request, found)


@require_POST
@may_decide
def try_again(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_within(request, Message.objects.defer("raw_json", "search")), pk=pk)
    with sentences(request):
        drafting.try_again(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"The comment by {_name(found)} has ten fresh tries.")
    return _judged(request, found)


def _mark(request: OperatorRequest, pk: int, *, is_spam: bool) -> HttpResponse:
    found = get_object_or_404(_within(request, Message.objects.defer("raw_json", "search")), pk=pk)
    with sentences(request):
        judging.mark(found, is_spam=is_spam, by=request.user.actor, now=timezone.now())
        said = "spam; drafts for it are withdrawn" if is_spam else "clean; it may be answered"
        words = f"The {found.kind} by {_name(found)} is {said}."
        toasts.say(request, words, undo=reverse("surfaces:unmark", args=[pk]))
    return _judged(request, found)


def _judged(request: OperatorRequest, found: Message) -> HttpResponse:
    if not request.htmx:
        return back(request, "surfaces:message", found.pk)
    row = listing.rows([found.pk])[0]
    return render(request, "surfaces/_message_row.html", {"message": row, "oob": True})


@require_POST
@may_decide
def answer(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = Message.objects.select_related("account__surface").defer("raw_json", "search")
    found = get_object_or_404(_within(request, rows), pk=pk)
    text = request.POST.get("text", "")
    what = What.COMMENT if found.is_post else What.REPLY
    try:
        draft = drafting.compose(
            account=found.account, what=what, target=found, text=text,
            by=request.user.actor, now=timezone.now(),
        )  # fmt: skip
    except RuleBroken as error:
        typed = {"pk": pk, "text": text, "error": str(error)}
        return thread_page(request, found.post_id, around=pk, typed=typed, status=422)
    toasts.say(request, f"Written down for {_name(found)}. It waits for a person.")
    place = reverse("surfaces:thread", args=[found.post_id])
    return redirect(f"{place}?message={pk}#draft-{draft.pk}")


def _within(request: OperatorRequest, rows: MessageQuerySet) -> MessageQuerySet:
    return request.user.reach.narrow(rows, agent="")


def _name(found: Message) -> str:
    return found.author[:60] or "unknown"
