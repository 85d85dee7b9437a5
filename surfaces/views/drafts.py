"""Drafts: what waits to be said, one of them beside its comment, and every act on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces import delivery, drafting, house, pausing, queueing, surroundings, timeline, toasts
from surfaces.doors import may_decide
from surfaces.errors import BadInput, IllegalMove, RuleBroken, StaleState
from surfaces.models import Draft
from surfaces.models.draft import State, What
from surfaces.post_form import PostForm
from surfaces.requests import OperatorRequest
from surfaces.showing import span
from surfaces.views.acting import back

WATCHED = timedelta(minutes=10)  # how long an open page asks whether it has left
WHY = ["Off topic", "Repeats us", "Wrong fact", "Tone"]


@require_safe
def drafts(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value) for name, value in request.GET.items()}
    reach, place = request.user.reach, (given.get("before", ""), given.get("after", ""))
    page = queueing.page(given.get("state", ""), *place, reach=reach)
    return render(request, "surfaces/drafts.html", {"page": page, "tabs": queueing.tabs(reach)})


@require_safe
def draft(request: OperatorRequest, pk: int) -> HttpResponse:
    row = _get(request, pk)
    if request.htmx and request.GET.get("seen") == row.state:
        return HttpResponse(status=204)  # the page asks again and again until it has left
    if request.htmx and row.state == State.SENT:
        toasts.say(request, f"Sent. It stands on {row.account.surface.name}.")
    return _shown(request, row)


@require_POST
@may_decide
def approve(request: OperatorRequest, pk: int) -> HttpResponse:
    digest, seen = _posted(request, "digest"), _posted(request, "seen")
    delay = house.current().time_to_undo
    return _act(request, pk, lambda row, by, now: drafting.approve(
        row, digest=digest, seen=seen, by=by, now=now, delay=delay), "Approved.",
        undo="draft:approve")  # fmt: skip


@require_POST
@may_decide
def edit(request: OperatorRequest, pk: int) -> HttpResponse:
    typed = {name: request.POST.get(name, "") for name in ("text", "title", "community")}

    def change(row: Draft, by: str, now: datetime) -> None:
        _unchanged(row, _posted(request, "digest"))
        drafting.edit(row, **queueing.checked(row, typed), by=by, now=now)

    return _act(request, pk, change, "Saved. It waits for a person again.", typed)


@require_POST
@may_decide
def withdraw(request: OperatorRequest, pk: int) -> HttpResponse:
    why = _posted(request, "why") or _posted(request, "reason")

    def take_back(row: Draft, by: str, now: datetime) -> None:
        if not why and drafting.is_rejection(row, by):
            raise BadInput("Rejecting needs a reason. Choose one or write your own.")
        drafting.withdraw(row, why=why, by=by, now=now)

    return _act(
        request, pk, take_back, "Withdrawn. It will not be sent.", {"why": why}, undo="draft:reject"
    )


@require_POST
@may_decide
def send_back(request: OperatorRequest, pk: int) -> HttpResponse:
    note = _posted(request, "note")
    return _act(request, pk, lambda row, by, now: drafting.send_back(
        row, note=note, by=by, now=now), "Sent back with your note.", {"note": note},
        undo="draft:send_back")  # fmt: skip


@require_POST
@may_decide
def retry(request: OperatorRequest, pk: int) -> HttpResponse:
    delay = house.current().time_to_undo
    return _act(request, pk, lambda row, by, now: drafting.retry(
        row, by=by, now=now, delay=delay), "Retried, with ten more tries.",
        undo="failed:retry")  # fmt: skip


@require_POST
@may_decide
def settle_there(request: OperatorRequest, pk: int) -> HttpResponse:
    remote_id = _posted(request, "typed_id") or _posted(request, "remote_id")
    return _act(request, pk, lambda row, by, now: drafting.settle_there(
        row, remote_id=remote_id, by=by, now=now), "Settled: it was sent.")  # fmt: skip


@require_POST
@may_decide
def settle_absent(request: OperatorRequest, pk: int) -> HttpResponse:
    delay = house.current().time_to_undo
    return _act(request, pk, lambda row, by, now: drafting.settle_absent(
        row, by=by, now=now, delay=delay), "Settled: it was not there.",
        undo="unknown:settle_absent")  # fmt: skip


@require_POST
@may_decide
def retract(request: OperatorRequest, pk: int) -> HttpResponse:
    return _act(request, pk, lambda row, by, now: delivery.retract(
        row, by=by, now=now), "Taken back. It is gone from the service.")  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@may_decide
def new_post(request: OperatorRequest) -> HttpResponse:
    asked = {"account": request.GET.get("account")}
    form = PostForm(request.POST or None, initial=asked, reach=request.user.reach)
    if request.method == "POST" and form.is_valid():
        try:
            made = drafting.compose(
                what=What.POST, **form.cleaned_data, by=request.user.actor, now=timezone.now()
            )
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            toasts.say(request, "Written down. It waits for a person.")
            return redirect("surfaces:draft", made.pk)
    status = 422 if form.errors else 200
    return render(request, "surfaces/new_post.html", {"form": form}, status=status)


# ── shared by all acts ────────────────────────────────────────────────────

Verb = Callable[[Draft, str, datetime], None]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an act did not happen. `decided`: because somebody else was faster."""

    words: str
    is_late: bool = False


