"""Who may come in, and what they may: make, change, lock out, hand over a password.

The last administrator can neither be locked out nor made less: each act holds the rows of
all of them, so two administrators cannot shut each other out in the same moment.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils.module_loading import import_string

from surfaces import two_factor
from surfaces.changes import Change, check_seen, differences, is_change, set_back
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Operator, Surface
from surfaces.models.operator import Role

CHANGED = "operator.changed"
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that looks like something else
GROUPS, SIZE = 4, 5  # 20 letters of 31: 99 bits
MANAGES = Q(is_superuser=True) | Q(role=Role.ADMIN)
LABELS = {"role": "Role", "surfaces": "Surfaces", "agents": "Agents"}


@dataclass(frozen=True, slots=True)
class Handed:
    """A password to hand over: shown once, and changed at the first sign-in."""

    operator: Operator
    password: str


def one_time_password() -> str:
    groups = ("".join(secrets.choice(LETTERS) for _ in range(SIZE)) for _ in range(GROUPS))
    return "-".join(groups)


def agent_choices() -> list[tuple[str, str]]:
    """Slug and name of every agent, as the floor above knows them."""
    return list(import_string(settings.AGENT_CHOICES)())


@transaction.atomic
def add(
    *,
    username: str,
    name: str = "",
    email: str = "",
    role: str,
    surfaces: Iterable[str] = (),
    agents: Iterable[str] = (),
    by: Operator,
) -> Handed:
    """Make an operator with a password to hand over."""
    _guard(by)
    given = _checked({"role": role, "surfaces": surfaces, "agents": agents})
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
    return Handed(operator, password)


def _check_name(operator: Operator) -> None:
    if Operator.objects.filter(username__iexact=operator.username).exists():
        raise BadInput(f"There is an operator {operator.username} already. Choose another name.")
    try:
        operator.full_clean()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error


# ── what they may ─────────────────────────────────────────────────────────


def values_of(operator: Operator) -> dict[str, Any]:
    """Role and limits, as forms and the ledger have them."""
    places = operator.surfaces.order_by("slug").values_list("slug", flat=True)
    return {"role": operator.role, "surfaces": list(places), "agents": sorted(operator.agents)}


@transaction.atomic
def change(
    operator: Operator,
    values: Mapping[str, Any],
    *,
    by: Operator,
    seen: Mapping[str, str] | None = None,
    why: str = "",
) -> Change:
    """Change role and limits. `seen`: marks of what the person had before them."""
    row = _guard(by, operator)
    before = values_of(row)
    check_seen(before, seen)
    turned = differences(before, _checked(values))
    if not turned:
        return Change({})
    if "role" in turned and row.may_manage:
        _not_the_last(row, "made less")
    new = {name: after for name, (_, after) in turned.items()}
    if "role" in new:
        _set_role(row, new["role"])
        row.save(update_fields=["role", "is_staff", "is_superuser"])
    _set_limits(row, new)
    line = AuditEvent.objects.record(CHANGED, actor=by.actor, subject=row, why=why, **turned)
    return Change(turned, line.pk)


def can_undo(line: AuditEvent) -> bool:
    return line.action == CHANGED and is_change(line.facts, LABELS)


@transaction.atomic
def undo(operator: Operator, line_id: int, *, by: Operator) -> Change:
    """Set back what one change did, unless it was changed again since."""
    row = _guard(by, operator)
    line = AuditEvent.objects.about(row).called(CHANGED).filter(pk=line_id).first()
    if line is None:
        raise NotAllowed("There is no such change of this operator to take back.")
    before = set_back(line.facts, values_of(row), label=LABELS.__getitem__)
    return change(row, before, by=by, why=f"Takes back line {line_id}.")


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Role and limits in one order each; or which of them there is not."""
    new = dict(values)
    if "role" in new and new["role"] not in Role.values:
        raise BadInput(f"{new['role']!r} is not a role. Choose one of {', '.join(Role.values)}.")
    if "surfaces" in new:
        new["surfaces"] = _known(new["surfaces"], "surface", _surface_slugs())
    if "agents" in new:
        known = {slug for slug, _ in agent_choices()}
        new["agents"] = _known(new["agents"], "agent", known)
    return new


