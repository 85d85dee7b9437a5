"""The second factor: six digits from an app, or a recovery code for who lost it.

A code is taken once. The secret is kept encrypted, recovery codes as digests.
"""

import base64
import hmac
import secrets
from datetime import datetime

import pyotp
import segno
from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from surfaces import crypto
from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput, NotAllowed
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.recovery_code import RecoveryCode, digest_of

ISSUER = "Colloquy"
STEP = 30  # seconds that one code holds
SLACK = 1  # steps before and after ours that are taken: clocks differ
CODES = 10
BYTES = 10  # of a recovery code: 80 bits, 16 letters
REQUIRED = _lazy("Your role requires two-factor, so it cannot be disabled.")
WRONG = _lazy("The code is wrong or was used before. Enter the one your app shows now.")


def new_secret() -> str:
    return pyotp.random_base32()


def provisioning_uri(operator: Operator, secret: str) -> str:
    return pyotp.TOTP(secret).provisioning_uri(name=operator.username, issuer_name=ISSUER)


def qr_code(uri: str) -> tuple[int, str]:
    """The QR code of it: its width in modules with the margin, and the path of the dark ones."""
    rows = list(segno.make(uri, error="m", micro=False).matrix_iter(border=4))
    dark = [f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, bit in enumerate(row) if bit]
    return len(rows), "".join(dark)


@transaction.atomic
def switch_on(operator: Operator, secret: str, code: str, *, now: datetime) -> list[str]:
    """Ask for codes from now on. Return the recovery codes, in the clear this once."""
    row = locked(operator)
    if row.has_totp:
        raise NotAllowed(_lazy("Two-factor is already on. Disable it first to set it up again."))
    step = _step_of(secret, code, now)
    if step is None:
        hint = _lazy("%(wrong)s If the code is right, check the time on your phone.")
        raise BadInput(hint, wrong=WRONG)
    _write(
        operator,
        sealed_totp=crypto.encrypt(secret),
        totp_since=now,
        totp_step=step,
    )
    codes = begin_codes(row, operator)
    AuditEvent.objects.record("operator.two_factor_on", actor=operator.actor, subject=operator)
    return codes


def begin_codes(row: Operator, operator: Operator) -> list[str]:
    """With the first factor of `row`: recovery codes, and browsers that came in without go out."""
    if row.has_two_factor:
        return []
    _write(operator, sign_outs=row.sign_outs + 1)
    return _fresh_codes(operator)


@transaction.atomic
def switch_off(operator: Operator, *, by: str) -> None:
    """All of it: the app, passkeys and recovery codes."""
    row = locked(operator)
    if not row.has_two_factor:
        raise NotAllowed(_lazy("Two-factor is already off."))
    if by == operator.actor and row.owes_two_factor:  # type: ignore[attr-defined]
        raise NotAllowed(REQUIRED)
    _write(operator, sealed_totp=b"", totp_since=None, totp_step=0)
    operator.passkeys.all().delete()
    RecoveryCode.objects.filter(operator=operator).delete()
    AuditEvent.objects.record("operator.two_factor_off", actor=by, subject=operator)


@transaction.atomic
def renew_codes(operator: Operator) -> list[str]:
    if not locked(operator).has_two_factor:
        raise NotAllowed(_lazy("Two-factor is off, so there are no recovery codes."))
    codes = _fresh_codes(operator)
    action = "operator.recovery_codes_renewed"
    AuditEvent.objects.record(action, actor=operator.actor, subject=operator)
    return codes


def codes_left(operator: Operator) -> int:
    return RecoveryCode.objects.filter(operator=operator, used_at=None).count()


@transaction.atomic
def verify_code(operator: Operator, code: str, *, now: datetime) -> None:
    """Take a code, once. `BadInput`: it is none, or was taken before."""
    plain = "".join(code.split())
    row = locked(operator)
    if not row.has_two_factor:
        return
    if len(plain) != 6 or not row.has_totp:
        return _take_recovery(operator, plain, now)
    step = _step_of(_secret(row), plain, now)
    # A code that was taken is worth nothing, and neither is an earlier one.
    if step is None or step <= row.totp_step:
        raise BadInput(WRONG)
    _write(operator, totp_step=step)


def _take_recovery(operator: Operator, code: str, now: datetime) -> None:
    rows = RecoveryCode.objects.filter(operator=operator, digest=digest_of(code), used_at=None)
    if not rows.update(used_at=now):
        raise BadInput(WRONG)
    action, left = "operator.used_recovery_code", codes_left(operator)
    AuditEvent.objects.record(action, actor=operator.actor, subject=operator, left=left)


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """Which step this is the code of, if it is near. Each is compared, whatever fits."""
    totp, here = pyotp.TOTP(secret), int(now.timestamp()) // STEP
    near = range(here - SLACK, here + SLACK + 1)
    given = "".join(code.split()).encode()
    fits = [step for step in near if hmac.compare_digest(totp.generate_otp(step).encode(), given)]
    return max(fits, default=None)


def _secret(row: Operator) -> str:
    try:
        return crypto.decrypt(row.sealed_totp)
    except crypto.InvalidToken as error:
        words = _lazy(
            "Your two-factor secret cannot be decrypted. Use a recovery code, or ask an "
            "administrator to disable two-factor."
        )
        raise NotAllowed(words) from error


def _fresh_codes(operator: Operator) -> list[str]:
    RecoveryCode.objects.filter(operator=operator).delete()
    codes = []
    for _ in range(CODES):  # sixteen letters and figures in groups, e.g. mfra-ggzd-fmzt-qn3x
        plain = base64.b32encode(secrets.token_bytes(BYTES)).decode().lower()
        codes.append("-".join(plain[at : at + 4] for at in range(0, len(plain), 4)))
    rows = [RecoveryCode(operator=operator, digest=digest_of(code)) for code in codes]
    RecoveryCode.objects.bulk_create(rows)
    return codes


def locked(operator: Operator) -> Operator:
    return Operator.objects.select_for_update().get(pk=operator.pk)


def _write(operator: Operator, **facts: object) -> None:
    Operator.objects.filter(pk=operator.pk).update(**facts)
    for name, value in facts.items():
        setattr(operator, name, value)
