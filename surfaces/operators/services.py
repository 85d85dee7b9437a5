"""Create operators, change roles and limits, deactivate, reset passwords.

The last administrator can neither be locked out nor made less: each act holds the rows of
all of them, so two administrators cannot shut each other out in the same moment.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput, NotAllowed
from surfaces.extension_points import agent_scope
from surfaces.operators import sessions, two_factor
from surfaces.operators.models.operator import Operator, Role
from surfaces.settings import services
from surfaces.settings.changes import Values
from surfaces.settings.services import SavedChange, SettingsSpec

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that looks like something else
GROUPS, SIZE = 4, 5  # 20 letters of 31: 99 bits
MANAGES = Q(is_superuser=True) | Q(role=Role.ADMIN)
LIMITS = ("role", "only_surfaces", "surfaces", "only_agents", "agents")
Marks = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NewCredentials:
    """A password to hand over: shown once, and changed at the first sign-in."""

    operator: Operator
    password: str


def one_time_password() -> str:
    groups = ("".join(secrets.choice(LETTERS) for _i in range(SIZE)) for _j in range(GROUPS))
    return "-".join(groups)


def agent_choices() -> list[tuple[str, str]]:
    """Slug and name of every agent, as the floor above knows them."""
    return list(agent_scope().choices())


@transaction.atomic
def add(
    *,
    username: str,
    name: str = "",
    email: str = "",
    role: str,
    surfaces: Iterable[str] = (),
    agents: Iterable[str] = (),
    only_surfaces: bool = False,
    only_agents: bool = False,
    by: Operator,
) -> NewCredentials:
    _guard(by)
    limits = {"only_surfaces": only_surfaces, "surfaces": surfaces}
    limits |= {"only_agents": only_agents, "agents": agents}
    given = _limited(_checked({"role": role, **limits}))
    first, _, last = " ".join(name.split()).partition(" ")
    operator = Operator(username=username.strip(), first_name=first, last_name=last, email=email)
    operator.owes_password = True
    _set_role(operator, given["role"])
    password = one_time_password()
    operator.set_password(password)
    _check_name(operator)
    operator.save(force_insert=True)
    _set_limits(operator, given)
    facts: dict[str, Any] = {name: value for name, value in given.items() if value}
    AuditEvent.objects.record("operator.made", actor=by.actor, subject=operator, **facts)
    return NewCredentials(operator, password)


def _check_name(operator: Operator) -> None:
    if Operator.objects.filter(username__iexact=operator.username).exists():
        taken = _lazy("There is an operator %(username)s already. Choose another name.")
        raise BadInput(taken, username=operator.username)
    try:
        operator.full_clean()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error


class OperatorSpec(SettingsSpec[Operator]):
    """Role and limits. `change` and `undo` of this module hold the rows of administrators."""

    model = Operator
    action = "operator.changed"
    fields = LIMITS

    def read(self, row: Operator) -> dict[str, Any]:
        places = row.surfaces.order_by("slug").values_list("slug", flat=True)
        return {
            "role": row.role,
            "only_surfaces": row.only_surfaces,
            "surfaces": list(places),
            "only_agents": row.only_agents,
            "agents": sorted(row.agents),
        }

    def clean(self, row: Operator, name: str, value: Any) -> Any:
        return _checked({name: value})[name]

    def check(self, row: Operator, new: Values) -> None:
        if "role" in new and row.may_manage:
            _not_the_last(row)

    def write(self, row: Operator, new: Values, *, by: str, now: datetime) -> None:
        if "role" in new:
            _set_role(row, new["role"])
            row.save(update_fields=["role", "is_staff", "is_superuser"])
        _set_limits(row, _limited(new))


@transaction.atomic
def change(
    operator: Operator, values: Values, *, by: Operator, now: datetime, seen: Marks | None = None
) -> SavedChange:
    """Change role and limits. `seen`: marks of what the person had before them."""
    row = _guard(by, operator)
    return services.change(row, _limited(values), by=by.actor, now=now, seen=seen)


@transaction.atomic
def undo(operator: Operator, event: AuditEvent, *, by: Operator, now: datetime) -> SavedChange:
    return services.undo(_guard(by, operator), event, by=by.actor, now=now)


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Role and limits in one order each; or which of them there is not."""
    new = dict(values)
    if "role" in new and new["role"] not in Role.values:
        message = _lazy("%(role)s is not a role. Choose one of %(known)s.")
        raise BadInput(message, role=new["role"], known=", ".join(Role.values))
    if "surfaces" in new:
        slugs = set(Surface.objects.order_by().values_list("slug", flat=True))
        new["surfaces"] = _known(new["surfaces"], _lazy("There is no surface %(slug)s."), slugs)
    if "agents" in new:
        slugs = {slug for slug, _name in agent_choices()}
        new["agents"] = _known(new["agents"], _lazy("There is no agent %(slug)s."), slugs)
    return new


