"""Sessions of an operator: which browsers are signed in, and how they are signed out."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.db import transaction
from django.db.models import F
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.errors import NotAllowed
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.session import OperatorSession


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    """`name` stands for the session on pages: its key would be the credential."""

    row: OperatorSession
    is_this_one: bool

    @property
    def name(self) -> str:
        return name_of(self.row)


def name_of(row: OperatorSession) -> str:
    return hashlib.sha256(row.session_key.encode()).hexdigest()[:32]


def is_theirs(row: OperatorSession, operator: Operator) -> bool:
    """Whether the session still signs its operator in: same password, no sign-out since."""
    signed, auth_hash = row.get_decoded(), operator.get_session_auth_hash()
    is_same = constant_time_compare(signed.get(HASH_SESSION_KEY, ""), auth_hash)
    return is_same and signed.get(SESSION_KEY) == str(operator.pk)


def sessions_of(operator: Operator, key: str | None, *, now: datetime) -> list[SignedInBrowser]:
    """This browser first, then by when each was last seen. `key`: this browser's session."""
    rows = OperatorSession.objects.filter(operator=operator, expire_date__gt=now)
    found = [
        SignedInBrowser(row, row.session_key == key)
        for row in rows.order_by("-seen_at")
        if is_theirs(row, operator)
    ]
    return sorted(found, key=lambda one: not one.is_this_one)


@transaction.atomic
def end(operator: Operator, name: str, key: str | None) -> None:
    rows = OperatorSession.objects.filter(operator=operator).select_for_update()
    row = next((row for row in rows if name_of(row) == name), None)
    if row is None:
        raise NotAllowed(_lazy("This session has ended already."))
    if row.session_key == key:
        raise NotAllowed(_lazy("This is the browser you are using. Sign out in the menu."))
    row.delete()
    facts = {"browser": row.browser, "network": row.network}
    action = "operator.session_ended"
    AuditEvent.objects.record(action, actor=operator.actor, subject=operator, **facts)


@transaction.atomic
def end_others(operator: Operator, key: str | None) -> int:
    """Sign out everywhere else. Whoever calls this renews the hash of the session it keeps."""
    others = OperatorSession.objects.filter(operator=operator).exclude(session_key=key)
    ended, _tables = others.delete()
    Operator.objects.filter(pk=operator.pk).update(sign_outs=F("sign_outs") + 1)
    operator.refresh_from_db(fields=["sign_outs"])
    AuditEvent.objects.record("operator.signed_out", actor=operator.actor, subject=operator)
    return ended


def end_all(operator: Operator, *, by: Operator) -> None:
    """When an administrator locks somebody out. One's own next page asks to sign in anyway."""
    if operator.pk != by.pk:
        OperatorSession.objects.filter(operator=operator).delete()
