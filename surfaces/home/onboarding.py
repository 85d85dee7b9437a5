"""Onboarding steps of a new instance."""

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import IntegerField, QuerySet, Value
from django.urls import reverse
from django.utils.translation import gettext as _

from surfaces.accounts.models.account import Account
from surfaces.audit.models import AuditEvent
from surfaces.extension_points import connect_url, extensions
from surfaces.operators.models.operator import Operator


@dataclass(frozen=True, kw_only=True, slots=True)
class OnboardingStep:
    """One step. It is done when `evidence` has a row."""

    title: str
    words: str
    url: str
    act: str
    evidence: QuerySet[Any] | None = None
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Onboarding:
    steps: list[OnboardingStep]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def is_done(self) -> bool:
        return self.done == len(self.steps)

    @property
    def now(self) -> OnboardingStep | None:
        """The first open step."""
        return next((step for step in self.steps if not step.is_done), None)


def look(user: Operator, *, has_account: bool) -> Onboarding:
    """All steps with their state. One query."""
    steps = _steps(user, has_account=has_account)
    parts = [
        step.evidence.order_by().annotate(step=Value(at, IntegerField())).values_list("step")[:1]
        for at, step in enumerate(steps)
        if step.evidence is not None
    ]
    for (at,) in parts[0].union(*parts[1:], all=True):
        steps[at] = replace(steps[at], is_done=True)
    return Onboarding(steps)


def dismiss(user: Operator, *, is_over: bool) -> None:
    """Hide the list, or show it again."""
    with transaction.atomic():
        Operator.objects.filter(pk=user.pk).update(first_run_is_over=is_over)
        action = "first_run.put_away" if is_over else "first_run.taken_out"
        AuditEvent.objects.record(action, actor=user.actor, subject=user)


def _steps(user: Operator, *, has_account: bool) -> list[OnboardingStep]:
    approved = AuditEvent.objects.called("draft.approved")
    return [
        OnboardingStep(
            title=_("Choose your own password"),
            words=_("The initial password was printed to the terminal and is meant for one use."),
            url=reverse("surfaces:password"),
            act=_("Change password"),
            is_done=not user.has_first_password,
        ),
        OnboardingStep(
            title=_("Connect a surface"),
            words=_(
                "The built-in hub needs no API key. Colloquy starts to read messages. In review "
                "mode it sends nothing without approval."
            ),
            url=connect_url(),
            act=_("Connect"),
            is_done=has_account,
        ),
        *(step() for extension in extensions() for step in extension.onboarding_steps),
        OnboardingStep(
            title=_("Wait for the first poll"),
            words=_(
                "The watcher reads the surface once within seconds. Its messages then appear "
                "under Messages."
            ),
            url=reverse("surfaces:messages"),
            act=_("Read messages"),
            # What a round remembers for the next one; it stays when old rounds are put away.
            evidence=Account.objects.exclude(cursor={}),
        ),
        OnboardingStep(
            title=_("Approve a first reply"),
            words=_("Open a draft on the desk and press A. It is sent only after you approve it."),
            url=reverse("surfaces:desk"),
            act=_("Open the desk"),
            evidence=approved.filter(actor__startswith="operator:"),
        ),
    ]
