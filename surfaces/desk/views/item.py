"""Pages of one desk item, and all actions."""

import re
from hashlib import md5
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.desk import decisions, kinds, queue, viewers
from surfaces.desk.decisions import LATER, DecisionOutcome, ItemRef
from surfaces.desk.filters import DeskFilters
from surfaces.desk.kinds import ActionInput
from surfaces.desk.models import DeskItem
from surfaces.errors import BadInput, RuleBroken
from surfaces.operators.permissions import moderator_required
from surfaces.settings import instance
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back as back


@require_safe
def item(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, row = _found(request, kind, pk)
    other = named.waits_as()
    if other not in {"", kind}:
        return redirect(_address(other, pk, _query(request)))
    response = _shown(request, named, row)
    if not request.htmx:
        return response
    # A pane that was fetched ahead is compared with what it would be now.
    etag = md5(VOLATILE.sub(rb"\1", response.content), usedforsecurity=False).hexdigest()
    response["ETag"] = f'"{etag}"'
    return get_conditional_response(request, etag=f'"{etag}"', response=response) or response


@require_safe
def reading(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, row = _found(request, kind, pk)
    now = timezone.now()
    is_here = DeskItem.objects.of(kind, pk).exists()
    shown = {
        "named": named, "is_here": is_here,
        "decided": "" if is_here else named.kind.decided(row, request.user.actor, now),
        "readers": viewers.open_item(kind, pk, request.user, now=now) if is_here else None,
    }  # fmt: skip
    return render(request, "surfaces/desk/_viewers.html", shown)


@require_safe
def story(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, row = _found(request, kind, pk)
    return render(request, "surfaces/desk/_timeline.html", {"steps": named.kind.steps(row)})


@require_POST
@moderator_required
def act(request: OperatorRequest, kind: str, pk: int, act: str) -> HttpResponse:
    named, row = _found(request, kind, pk)
    given = _given(request)
    here = DeskItem.objects.of(kind, pk).first()
    try:
        chosen = named.kind.act(act)
    except BadInput as error:
        raise Http404(str(error)) from error
    outcome = decisions.decide(named, row, chosen, given)
    return _after(request, named, here, outcome)


@require_POST
@moderator_required
def later(request: OperatorRequest, kind: str, pk: int) -> HttpResponse:
    named, _row = _found(request, kind, pk)
    here = DeskItem.objects.of(kind, pk).first()
    how_long, by = request.POST.get("for", ""), request.user.actor
    outcome = decisions.snooze(named, how_long, by=by, now=timezone.now())
    return _after(request, named, here, outcome)


@require_POST
@moderator_required
def undo(request: OperatorRequest) -> HttpResponse:
    given, outcomes = _given(request), []
    for pair in request.POST.get("what", "").split()[: decisions.MOST_AT_ONCE]:
        key, _, act_name = pair.rpartition(":")
        outcomes.append(_undone(request, key, act_name, given))
    for each in outcomes[:3]:
        show = toasts.show_toast if each.is_done else toasts.show_error
        show(request, each.words)
    if (page := request.POST.get("next", "")) and not page.startswith(reverse("surfaces:desk")):
        return back(request, "surfaces:desk")  # undone from another page: there again
    if len(outcomes) == 1 and outcomes[0].is_done:
        kind, _, pk = outcomes[0].key.rpartition("-")
        return redirect(_address(kind, pk, _query(request)))
    return redirect(f"{reverse('surfaces:desk')}?{_query(request)}")


@require_POST
@moderator_required
def bulk(request: OperatorRequest) -> HttpResponse:
    given, act_name = _given(request), request.POST.get("act", "")
    try:
        outcomes = _many(request, request.POST.getlist("x"), act_name, given)
    except RuleBroken as error:
        toasts.show_error(request, error)
        return redirect(f"{reverse('surfaces:desk')}?{_query(request)}")
    summed = decisions.summed(outcomes)
    undoable = [each for each in summed["done"] if each.undo_window]
    undone = " ".join(f"{each.key}:{each.act}" for each in undoable)
    seconds = str(min((_seconds(each) for each in undoable), default=0))
    counts = {"summed": len(summed["done"]), "outcomes": len(outcomes)}
    words = _("%(summed)s of %(outcomes)s done.") % counts
    toasts.show_toast(request, words, undo=reverse("surfaces:desk_undo") if undone else "",
               what=undone, queue=_query(request), seconds=seconds)  # fmt: skip
    shown = {"summed": summed, "outcomes": outcomes, "query": _query(request)}
    page = "_outcomes" if request.htmx else "outcomes"
    return render(request, f"surfaces/desk/{page}.html", shown | {"oob": bool(request.htmx)})


# What differs in two panes that show the same: the token against forgery, and the age of things.
VOLATILE = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|(<time\b[^>]*>)[^<]*')


def _found(request: OperatorRequest, kind_name: str, pk: int) -> tuple[ItemRef, Any]:
    kind = kinds.called(kind_name)
    row = kind.get(pk) if kind and pk < 1 << 62 else None
    if kind is None or row is None or not _allows(request, row):
        raise Http404
    return ItemRef(kind, pk), row


def _allows(request: OperatorRequest, row: Any) -> bool:
    account = getattr(row, "account_id", row.pk)
    return request.user.reach.allows(account, getattr(row, "agent", ""))


def _query(request: OperatorRequest) -> str:
    """The queue somebody came from: in the address of a page, in a field of a form."""
    given = request.POST.get("queue") if request.method == "POST" else None
    asked = request.GET.dict() if given is None else dict(parse_qsl(given))
    return urlencode(DeskFilters.of(asked).query())


def _given(request: OperatorRequest) -> ActionInput:
    by, delay = request.user.actor, instance.current().time_to_undo
    return ActionInput(by=by, now=timezone.now(), posted=request.POST.dict(), delay=delay)


def _undone(
    request: OperatorRequest, key: str, act_name: str, given: ActionInput
) -> DecisionOutcome:
    try:
        named = ItemRef.of(key)
        _named, row = _found(request, named.kind.name, named.item_id)
        if act_name == "later":
            return decisions.unsnooze(named, by=given.by, now=given.now)
        return decisions.undo(named, row, named.kind.act(act_name), given)
    except (RuleBroken, Http404) as error:
        words = str(error) or _("It no longer exists, or you have no access to it.")
        return DecisionOutcome(key="none-0", words=words, is_done=False)


def _many(
    request: OperatorRequest, keys: list[str], act: str, given: ActionInput
) -> list[DecisionOutcome]:
    if act != "later":
        return decisions.decide_many(keys, act, given, lambda row: _allows(request, row))
    if not keys:
        raise BadInput(decisions.NOTHING_SELECTED)
    found = [_found(request, n.kind.name, n.item_id)[0] for n in map(ItemRef.of, keys[:200])]
    return [decisions.snooze(named, "4h", by=given.by, now=given.now) for named in found]


def _after(
    request: OperatorRequest, named: ItemRef, here: DeskItem | None, outcome: DecisionOutcome
) -> HttpResponse:
    """What was done goes to the toast, and the next item to the pane."""
    if not outcome.is_done:
        named = named.as_it_waits()
        row = named.kind.get(named.item_id)
        status = 409 if outcome.is_late else 422
        trouble = {"words": outcome.words, "is_late": outcome.is_late}
        return _shown(request, named, row, trouble, typed=request.POST, status=status)
    toasts.show_toast(
        request, outcome.words, undo=reverse("surfaces:desk_undo") if outcome.undo_window else "",
        what=f"{named.key}:{outcome.act}", queue=_query(request),
        seconds=str(_seconds(outcome)),
    )  # fmt: skip
    if DeskItem.objects.of(named.kind.name, named.item_id).in_sight(timezone.now()).exists():
        return _next(request, named.key, "")  # edited: the same one again
    if "X-Next-Shown" in request.headers:
        return render(request, "surfaces/desk/_acted.html", {"oob": True})
    following = None
    if here is not None:
        asked = DeskFilters.of(dict(parse_qsl(_query(request))))
        following = queue.following(here, asked, request.user.reach, timezone.now())
    return _next(request, following.key if following else "", named.key)


def _next(request: OperatorRequest, key: str, gone: str) -> HttpResponse:
    query = _query(request)
    if not request.htmx:
        if not key:
            return redirect(f"{reverse('surfaces:desk')}?{query}")
        named = ItemRef.of(key)
        return redirect(_address(named.kind.name, named.item_id, query))
    if not key:
        asked = DeskFilters.of(dict(parse_qsl(query)))
        shown = {"gone": gone, "query": query, "oob": True, "asked": asked}
        return render(request, "surfaces/desk/_empty_queue.html", shown)
    named = ItemRef.of(key)
    row = named.kind.get(named.item_id)
    return _shown(request, named, row, gone=gone)


def _shown(
    request: OperatorRequest,
    named: ItemRef,
    row: Any,
    trouble: dict[str, object] | None = None,
    typed: QueryDict | None = None,
    status: int = 200,
    gone: str = "",
) -> HttpResponse:
    now, kind = timezone.now(), named.kind
    here = DeskItem.objects.of(kind.name, named.item_id).first()
    is_seen = here and not request.headers.keys() & {"X-Prefetch", "X-Next-Shown"}
    shown = {
        **kind.context(row, now),
        # A whole page asks for it afterwards: it has a frame to ask about already.
        "steps": kind.steps(row) if request.htmx else None,
        "named": named, "kind": kind, "here": here, "now": now,
        "title": kind.title(row),
        "decided": "" if here else kind.decided(row, request.user.actor, now),
        "readers": viewers.open_item(kind.name, named.item_id, request.user, now=now)
        if is_seen else None,
        "stamp": getattr(row, "stamp", ""),
        "trouble": trouble, "typed": typed or {}, "form": kind.form(row, typed or {}),
        "gone": gone, "query": _query(request),
        "reasons": kind.reasons, "later": LATER,
        "oob": bool(request.htmx) and request.method == "POST",
    }  # fmt: skip
    page = "_item" if request.htmx else "item"
    response = render(request, f"surfaces/desk/{page}.html", shown, status=status)
    if request.htmx and request.method == "POST":
        response["HX-Replace-Url"] = _address(kind.name, named.item_id, shown["query"])
    return response


def _seconds(outcome: DecisionOutcome) -> int:
    return int(outcome.undo_window.total_seconds())


def _address(kind: str, pk: int | str, query: str) -> str:
    return f"{reverse('surfaces:desk_item', args=[kind, pk])}?{query}"
