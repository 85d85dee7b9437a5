"""The first run: what a new house needs, and which of it is truly done.

A step is done when there is a row that says so, not when a page was opened. A floor above adds
its steps (`FIRST_RUN_STEPS`); all rows are looked for in one query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import IntegerField, QuerySet, Value
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from surfaces.models import Account, AuditEvent, Operator


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to do. It is done as soon as `evidence` has a row."""

    title: str
    words: str
    url: str
    act: str
    evidence: QuerySet[Any] | None = None
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class FirstRun:
    steps: list[Step]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def is_done(self) -> bool:
        return self.done == len(self.steps)

    @property
    def now(self) -> Step | None:
        """The first that is not done."""
        return next((step for step in self.steps if not step.is_done), None)


def look(user: Operator, *, has_account: bool) -> FirstRun:
    """Every step with its true state. One query."""
    steps = [_password(user), _connect(has_account), *_above(), _round(), _approval()]
    found = _found([step.evidence for step in steps])
    return FirstRun([_settled(step, step.is_done or at in found) for at, step in enumerate(steps)])


def put_away(user: Operator, *, is_over: bool) -> None:
    """Show the list no more, or again."""
    with transaction.atomic():
        Operator.objects.filter(pk=user.pk).update(first_run_is_over=is_over)
        action = "first_run.put_away" if is_over else "first_run.taken_out"
        AuditEvent.objects.record(action, actor=user.actor, subject=user)


def _settled(step: Step, is_done: bool) -> Step:
    return Step(title=step.title, words=step.words, url=step.url, act=step.act, is_done=is_done)


def _found(evidence: list[QuerySet[Any] | None]) -> set[int]:
    """Which of these have a row."""
    parts = [
        rows.order_by().annotate(step=Value(at, IntegerField())).values_list("step")[:1]
        for at, rows in enumerate(evidence)
        if rows is not None
    ]
    return {at for (at,) in parts[0].union(*parts[1:], all=True)}


def _above() -> list[Step]:
    draw: list[Callable[[], Step]] = [import_string(name) for name in settings.FIRST_RUN_STEPS]
    return [step() for step in draw]


def _password(user: Operator) -> Step:
    return Step(
        title=_("Choose your own password"),
        words=_("The printed one was for once."),
        url=reverse("surfaces:password"),
        act=_("Choose"),
        is_done=not user.has_first_password,
    )


def _connect(has_account: bool) -> Step:
    return Step(
        title=_("Connect a surface"),
        words=_(
            "The built-in hub needs no key. Colloquy reads, and sends nothing until you say so."
        ),
        url=reverse("dialogue:connect"),
        act=_("Connect"),
        is_done=has_account,
    )


def _round() -> Step:
    return Step(
        title=_("See the first round"),
        words=_("A surface was read whole. It comes within seconds and shows who wrote to us."),
        url=reverse("surfaces:messages"),
        act=_("Read messages"),
        # What a round remembers for the next one; it stays when old rounds are put away.
        evidence=Account.objects.exclude(cursor={}),
    )


def _approval() -> Step:
    return Step(
        title=_("Approve a first answer"),
        words=_("On the desk, with the key A. Only then does anything leave."),
        url=reverse("surfaces:desk"),
        act=_("Open the desk"),
        evidence=AuditEvent.objects.called("draft.approved").filter(actor__startswith="operator:"),
    )
