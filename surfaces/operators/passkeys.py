"""Passkeys (WebAuthn) as a second factor: register, verify, remove.

A challenge is kept in the session and taken out with the first answer, right or wrong. Of answers
that arrive at once, the row of the passkey lets one in.
"""

from __future__ import annotations

import base64
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import webauthn
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy
from webauthn.helpers import options_to_json, parse_authentication_credential_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput, NotAllowed
from surfaces.operators import two_factor
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.passkey import Passkey

CHALLENGE = "passkey_challenge"
LASTS = timedelta(minutes=5)
MOST = 10  # passkeys of one operator
MAX_NAME = 60
MAX_ANSWER = 20_000  # characters
NEW, SIGN_IN = "new", "sign_in"
UNREADABLE = (WebAuthnException, ValueError, RecursionError)
VERIFIED = UserVerificationRequirement.REQUIRED
WRONG = _lazy("The passkey was not accepted. Try again, or use a code.")
EXPIRED = _lazy("The request for the passkey has expired or was answered already. Try again.")
COPIED = _lazy(
    "The passkey was not accepted: its counter did not grow, so it may be a copy. Sign in another"
    " way and remove it."
)

Session = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """Where the browser stands: a passkey is bound to the host, an answer to the origin."""

    host: str
    origin: str

    @classmethod
    def of(cls, scheme: str, host: str) -> Site:
        return cls(host.rsplit(":", 1)[0] if ":" in host else host, f"{scheme}://{host}")


def registration_options(operator: Operator, site: Site, session: Session, *, now: datetime) -> str:
    """What the browser is asked for, as JSON. Known passkeys are not registered twice."""
    options = webauthn.generate_registration_options(
        rp_id=site.host,
        rp_name="Colloquy",
        user_id=f"operator:{operator.pk}".encode(),
        user_name=operator.username,
        user_display_name=operator.name,
        exclude_credentials=_descriptors(operator),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.DISCOURAGED, user_verification=VERIFIED
        ),
    )
    _keep(session, NEW, operator, options.challenge, now)
    return options_to_json(options)


def sign_in_options(operator: Operator, site: Site, session: Session, *, now: datetime) -> str:
    options = webauthn.generate_authentication_options(
        rp_id=site.host, allow_credentials=_descriptors(operator), user_verification=VERIFIED
    )
    _keep(session, SIGN_IN, operator, options.challenge, now)
    return options_to_json(options)


def register(
    operator: Operator, answer: str, name: str, site: Site, session: Session, *, now: datetime
) -> list[str]:
    """Add a passkey. With the first factor, return recovery codes, in the clear this once."""
    challenge, _made_at = _taken(session, NEW, operator, now)
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(_lazy("Give the passkey a name of 1 to 60 characters."))
    try:
        made = webauthn.verify_registration_response(
            credential=answer[:MAX_ANSWER],
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise BadInput(_lazy("The browser's answer is not a valid passkey. Try again.")) from error
    return _added(operator, name, made.credential_id, made.credential_public_key,
                  made.sign_count, now)  # fmt: skip


@transaction.atomic
def _added(
    operator: Operator, name: str, credential: bytes, key: bytes, count: int, now: datetime
) -> list[str]:
    row = two_factor.locked(operator)
    if operator.passkeys.count() >= MOST:
        raise NotAllowed(_lazy("You have %(most)s passkeys. Remove one first."), most=MOST)
    codes = two_factor.begin_codes(row, operator)
    facts = {"credential_id": credential, "public_key": key, "sign_count": count, "made_at": now}
    try:
        with transaction.atomic():
            Passkey.objects.create(operator=operator, name=name, **facts)
    except IntegrityError as error:
        taken = _lazy("There is a passkey %(name)s already, or this one is registered.")
        raise BadInput(taken, name=name) from error
    AuditEvent.objects.record(
        "operator.passkey_added", actor=operator.actor, subject=operator, name=name
    )
    return codes


@transaction.atomic
def verify(operator: Operator, answer: str, site: Site, session: Session, *, now: datetime) -> None:
    """Take the answer of a passkey of this operator, once. `BadInput`: it is none."""
    challenge, made_at = _taken(session, SIGN_IN, operator, now)
    try:
        given = parse_authentication_credential_json(answer[:MAX_ANSWER])
        rows = Passkey.objects.select_for_update().filter(operator=operator)
        row = rows.filter(credential_id=given.raw_id).first()
        if row is None:
            raise BadInput(WRONG)
        done = webauthn.verify_authentication_response(
            credential=given,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=bytes(row.public_key),
            credential_current_sign_count=0,  # compared below, with a sentence of its own
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise BadInput(WRONG) from error
    if row.used_at and made_at <= row.used_at <= made_at + LASTS:
        raise BadInput(EXPIRED)
    if is_copy(row.sign_count, done.new_sign_count):
        raise BadInput(COPIED)
    Passkey.objects.filter(pk=row.pk).update(sign_count=done.new_sign_count, used_at=now)


def is_copy(kept: int, given: int) -> bool:
    """Whether a counter says that two authenticators share one passkey. 0: it does not count."""
    return (kept > 0 or given > 0) and given <= kept


@transaction.atomic
def remove(operator: Operator, pk: int) -> None:
    """The last factor takes the recovery codes with it."""
    row = two_factor.locked(operator)
    found = operator.passkeys.filter(pk=pk).first()
    if found is None:
        raise NotAllowed(_lazy("This passkey is gone already."))
    if not row.has_totp and operator.passkeys.count() == 1:
        two_factor.switch_off(operator, by=operator.actor)
    else:
        found.delete()
    AuditEvent.objects.record(
        "operator.passkey_removed", actor=operator.actor, subject=operator, name=found.name
    )


def _descriptors(operator: Operator) -> list[PublicKeyCredentialDescriptor]:
    keys = operator.passkeys.values_list("credential_id", flat=True)
    return [PublicKeyCredentialDescriptor(id=bytes(key)) for key in keys]


def _keep(session: Session, what: str, operator: Operator, challenge: bytes, now: datetime) -> None:
    sealed = base64.b64encode(challenge).decode()
    session[CHALLENGE] = {"for": what, "pk": operator.pk, "is": sealed, "at": now.timestamp()}


def _taken(
    session: Session, what: str, operator: Operator, now: datetime
) -> tuple[bytes, datetime]:
    """The challenge, and when it was made."""
    kept = session.pop(CHALLENGE, None)
    is_ours = kept and (kept["for"], kept["pk"]) == (what, operator.pk)
    if not is_ours or not 0 <= now.timestamp() - kept["at"] <= LASTS.total_seconds():
        raise BadInput(EXPIRED)
    return base64.b64decode(kept["is"]), datetime.fromtimestamp(kept["at"], UTC)