def _limited(values: Values) -> dict[str, Any]:
    """Whoever names surfaces or agents limits to them."""
    named = {f"only_{kind}": True for kind in ("surfaces", "agents") if values.get(kind)}
    return {**values, **named}


def _known(slugs: Iterable[str], message: object, known: set[str]) -> list[str]:
    wanted = sorted(set(slugs))
    if missing := [slug for slug in wanted if slug not in known]:
        raise BadInput(message, slug=missing[0])
    return wanted


def _set_role(operator: Operator, role: str) -> None:
    """Django's own permissions follow the role."""
    operator.role = role
    operator.is_staff = operator.is_superuser = role == Role.ADMIN


def _set_limits(operator: Operator, values: Mapping[str, Any]) -> None:
    if "surfaces" in values:
        operator.surfaces.set(Surface.objects.filter(slug__in=values["surfaces"]))
    columns = {name: values[name] for name in ("only_surfaces", "only_agents", "agents")
               if name in values}  # fmt: skip
    if columns:
        Operator.objects.filter(pk=operator.pk).update(**columns)


@transaction.atomic
def deactivate(operator: Operator, *, by: Operator) -> None:
    row = _guard(by, operator)
    if row.pk == by.pk:
        raise NotAllowed(_lazy("You cannot deactivate yourself. Another administrator can."))
    if not row.is_active:
        raise NotAllowed(_lazy("%(name)s is already deactivated."), name=row.name)
    if row.may_manage:
        _not_the_last(row)
    Operator.objects.filter(pk=row.pk).update(is_active=False)
    sessions.end_all(row, by=by)
    AuditEvent.objects.record("operator.deactivated", actor=by.actor, subject=row)


@transaction.atomic
def reactivate(operator: Operator, *, by: Operator) -> None:
    row = _guard(by, operator)
    if row.is_active:
        raise NotAllowed(_lazy("%(name)s is already active."), name=row.name)
    Operator.objects.filter(pk=row.pk).update(is_active=True)
    AuditEvent.objects.record("operator.reactivated", actor=by.actor, subject=row)


@transaction.atomic
def sign_out_everywhere(operator: Operator, *, by: Operator) -> None:
    """End every session of somebody; password and second factor stay."""
    row = _guard(by, operator)
    Operator.objects.filter(pk=row.pk).update(sign_outs=F("sign_outs") + 1)
    sessions.end_all(row, by=by)
    AuditEvent.objects.record("operator.signed_out", actor=by.actor, subject=row)


@transaction.atomic
def reset_password(operator: Operator, *, by: Operator) -> NewCredentials:
    """Put a password to hand over in place of the old one, which ends every session."""
    row = _guard(by, operator)
    if row.pk == by.pk:
        own = _lazy("Change your own password on your profile page. It asks for the present one.")
        raise NotAllowed(own)
    password = one_time_password()
    row.set_password(password)
    row.owes_password = True
    row.save(update_fields=["password", "owes_password"])
    sessions.end_all(row, by=by)
    AuditEvent.objects.record("operator.password_reset", actor=by.actor, subject=row)
    return NewCredentials(row, password)


@transaction.atomic
def switch_off_two_factor(operator: Operator, *, by: Operator) -> None:
    """For somebody who lost phone and recovery codes."""
    row = _guard(by, operator)
    if row.pk == by.pk:
        raise NotAllowed(_lazy("Disable your own two-factor on your profile page."))
    two_factor.switch_off(row, by=by.actor)


def _guard(by: Operator, operator: Operator | None = None) -> Operator:
    """Hold every administrator, and the one it is about; say no to who is none any more."""
    wanted = {by.pk} if operator is None else {by.pk, operator.pk}
    rows = Operator.objects.filter(Q(pk__in=wanted) | MANAGES).order_by("pk")
    held = {row.pk: row for row in rows.select_for_update()}
    me = held.get(by.pk)
    if me is None or not (me.is_active and me.may_manage):
        raise NotAllowed(_lazy("Only administrators manage operators, and you are none any more."))
    found = held.get(operator.pk if operator else by.pk)
    if found is None:
        raise NotAllowed(_lazy("This operator is gone. Look at the list again."))
    return found


def _not_the_last(row: Operator) -> None:
    others = Operator.objects.filter(MANAGES, is_active=True).exclude(pk=row.pk)
    if row.is_active and not others.exists():
        last = _lazy("%(name)s is the last administrator who can sign in. Add another one first.")
        raise NotAllowed(last, name=row.name)
