"""How the spam filter decides, how often it was right, and what other thresholds would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces import house, spam_chart, spam_figures, spam_replay, spam_words, toasts
from surfaces.doors import may_manage
from surfaces.errors import BadInput
from surfaces.models import House
from surfaces.requests import OperatorRequest
from surfaces.spam import LEAST, Thresholds
from surfaces.spam_figures import Decided
from surfaces.spam_replay import Outcome
from surfaces.views.acting import back, sentences
from surfaces.views.spam_rules import FAVOURS, rules

LATEST = 10
LISTED = 20  # verdicts that would change, each way


@dataclass(frozen=True, slots=True)
class Asked:
    """The thresholds somebody wants to try; those in use where they cannot be used."""

    thresholds: Thresholds
    house: House
    error: str = ""

    @property
    def is_in_use(self) -> bool:
        return self.thresholds == self.house.thresholds


@require_safe
def spam_filter(request: OperatorRequest) -> HttpResponse:
    now = timezone.now()
    found = spam_figures.decided(request.user.reach)
    shown = _tried(request, found, now)
    if request.htmx and request.htmx.target == "replay":
        return render(request, "surfaces/_spam_replay.html", shown)
    weeks = spam_replay.by_week(
        found.rows, timezone.localdate(now), timezone.get_current_timezone(), found.back_to
    )
    shown |= {
        "quality": shown["outcome"].was,
        "columns": spam_chart.columns(weeks),
        "learnt": spam_figures.learnt(),
        "latest": found.rows[:LATEST],
        "rules": rules(shown["lately"].fired, found.since(now - spam_figures.MONTH)),
        "favours": FAVOURS,
    }
    return render(request, "surfaces/spam_filter.html", shown)


def _tried(request: OperatorRequest, found: Decided, now: datetime) -> dict[str, Any]:
    """What the thresholds in the address would have done."""
    reach = request.user.reach
    asked = _asked(request.GET, house.current())
    outcome = spam_replay.replay(found.rows, asked.thresholds)
    lately = spam_figures.lately(reach, now)
    week = [group for group in lately.undecided if group.is_recent]
    return {
        "asked": asked,
        "least": LEAST,
        "outcome": outcome,
        "lately": lately,
        "shifts": [spam_replay.shift(rows, asked.thresholds) for rows in (week, lately.undecided)],
        "moved": _moved(outcome),
        "messages_by_id": spam_figures.messages(_shown(request, found, outcome)),
        "read_back_to": found.back_to,
        "reach": reach,
    }


def _moved(outcome: Outcome) -> list[dict[str, Any]]:
    ways = [(True, outcome.stricter), (False, outcome.milder)]
    return [{"is_stricter": way, "all": rows, "first": rows[:LISTED]} for way, rows in ways if rows]


def _shown(request: OperatorRequest, found: Decided, outcome: Outcome) -> list[int]:
    listed = (*outcome.stricter[:LISTED], *outcome.milder[:LISTED])
    latest = [] if request.htmx else found.rows[:LATEST]
    return [moved.decision.message for moved in listed] + [row.message for row in latest]


def _asked(given: Mapping[str, str], settings: House) -> Asked:
    if "suspect" not in given and "spam" not in given:
        return Asked(settings.thresholds, settings)
    try:
        return Asked(_thresholds(given), settings)
    except BadInput as error:
        return Asked(settings.thresholds, settings, str(error))


def _thresholds(given: Mapping[str, str]) -> Thresholds:
    """Both in hundredths, the first below the second."""
    try:
        suspect, spam = (round(float(given.get(name, "")), 2) for name in ("suspect", "spam"))
    except ValueError as error:
        raise BadInput(_("Enter two numbers between 0.10 and 1.00.")) from error
    if not LEAST <= suspect < spam <= 1:
        raise BadInput(_("Suspect must begin below spam: 0.10 ≤ suspect < spam ≤ 1.00."))
    return Thresholds(suspect, spam)


# ── acts ──────────────────────────────────────────────────────────────────


@require_POST
@may_manage
def set_thresholds(request: OperatorRequest) -> HttpResponse:
    with sentences(request):
        new = _thresholds(request.POST)
        values = {"suspect_from": new.suspect, "spam_from": new.spam}
        change = house.change(values, by=request.user.actor, now=timezone.now())
        words = _("Suspect from %(suspect).2f, spam from %(spam).2f, for what is read from now on.")
        undo = reverse("surfaces:undo_thresholds") if change.line else ""
        toasts.say(request, words % {"suspect": new.suspect, "spam": new.spam}, undo=undo,
                   line=str(change.line))  # fmt: skip
    return back(request, "surfaces:spam_filter")


@require_POST
@may_manage
def undo_thresholds(request: OperatorRequest) -> HttpResponse:
    line = request.POST.get("line", "")
    with sentences(request):
        number = int(line) if line.isascii() and line.isdigit() and len(line) < 19 else 0
        house.undo(number, by=request.user.actor, now=timezone.now())
        toasts.say(request, _("Undone. The thresholds are as they were."))
    return back(request, "surfaces:spam_filter")


# ── learned words ─────────────────────────────────────────────────────────


@require_safe
def words(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value) for name, value in request.GET.items()}
    wish = spam_words.Wish.of(given)
    shown = {
        "page": spam_words.page(wish, after=given.get("after", "")),
        "is_first": not given.get("after"),
        "wish": wish,
        "needed": spam_words.FEWEST,
    }
    return render(request, "surfaces/spam_words.html", shown)


@require_POST
@may_manage
def forget_word(request: OperatorRequest) -> HttpResponse:
    token = _token(request)
    with sentences(request):
        spam_words.forget(token, by=request.user.actor)
        undo = reverse("surfaces:remember_word")
        toasts.say(request, _("“%s” is forgotten.") % token[:60], undo=undo, token=token)
    return back(request, "surfaces:spam_words")


@require_POST
@may_manage
def remember_word(request: OperatorRequest) -> HttpResponse:
    token = _token(request)
    with sentences(request):
        spam_words.remember(token, by=request.user.actor)
        undo = reverse("surfaces:forget_word")
        toasts.say(request, _("“%s” counts again.") % token[:60], undo=undo, token=token)
    return back(request, "surfaces:spam_words")


def _token(request: OperatorRequest) -> str:
    return request.POST.get("token", "").replace("\0", "")[: spam_words.LONGEST]
