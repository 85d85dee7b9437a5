"""The settings of the house, of an account and of a surface: what may be turned, in words."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from surfaces import house, tending
from surfaces.changes import in_words
from surfaces.controls import Pace
from surfaces.history import History, Teller, kept_words, lines_about
from surfaces.knobs import Bounds, Column, Knob, Section, field_of
from surfaces.models import Account, House, Surface
from surfaces.models.account import Mode
from surfaces.models.audit import name_of
from surfaces.tending import LIMIT
from surfaces.tuned import Tuned

HOUSE = (
    Section("house", _("This house"), (
        Knob("name", _("Name"), _("Stands in every mail from here, so people know whose it is.")),
        Knob("language", _("Language"),
             _("For mails, and for whoever is not signed in. Each operator chooses their own.")),
    )),
    Section("sending", _("Sending"), (
        Knob("undo_seconds", _("Time to undo"),
             _("Approved words wait this long before they leave. 0: they leave at once."),
             _("seconds")),
        Knob("drafts_wait_hours", _("Drafts wait"),
             _("Then a draft nobody decided lapses and is not sent. 0: it waits for ever."),
             _("hours")),
    )),
    Section("spam", _("Spam filter"), (
        Knob("suspect_from", _("Suspect from"),
             _("A comment with this score or more is held for a person."), _("score")),
        Knob("spam_from", _("Spam from"),
             _("With this score or more it is marked as spam. Must be above suspect."),
             _("score")),
    )),
)  # fmt: skip

ACCOUNT = (Section("account", _("Settings"), (
    Knob("mode", _("Mode"),
         _("Review: a person approves first. Shadow: all but the sending. Auto: what a voice"
           " writes is sent without a person. Off: nothing is written.")),
    Knob("every", _("Read every"), _("How often the watcher looks for what is new."),
         _("minutes")),
    Knob("is_on", _("Switched on"), _("Off: neither read nor written.")),
)),)  # fmt: skip

PLACE = Section("surface", _("Surface"), (
    Knob("name", _("Name"), _("How people here call it.")),
    Knob("is_on", _("Switched on"),
         _("Off: none of its accounts is read or written. What was read stays.")),
))  # fmt: skip
DIALECT = Knob("dialect", _("Dialect"), _("Which of the service’s ways of writing is meant."))
BUCKETS = {
    "read": _("Reading"),
    "write": _("Writing"),
    "comment": _("Comments, in a row"),
    "comment_day": _("Comments a day"),
    "post": _("Posts"),
    "verify": _("Answers to challenges"),
    "general": _("Everything from our address"),
}


def by_name(parts: tuple[Section, ...]) -> dict[str, Knob]:
    return {knob.name: knob for section in parts for knob in section.knobs}


class HouseForm(Tuned):
    parts = HOUSE

    def column(self, name: str) -> Column:
        return field_of(House, name)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        suspect, spam = given.get("suspect_from"), given.get("spam_from")
        if suspect == 0:
            self.add_error("suspect_from", now("0 would hold every comment. Enter more than 0."))
        elif suspect is not None and spam is not None and suspect >= spam:
            said = now("%(suspect)s is not below %(spam)s, where spam begins. Enter less.")
            self.add_error("suspect_from", said % {"suspect": suspect, "spam": spam})
        return given


def house_history(row: House) -> History:
    """One query."""
    names = dict(House._meta.get_field("language").flatchoices)
    teller = Teller(
        knobs=by_name(HOUSE),
        words=lambda name, kept: (
            str(names.get(kept, kept)) if name == "language" else kept_words(kept)
        ),
        is_now=house.values_of(row),
    )
    return History(lines_about(House.ledger_name, house.CHANGED), teller)


class AccountForm(Tuned):
    parts = ACCOUNT

    def column(self, name: str) -> Column:
        return field_of(Account, name)


def account_history(row: Account) -> History:
    """One query."""
    modes = {mode.value: mode.label.partition(":")[0] for mode in Mode}
    teller = Teller(
        knobs=by_name(ACCOUNT),
        words=lambda name, kept: modes.get(kept, kept) if name == "mode" else kept_words(kept),
        is_now=tending.account_values(row),
    )
    return History(lines_about(name_of(row), tending.ACCOUNT_CHANGED), teller)


# ── a surface: which limits it has depends on the service ─────────────────


def limit_knobs(surface: Surface) -> tuple[Knob, ...]:
    """One for each limit; the help says what the service documents."""
    usual = _documented(surface)
    found = []
    for name in tending.surface_values(surface):
        if not name.startswith(LIMIT):
            continue
        bucket = name.removeprefix(LIMIT)
        pace = usual.get(name)
        words = _("Empty: as the service documents it.") if pace else _("Empty: no limit of ours.")
        found.append(Knob(name, BUCKETS.get(bucket, bucket.replace("_", " ").capitalize()), words))
    return tuple(found)


def surface_parts(surface: Surface) -> tuple[Section, ...]:
    knobs = limit_knobs(surface)
    has_dialects = len(surface.traits.dialects) > 1
    place = Section(PLACE.id, PLACE.title, (*PLACE.knobs, DIALECT)) if has_dialects else PLACE
    limits = Section(
        "limits", _("Our own limits"), knobs, _("at most so many requests, by account")
    )
    return (place, limits) if knobs else (place,)


def _documented(surface: Surface) -> dict[str, list[int]]:
    return {
        f"{LIMIT}{limit.bucket}": [limit.most, int(limit.per.total_seconds())]
        for limit in surface.documented
    }


class SurfaceForm(Tuned):
    """Made for one surface by `surface_form`."""

    surface: Surface

    def column(self, name: str) -> Column:
        return field_of(Surface, name)

    def bounds(self, name: str) -> Bounds:
        if name.startswith(LIMIT):
            return Bounds(1, None, pace_words(_documented(self.surface).get(name)))
        if name == "dialect":
            return Bounds(0, None, "")
        return super().bounds(name)

    def usual(self, name: str) -> Any:
        return None if name.startswith(LIMIT) else super().usual(name)

    def made(self, knob: Knob) -> forms.Field:
        if knob.name.startswith(LIMIT):
            return Pace(usual=_documented(self.surface).get(knob.name), label=knob.label)
        if knob.name == "dialect":
            known = self.surface.traits.dialects
            usual = now("Usual (%(dialect)s)") % {"dialect": known[0]}
            choices = [("", usual), *((name, name.capitalize()) for name in known)]
            return forms.ChoiceField(required=False, choices=choices, widget=forms.RadioSelect)
        return super().made(knob)


def surface_form(surface: Surface) -> type[SurfaceForm]:
    parts = surface_parts(surface)
    return type("FormOfOneSurface", (SurfaceForm,), {"parts": parts, "surface": surface})


def surface_history(surface: Surface) -> History:
    """One query."""
    teller = Teller(
        knobs=by_name(surface_parts(surface)),
        words=lambda name, kept: _limit_words(kept) if name.startswith(LIMIT) else kept_words(kept),
        is_now=tending.surface_values(surface),
    )
    return History(lines_about(name_of(surface), tending.SURFACE_CHANGED), teller)


def _limit_words(kept: Any) -> str:
    return pace_words(kept) or now("as documented")


def pace_words(pace: Any) -> str:
    """[60, 60] as "60 requests in 60 seconds"."""
    if not isinstance(pace, list) or len(pace) != 2:
        return ""
    words = ngettext(
        "%(most)s request in %(seconds)s seconds",
        "%(most)s requests in %(seconds)s seconds",
        pace[0],
    )
    return words % {"most": f"{pace[0]:,}", "seconds": f"{pace[1]:,}"}


def moved_of(form: Tuned, moved: tuple[str, ...]) -> list[dict[str, Any]]:
    """What somebody changed while the form was open: what it is now, and whose doing."""
    rows = [row for row in form.rows() if row.knob.name in moved]
    return [
        {
            "label": row.knob.label,
            "anchor": row.anchor,
            "now": row.last.after if row.last else kept_words(in_words(form.values[row.knob.name])),
            "unit": row.knob.unit,
            "event": row.last.event if row.last else None,
        }
        for row in rows
    ]