def _surface_slugs() -> set[str]:
    return set(Surface.objects.order_by().values_list("slug", flat=True))


def _known(slugs: Iterable[str], what: str, known: set[str]) -> list[str]:
    wanted = sorted(set(slugs))
    if missing := [slug for slug in wanted if slug not in known]:
        raise BadInput(f"There is no {what} {missing[0]}. Choose from the list.")
    return wanted


def _set_role(operator: Operator, role: str) -> None:
    """Django's own permissions follow the role."""
    operator.role = role
    operator.is_staff = operator.is_superuser = role == Role.ADMIN


def _set_limits(operator: Operator, values: Mapping[str, Any]) -> None:
    if "surfaces" in values:
        operator.surfaces.set(Surface.objects.filter(slug__in=values["surfaces"]))
    if "agents" in values:
        operator.agents = values["agents"]
        operator.save(update_fields=["agents"])


# ── in and out ────────────────────────────────────────────────────────────


@transaction.atomic
def deactivate(operator: Operator, *, by: Operator) -> None:
    """Lock somebody out, in every browser, at once."""
    row = _guard(by, operator)
    if row.pk == by.pk:
        raise NotAllowed("You cannot lock yourself out. Another administrator can.")
    if not row.is_active:
        raise NotAllowed(f"{row.name} is locked out already.")
    if row.may_manage:
        _not_the_last(row, "locked out")
    Operator.objects.filter(pk=row.pk).update(is_active=False)
    _record("operator.deactivated", row, by)


@transaction.atomic
def reactivate(operator: Operator, *, by: Operator) -> None:
    row = _guard(by, operator)
    if row.is_active:
        raise NotAllowed(f"{row.name} may sign in already.")
    Operator.objects.filter(pk=row.pk).update(is_active=True)
    _record("operator.reactivated", row, by)


@transaction.atomic
def sign_out_everywhere(operator: Operator, *, by: Operator) -> None:
    """End every session of somebody; password and second factor stay."""
    row = _guard(by, operator)
    Operator.objects.filter(pk=row.pk).update(sign_outs=F("sign_outs") + 1)
    _record("operator.signed_out", row, by)


@transaction.atomic
def reset_password(operator: Operator, *, by: Operator) -> Handed:
    """Put a password to hand over in place of the old one, which ends every session."""
    row = _guard(by, operator)
    if row.pk == by.pk:
        raise NotAllowed("Change your own password on your own page; it asks for the old one.")
    password = one_time_password()
    row.set_password(password)
    row.owes_password = True
    row.save(update_fields=["password", "owes_password"])
    _record("operator.password_reset", row, by)
    return Handed(row, password)


@transaction.atomic
def switch_off_two_factor(operator: Operator, *, by: Operator) -> None:
    """For somebody who lost phone and recovery codes."""
    row = _guard(by, operator)
    if row.pk == by.pk:
        raise NotAllowed("Switch off your own second factor on your own page.")
    two_factor.switch_off(row, by=by.actor)


def _guard(by: Operator, operator: Operator | None = None) -> Operator:
    """Hold every administrator, and the one it is about; say no to who is none any more."""
    wanted = {by.pk} if operator is None else {by.pk, operator.pk}
    rows = Operator.objects.filter(Q(pk__in=wanted) | MANAGES).order_by("pk")
    held = {row.pk: row for row in rows.select_for_update()}
    me = held.get(by.pk)
    if me is None or not (me.is_active and me.may_manage):
        raise NotAllowed("Only administrators manage operators, and you are none any more.")
    found = held.get(operator.pk if operator else by.pk)
    if found is None:
        raise NotAllowed("This operator is gone. Look at the list again.")
    return found


def _not_the_last(row: Operator, what: str) -> None:
    others = Operator.objects.filter(MANAGES, is_active=True).exclude(pk=row.pk)
    if row.is_active and not others.exists():
        raise NotAllowed(
            f"{row.name} is the last administrator who may sign in and cannot be {what}."
            " Make another one first."
        )


def _record(action: str, row: Operator, by: Operator) -> None:
    AuditEvent.objects.record(action, actor=by.actor, subject=row)
