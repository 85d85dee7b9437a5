"""Pages of drafts: the list, one with its comment, and all actions."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces.delivery import retract as delivery_retract
from surfaces.delivery import settle
from surfaces.drafts import listing as draft_listing
from surfaces.drafts import presenters
from surfaces.drafts import retry as draft_retry
from surfaces.drafts import services as draft_services
from surfaces.drafts.forms import PostForm
from surfaces.drafts.models import Draft, DraftKind, DraftState, RejectionReason
from surfaces.errors import IllegalMove, RuleBroken, StaleState
from surfaces.operators.permissions import moderator_required
from surfaces.pauses import services as pause_services
from surfaces.settings import instance
from surfaces.threads import context, timeline
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back

WATCHED = timedelta(minutes=10)  # how long an open page polls whether it was sent


@require_safe
def drafts(request: OperatorRequest) -> HttpResponse:
    reach = request.user.reach
    page = draft_listing.list_drafts(request.GET.get("state", ""), request.GET, reach=reach)
    shown = {"page": page, "tabs": draft_listing.tabs(reach)}
    return render(request, "surfaces/drafts/list.html", shown)


@require_safe
def draft(request: OperatorRequest, pk: int) -> HttpResponse:
    row = _get(request, pk)
    if request.htmx and request.GET.get("seen") == row.state:
        return HttpResponse(status=204)  # the page polls until it was sent
    if request.htmx and row.state == DraftState.SENT:
        toasts.show_toast(request, _("Sent to %(name)s.") % {"name": row.account.surface.name})
    return _shown(request, row)


@require_POST
@moderator_required
def approve(request: OperatorRequest, pk: int) -> HttpResponse:
    digest, seen = _posted(request, "digest"), _posted(request, "seen")
    delay = instance.current().time_to_undo
    return _act(request, pk, lambda row, by, now: draft_services.approve(
        row, digest=digest, seen=seen, by=by, now=now, delay=delay), _("Approved."),
        undo="draft:approve" if delay else "")  # fmt: skip


@require_POST
@moderator_required
def edit(request: OperatorRequest, pk: int) -> HttpResponse:
    typed = {name: request.POST.get(name, "") for name in ("text", "title", "community")}

    def change(row: Draft, by: str, now: datetime) -> None:
        if (digest := _posted(request, "digest")) and digest != row.digest():
            raise StaleState(presenters.EDITED_MEANWHILE)
        draft_services.edit(row, **presenters.checked(row, typed), by=by, now=now)

    was_approved = Draft.objects.filter(pk=pk, state=DraftState.APPROVED).exists()
    again = _("Saved. The draft must be approved again.")
    done = again if was_approved else _("Saved. The draft waits for approval.")
    return _act(request, pk, change, done, typed)


@require_POST
@moderator_required
def withdraw(request: OperatorRequest, pk: int) -> HttpResponse:
    why = _posted(request, "why") or _posted(request, "reason")
    is_rejection = draft_services.is_rejection(_get(request, pk), request.user.actor)
    withdrawn = _("Withdrawn. It will not be sent.")
    done = _("Rejected. It will not be sent.") if is_rejection else withdrawn
    return _act(request, pk, lambda row, by, now: draft_services.take_back(
        row, why=why, by=by, now=now), done, {"why": why}, undo="draft:reject")  # fmt: skip


@require_POST
@moderator_required
def send_back(request: OperatorRequest, pk: int) -> HttpResponse:
    note = _posted(request, "note")
    return _act(request, pk, lambda row, by, now: draft_services.send_back(
        row, note=note, by=by, now=now), _("Sent back with your note."), {"note": note},
        undo="draft:send_back")  # fmt: skip


@require_POST
@moderator_required
def retry(request: OperatorRequest, pk: int) -> HttpResponse:
    delay = instance.current().time_to_undo
    return _act(request, pk, lambda row, by, now: draft_retry.retry_draft(
        row, by=by, now=now, delay=delay), _("Retried, with up to 10 more attempts."),
        undo="failed:retry" if delay else "")  # fmt: skip


@require_POST
@moderator_required
def settle_there(request: OperatorRequest, pk: int) -> HttpResponse:
    remote_id = _posted(request, "typed_id") or _posted(request, "remote_id")
    return _act(request, pk, lambda row, by, now: settle.settle_as_sent(
        row, remote_id=remote_id, by=by, now=now), _("Marked as sent."))  # fmt: skip


@require_POST
@moderator_required
def settle_absent(request: OperatorRequest, pk: int) -> HttpResponse:
    delay = instance.current().time_to_undo
    return _act(request, pk, lambda row, by, now: settle.settle_as_not_sent(
        row, by=by, now=now, delay=delay), _("Marked as not delivered."),
        undo="unknown:settle_absent" if delay else "")  # fmt: skip


@require_POST
@moderator_required
def retract(request: OperatorRequest, pk: int) -> HttpResponse:
    return _act(request, pk, lambda row, by, now: delivery_retract.retract(
        row, by=by, now=now), _("Deleted from the surface."))  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@moderator_required
def new_post(request: OperatorRequest) -> HttpResponse:
    asked = {"account": request.GET.get("account")}
    form = PostForm(request.POST or None, initial=asked, reach=request.user.reach)
    if request.method == "POST" and form.is_valid():
        try:
            made = draft_services.compose(
                what=DraftKind.POST, **form.cleaned_data, by=request.user.actor, now=timezone.now()
            )
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            toasts.show_toast(request, _("Draft saved. It must be approved before it is sent."))
            return redirect("surfaces:draft", made.pk)
    status = 422 if form.errors else 200
    return render(request, "surfaces/drafts/new_post.html", {"form": form}, status=status)


Verb = Callable[[Draft, str, datetime], None]
Typed = dict[str, str] | None


def _get(request: OperatorRequest, pk: int) -> Draft:
    return get_object_or_404(request.user.reach.narrow(Draft.objects.for_page()), pk=pk)


def _act(
    request: OperatorRequest, pk: int, verb: Verb, done: str, typed: Typed = None, undo: str = ""
) -> HttpResponse:
    """Run the action; show the result, or who decided first. `undo` names the desk action."""
    row, now = _get(request, pk), timezone.now()
    try:
        verb(row, request.user.actor, now)
    except (StaleState, IllegalMove) as error:
        row = _get(request, pk)
        words = presenters.decided_before(row, request.user.actor, now) or str(error)
        return _shown(request, row, {"words": words, "is_late": True}, typed, status=409)
    except RuleBroken as error:
        return _shown(request, _get(request, pk), {"words": str(error)}, typed, status=422)
    words, (kind, _, act) = f"{done} {_when(row, now)}".strip(), undo.partition(":")
    way_back = {"undo": reverse("surfaces:desk_undo"), "what": f"{kind}-{pk}:{act}"} if undo else {}
    toasts.show_toast(request, words, **way_back)
    if request.htmx:
        return _shown(request, _get(request, pk))
    return redirect_back(request, "surfaces:draft", pk)


def _when(row: Draft, now: datetime) -> str:
    if row.state != DraftState.APPROVED:
        return ""
    return presenters.when_sent(row, row.not_before - now if row.not_before else timedelta())


def _shown(
    request: OperatorRequest,
    row: Draft,
    trouble: dict[str, object] | None = None,
    typed: Typed = None,
    status: int = 200,
) -> HttpResponse:
    is_lost, now = row.state == DraftState.UNKNOWN and row.needs_person, timezone.now()
    is_approved = row.state == DraftState.APPROVED
    held = pause_services.reasons(row.account, row.agent) if is_approved else []
    is_fresh = row.decided_at is not None and now - row.decided_at < WATCHED
    shown = {
        "draft": row, "now": now, "held": held,
        "leaves": row.state in {DraftState.APPROVED, DraftState.SENDING} and is_fresh and not held,
        "trouble": trouble, "typed": typed, "around": context.of_draft(row),
        "by_hand": draft_services.is_by_hand(row), "steps": timeline.of_draft(row),
        "can_retract": delivery_retract.can_retract(row),
        "candidates": presenters.candidates(row) if is_lost else [],
        "following": draft_listing.after(row, request.user.reach),
        "reasons": RejectionReason.choices, "limit": presenters.text_limit(row),
        "length": row.account.surface.traits.length(row.text), "oob": bool(request.htmx),
    }  # fmt: skip
    page = "surfaces/drafts/_draft.html" if request.htmx else "surfaces/drafts/draft.html"
    return render(request, page, shown, status=status)


def _posted(request: OperatorRequest, name: str) -> str:
    return request.POST.get(name, "").strip()
