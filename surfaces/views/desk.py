"""The desk: one item with all that is needed to decide on it, and every act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from surfaces import house, toasts
from surfaces.desk import deciding, kinds, queue, readers
from surfaces.desk.asked import Asked
from surfaces.desk.deciding import LATER, Named, Outcome
from surfaces.desk.kinds import Given
from surfaces.doors import may_decide
from surfaces.errors import BadInput, RuleBroken
from surfaces.models import DeskItem
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back


@require_safe
def item(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, row = _found(request, kind, pk)
    other = named.waits_as()
    if other not in {"", kind}:
        return redirect(f"{reverse('surfaces:desk_item', args=[other, pk])}?{_query(request)}")
    return _shown(request, named, row)


@require_safe
def reading(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    """Renew the lease; say who else is there, and whether it still waits."""
    named, row = _found(request, kind, pk)
    now = timezone.now()
    is_here = DeskItem.objects.of(kind, pk).exists()
    shown = {
        "named": named, "is_here": is_here,
        "decided": "" if is_here else named.kind.decided(row, request.user.actor, now),
        "readers": readers.open_item(kind, pk, request.user, now=now) if is_here else None,
    }  # fmt: skip
    return render(request, "surfaces/desk/_readers.html", shown)


@require_safe
def story(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    """How it came here, step by step."""
    named, row = _found(request, kind, pk)
    return render(request, "surfaces/desk/_so_far.html", {"steps": named.kind.steps(row)})


@require_POST
@may_decide
def act(request: OperatorRequest, kind: str, pk: int, act: str) -> HttpResponse:
    named, row = _found(request, kind, pk)
    asked, given = _asked(request), _given(request)
    here = DeskItem.objects.of(kind, pk).first()
    try:
        chosen = named.kind.act(act)
    except BadInput as error:
        raise Http404(str(error)) from error
    outcome = deciding.decide(named, row, chosen, given)
    return _after(request, named, here, asked, outcome)


@require_POST
@may_decide
def later(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, _row = _found(request, kind, pk)
    here = DeskItem.objects.of(kind, pk).first()
    outcome = deciding.put_off(
        named, request.POST.get("for", ""), by=request.user.actor, now=timezone.now()
    )
    return _after(request, named, here, _asked(request), outcome)


@require_POST
@may_decide
def undo(request: OperatorRequest) -> HttpResponse:
    """Take back what was just done, to one item or to many."""
    given, outcomes = _given(request), []
    for pair in request.POST.get("what", "").split()[: deciding.MOST_AT_ONCE]:
        key, _, act_name = pair.rpartition(":")
        outcomes.append(_undone(request, key, act_name, given))
    for each in outcomes[:3]:
        toasts.say(request, each.words) if each.is_done else toasts.refuse(request, each.words)
    if (page := request.POST.get("next", "")) and not page.startswith(reverse("surfaces:desk")):
        return back(request, "surfaces:desk")  # undone from another page: there again
    if len(outcomes) == 1 and outcomes[0].is_done:
        kind, pk = outcomes[0].named
        return redirect(f"{reverse('surfaces:desk_item', args=[kind, pk])}?{_query(request)}")
    return redirect(f"{reverse('surfaces:desk')}?{_query(request)}")


@require_POST
@may_decide
def bulk(request: OperatorRequest) -> HttpResponse:
    """One act on everything selected, with what came of each."""
    given, act_name = _given(request), request.POST.get("act", "")
    try:
        outcomes = _many(request, request.POST.getlist("x"), act_name, given)
    except RuleBroken as error:
        toasts.refuse(request, error)
        return redirect(f"{reverse('surfaces:desk')}?{_query(request)}")
    summed = deciding.summed(outcomes)
    undone = " ".join(f"{each.key}:{each.act}" for each in summed["done"] if each.is_undoable)
    words = f"{len(summed['done'])} of {len(outcomes)} done."
    toasts.say(request, words, undo=reverse("surfaces:desk_undo") if undone else "",
               what=undone, queue=_query(request))  # fmt: skip
    shown = {"summed": summed, "outcomes": outcomes, "query": _query(request)}
    page = "_outcomes" if request.htmx else "outcomes"
    return render(request, f"surfaces/desk/{page}.html", shown | {"oob": bool(request.htmx)})


# ── shared ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an act did not happen."""

    words: str
    is_late: bool = False


def _found(request: OperatorRequest, kind_name: str, pk: int) -> tuple[Named, Any]:
    """The row, if there is one and it is within reach."""
    kind = kinds.called(kind_name)
    row = kind.get(pk) if kind and pk < 1 << 62 else None
    if kind is None or row is None or not _allows(request, row):
        raise Http404
    return Named(kind, pk), row