def _get(request: OperatorRequest, pk: int) -> Draft:
    rows = Draft.objects.select_related("account__surface", "target__post", "message")
    heavy = [f"{name}__{column}" for name in ("target", "target__post", "message")
             for column in ("raw_json", "search")]  # fmt: skip
    return get_object_or_404(request.user.reach.narrow(rows.defer(*heavy)), pk=pk)


def _act(
    request: OperatorRequest,
    pk: int,
    verb: Verb,
    done: str,
    typed: dict[str, str] | None = None,
    undo: str = "",
) -> HttpResponse:
    """Try the verb; say what came of it, or what somebody else decided before.

    `undo` names the desk's act that it is, where that can be taken back.
    """
    row, now = _get(request, pk), timezone.now()
    try:
        verb(row, request.user.actor, now)
    except (StaleState, IllegalMove) as error:
        row = _get(request, pk)
        words = queueing.decided_before(row, request.user.actor, now) or str(error)
        return _shown(request, row, Trouble(words, is_late=True), typed, status=409)
    except RuleBroken as error:
        return _shown(request, _get(request, pk), Trouble(str(error)), typed, status=422)
    words, (kind, _, act) = f"{done} {_when(row, now)}".strip(), undo.partition(":")
    way_back = {"undo": reverse("surfaces:desk_undo"), "what": f"{kind}-{pk}:{act}"} if undo else {}
    toasts.say(request, words, **way_back)
    if request.htmx:
        return _shown(request, _get(request, pk))
    return back(request, "surfaces:draft", pk)


def _when(row: Draft, now: datetime) -> str:
    """When words that were just let go will leave."""
    if row.state != State.APPROVED:
        return ""
    held = pausing.reasons(row.account, row.agent)
    if held:
        return "It waits: sending is paused."
    wait = row.not_before - now if row.not_before else timedelta()
    return f"It leaves in {span(wait)}." if wait >= timedelta(seconds=1) else "It leaves now."


def _unchanged(row: Draft, digest: str) -> None:
    if digest and digest != row.digest():
        raise StaleState("Somebody changed these words since you began. Yours are kept below.")


def _shown(
    request: OperatorRequest,
    row: Draft,
    trouble: Trouble | None = None,
    typed: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    is_lost, now = row.state == State.UNKNOWN and row.needs_person, timezone.now()
    held = pausing.reasons(row.account, row.agent) if row.state == State.APPROVED else []
    is_fresh = row.decided_at is not None and now - row.decided_at < WATCHED
    shown = {
        "draft": row,
        "now": now,
        "held": held,
        "leaves": row.state in {State.APPROVED, State.SENDING} and is_fresh and not held,
        "trouble": trouble,
        "typed": typed,
        "around": surroundings.of_draft(row),
        "by_hand": drafting.is_by_hand(row),
        "steps": timeline.of_draft(row),
        "can_retract": delivery.can_retract(row),
        "candidates": queueing.candidates(row) if is_lost else [],
        "following": queueing.after(row, request.user.reach),
        "reasons": WHY,
        "limit": queueing.text_limit(row),
        "length": row.account.surface.traits.length(row.text),
        "oob": bool(request.htmx),
    }
    page = "surfaces/_draft.html" if request.htmx else "surfaces/draft.html"
    return render(request, page, shown, status=status)


def _posted(request: OperatorRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "").strip()
