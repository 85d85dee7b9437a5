"""Pages of the spam filter: rules, quality, thresholds, learned words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.errors import BadInput
from surfaces.operators.permissions import admin_required
from surfaces.settings import instance
from surfaces.settings.form_views import posted_event
from surfaces.settings.models import InstanceSettings
from surfaces.settings.services import change, undo
from surfaces.spam import classify, learned_words, replay, statistics
from surfaces.spam.replay import WEEKS, QualityWeek
from surfaces.spam.rule_labels import FAVOURS, rules
from surfaces.spam.scoring import LEAST, Thresholds
from surfaces.spam.statistics import DecisionCounts
from surfaces.web import charts, toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

LATEST = 10
LISTED = 20  # verdicts that would change, each way


@dataclass(frozen=True, slots=True)
class ThresholdQuery:
    thresholds: Thresholds
    house: InstanceSettings
    error: str = ""

    @property
    def is_in_use(self) -> bool:
        return self.thresholds == classify.thresholds_of(self.house)


@require_safe
def spam_filter(request: OperatorRequest) -> HttpResponse:
    now = timezone.now()
    found = statistics.decided(request.user.reach)
    shown = _tried(request, found, now)
    if request.htmx and request.htmx.target == "replay":
        return render(request, "surfaces/spam/_threshold_preview.html", shown)
    zone = timezone.get_current_timezone()
    weeks = replay.by_week(found.rows, timezone.localdate(now), zone, found.back_to)
    shown |= {
        "quality": shown["outcome"].was,
        "columns": [_column(week) for week in weeks],
        "learnt": statistics.learnt(),
        "latest": found.rows[:LATEST],
        "rules": rules(shown["lately"].fired, found.since(now - statistics.MONTH)),
        "favours": FAVOURS,
    }
    return render(request, "surfaces/spam/filter.html", shown)


@dataclass(frozen=True, kw_only=True, slots=True)
class WeekColumn(charts.Slot):
    week: QualityWeek
    bars: list[charts.Column]


def _column(week: QualityWeek) -> WeekColumn:
    bars = [
        charts.Column(at=week.at, of=WEEKS, share=share, base=base, full=48, least=1)
        for share, base in ((week.precision, 80), (week.recall, 172))
    ]
    return WeekColumn(at=week.at, of=WEEKS, week=week, bars=bars)


def _tried(request: OperatorRequest, found: DecisionCounts, now: datetime) -> dict[str, Any]:
    reach = request.user.reach
    asked = _asked(request.GET, instance.current())
    outcome = replay.replay(found.rows, asked.thresholds)
    lately = statistics.lately(reach, now)
    week = [group for group in lately.undecided if group.is_recent]
    moved = (*outcome.stricter[:LISTED], *outcome.milder[:LISTED])
    listed, latest = [move.decision for move in moved], [] if request.htmx else found.rows[:LATEST]
    return {
        "asked": asked,
        "least": LEAST,
        "outcome": outcome,
        "lately": lately,
        "shifts": [replay.shift(rows, asked.thresholds) for rows in (week, lately.undecided)],
        "moved": [
            {"is_stricter": way, "all": rows, "first": rows[:LISTED]}
            for way, rows in ((True, outcome.stricter), (False, outcome.milder))
            if rows
        ],
        "messages_by_id": statistics.messages(row.message for row in [*listed, *latest]),
        "read_back_to": found.back_to,
        "reach": reach,
    }


def _asked(given: Mapping[str, str], settings: InstanceSettings) -> ThresholdQuery:
    error = ""
    if "suspect" in given or "spam" in given:
        try:
            return ThresholdQuery(_thresholds(given), settings)
        except BadInput as found:
            error = str(found)
    return ThresholdQuery(classify.thresholds_of(settings), settings, error)


def _thresholds(given: Mapping[str, str]) -> Thresholds:
    """Both in hundredths, the first below the second."""
    try:
        suspect, spam = (round(float(given.get(name, "")), 2) for name in ("suspect", "spam"))
    except ValueError as error:
        raise BadInput(_("Enter two numbers between 0.10 and 1.00.")) from error
    if not LEAST <= suspect < spam <= 1:
        raise BadInput(
            _(
                "The suspect threshold must be below the spam threshold: 0.10 ≤ suspect < spam ≤ "
                "1.00."
            )
        )
    return Thresholds(suspect, spam)


@require_POST
@admin_required
def set_thresholds(request: OperatorRequest) -> HttpResponse:
    with rule_errors_as_toasts(request):
        new = _thresholds(request.POST)
        values = {"suspect_from": new.suspect, "spam_from": new.spam}
        saved = change(instance.current(), values, by=request.user.actor, now=timezone.now())
        words = _(
            "Thresholds applied: suspect from %(suspect).2f, spam from %(spam).2f, for "
            "comments read from now on."
        ) % {"suspect": new.suspect, "spam": new.spam}
        undo_url = reverse("surfaces:undo_thresholds") if saved else ""
        toasts.show_toast(request, words, undo=undo_url, line=str(saved.event_id))
    return redirect_back(request, "surfaces:spam_filter")


@require_POST
@admin_required
def undo_thresholds(request: OperatorRequest) -> HttpResponse:
    settings = instance.current()
    event = posted_event(request, settings)
    with rule_errors_as_toasts(request):
        undo(settings, event, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Undone. The previous thresholds are in use again."))
    return redirect_back(request, "surfaces:spam_filter")


@require_safe
def words(request: OperatorRequest) -> HttpResponse:
    wish, taught = learned_words.WordFilter.of(request.GET), learned_words.taught()
    shown = {
        "page": learned_words.list_learned_words(wish, taught, request.GET), "taught": taught,
        "is_first": not request.GET.get("after"), "wish": wish, "needed": learned_words.FEWEST,
    }  # fmt: skip
    return render(request, "surfaces/spam/learned_words.html", shown)


@require_POST
@admin_required
def forget_word(request: OperatorRequest) -> HttpResponse:
    done, undo = _("Word “%s” ignored."), reverse("surfaces:remember_word")
    return _turn_word(request, learned_words.forget, done, undo)


@require_POST
@admin_required
def remember_word(request: OperatorRequest) -> HttpResponse:
    done, undo = _("Word “%s” restored."), reverse("surfaces:forget_word")
    return _turn_word(request, learned_words.remember, done, undo)


def _turn_word(
    request: OperatorRequest, turn: Callable[..., None], done: str, undo: str
) -> HttpResponse:
    token = request.POST.get("token", "")[: learned_words.LONGEST]
    with rule_errors_as_toasts(request):
        turn(token, by=request.user.actor)
        toasts.show_toast(request, done % token[:60], undo=undo, token=token)
    return redirect_back(request, "surfaces:spam_words")