def _allows(request: OperatorRequest, row: Any) -> bool:
    account = getattr(row, "account_id", row.pk)
    return request.user.reach.allows(account, getattr(row, "agent", ""))


def _query(request: OperatorRequest) -> str:
    """The queue somebody came from: in the address of a page, in a field of a form."""
    given = request.POST.get("queue") if request.method == "POST" else None
    if given is None:
        return urlencode(Asked.of(request.GET.dict()).query())
    return urlencode(Asked.of(dict(parse_qsl(given))).query())


def _asked(request: OperatorRequest) -> Asked:
    return Asked.of(dict(parse_qsl(_query(request))))


def _given(request: OperatorRequest) -> Given:
    delay = house.current().time_to_undo
    return Given(by=request.user.actor, now=timezone.now(), posted=request.POST.dict(), delay=delay)


def _undone(request: OperatorRequest, key: str, act_name: str, given: Given) -> Outcome:
    try:
        named = Named.of(key)
        _named, row = _found(request, named.kind.name, named.item_id)
        if act_name == "later":
            return deciding.bring_forward(named, by=given.by, now=given.now)
        return deciding.undo(named, row, named.kind.act(act_name), given)
    except (RuleBroken, Http404) as error:
        words = str(error) or "It is gone, or not yours to decide."
        return Outcome(key="none-0", words=words, is_done=False)


def _many(request: OperatorRequest, keys: list[str], act: str, given: Given) -> list[Outcome]:
    if act != "later":
        return deciding.decide_many(keys, act, given, lambda row: _allows(request, row))
    if not keys:
        raise BadInput("Nothing is selected. Select with X, then act.")
    found = [_found(request, n.kind.name, n.item_id)[0] for n in map(Named.of, keys[:200])]
    return [deciding.put_off(named, "4h", by=given.by, now=given.now) for named in found]


def _after(
    request: OperatorRequest,
    named: Named,
    here: DeskItem | None,
    asked: Asked,
    outcome: Outcome,
) -> HttpResponse:
    """What was done goes to the toast, and the next item to the pane."""
    if not outcome.is_done:
        row = named.kind.get(named.item_id)
        status = 409 if outcome.is_late else 422
        trouble = Trouble(outcome.words, is_late=outcome.is_late)
        return _shown(request, named, row, trouble, typed=request.POST, status=status)
    undo_at = reverse("surfaces:desk_undo") if outcome.is_undoable else ""
    what = f"{named.key}:{outcome.act}"
    toasts.say(request, outcome.words, undo=undo_at, what=what, queue=_query(request))
    if DeskItem.objects.of(named.kind.name, named.item_id).in_sight(timezone.now()).exists():
        return _next(request, named.key, "")  # edited: the same one again
    following = None
    if here is not None:
        following = queue.following(here, asked, request.user.reach, timezone.now())
    return _next(request, following.key if following else "", named.key)


def _next(request: OperatorRequest, key: str, gone: str) -> HttpResponse:
    query = _query(request)
    if not request.htmx:
        if not key:
            return redirect(f"{reverse('surfaces:desk')}?{query}")
        named = Named.of(key)
        place = reverse("surfaces:desk_item", args=[named.kind.name, named.item_id])
        return redirect(f"{place}?{query}")
    if not key:
        shown = {"gone": gone, "query": query, "oob": True}
        return render(request, "surfaces/desk/_all_done.html", shown)
    named = Named.of(key)
    row = named.kind.get(named.item_id)
    return _shown(request, named, row, gone=gone)


def _shown(
    request: OperatorRequest,
    named: Named,
    row: Any,
    trouble: Trouble | None = None,
    typed: QueryDict | None = None,
    status: int = 200,
    gone: str = "",
) -> HttpResponse:
    now, kind = timezone.now(), named.kind
    here = DeskItem.objects.of(kind.name, named.item_id).first()
    shown = {
        **kind.context(row, now),
        # A whole page asks for it afterwards: it has a frame to ask about already.
        "steps": kind.steps(row) if request.htmx else None,
        "named": named, "kind": kind, "here": here, "now": now,
        "title": kind.title(row), "decided": "" if here else kind.decided(row, "", now),
        "readers": readers.open_item(kind.name, named.item_id, request.user, now=now)
        if here else None,
        "trouble": trouble, "typed": typed or {}, "gone": gone, "query": _query(request),
        "reasons": kind.reasons, "later": LATER,
        "oob": bool(request.htmx) and request.method == "POST",
    }  # fmt: skip
    page = "_item" if request.htmx else "item"
    response = render(request, f"surfaces/desk/{page}.html", shown, status=status)
    if request.htmx and request.method == "POST":
        place = reverse("surfaces:desk_item", args=[kind.name, named.item_id])
        response["HX-Replace-Url"] = f"{place}?{shown['query']}"
    return response
