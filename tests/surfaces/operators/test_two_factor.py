"""A second factor: codes are taken once, recovery codes too, and nothing opens half-way."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces import crypto
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Operator, RecoveryCode
from surfaces.operators import sign_in, two_factor
from tests.factories import NOON, make_operator

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
DOOR, CODE = "/sign-in", "/sign-in/code"


def code_at(moment: Any) -> str:
    return pyotp.TOTP(SECRET).at(moment)


def make_guarded(now: Any = NOON, **given: Any) -> tuple[Operator, list[str]]:
    """Somebody who switched it on a quarter of an hour ago."""
    operator = make_operator(**({"username": "mira"} | given))
    then = now - timedelta(minutes=15)
    return operator, two_factor.switch_on(operator, SECRET, code_at(then), now=then)


def fresh(operator: Operator) -> Operator:
    return Operator.objects.get(pk=operator.pk)


def knock(client: Client, password: str = RIGHT, **given: str) -> Any:
    return client.post(DOOR, {"username": "mira", "password": password, **given})


# ── the codes ─────────────────────────────────────────────────────────────


def test_the_secret_is_kept_encrypted_and_recovery_codes_as_digests():
    operator, codes = make_guarded()
    assert SECRET.encode() not in bytes(fresh(operator).sealed_totp)
    assert crypto.decrypt(fresh(operator).sealed_totp) == SECRET
    assert len(set(codes)) == 10
    assert not set(codes) & set(RecoveryCode.objects.values_list("digest", flat=True))


@pytest.mark.parametrize("seconds", [-30, 0, 30])
def test_a_clock_may_be_a_step_off(seconds: int):
    operator, _ = make_guarded()
    two_factor.verify_code(operator, code_at(NOON + timedelta(seconds=seconds)), now=NOON)


@pytest.mark.parametrize("seconds", [-90, 90])
def test_and_no_more_than_that(seconds: int):
    operator, _ = make_guarded()
    with pytest.raises(BadInput, match="wrong or was used"):
        two_factor.verify_code(operator, code_at(NOON + timedelta(seconds=seconds)), now=NOON)


def test_a_code_is_taken_once_and_so_is_none_before_it():
    operator, _ = make_guarded()
    two_factor.verify_code(operator, code_at(NOON), now=NOON)
    for earlier in (NOON, NOON - timedelta(seconds=30)):
        with pytest.raises(BadInput):
            two_factor.verify_code(operator, code_at(earlier), now=NOON)


def test_the_code_that_switched_it_on_does_not_sign_in():
    operator = make_operator()
    two_factor.switch_on(operator, SECRET, code_at(NOON), now=NOON)
    with pytest.raises(BadInput):
        two_factor.verify_code(operator, code_at(NOON), now=NOON)


def test_a_recovery_code_opens_once_however_it_is_typed():
    operator, codes = make_guarded()
    two_factor.verify_code(operator, codes[0].upper().replace("-", " "), now=NOON)
    with pytest.raises(BadInput):
        two_factor.verify_code(operator, codes[0], now=NOON)
    two_factor.verify_code(operator, codes[1], now=NOON)
    assert two_factor.codes_left(operator) == 8
    assert AuditEvent.objects.called("operator.used_recovery_code").count() == 2


def test_a_recovery_code_of_somebody_else_opens_nothing():
    _, codes = make_guarded()
    other, _ = make_guarded(username="jonas")
    with pytest.raises(BadInput):
        two_factor.verify_code(other, codes[0], now=NOON)


@pytest.mark.parametrize("given", ["", "12", "abcdef", "000000000000", "\0", "１２３４５６"])
def test_garbage_is_no_code(given: str):
    operator, _ = make_guarded()
    with pytest.raises(BadInput):
        two_factor.verify_code(operator, given, now=NOON)


def test_with_the_key_lost_a_recovery_code_still_opens():
    operator, codes = make_guarded()
    Operator.objects.update(sealed_totp=b"sealed under a key we lost")
    with pytest.raises(NotAllowed, match="recovery code"):
        two_factor.verify_code(operator, code_at(NOON), now=NOON)
    two_factor.verify_code(operator, codes[0], now=NOON)


# ── the door ──────────────────────────────────────────────────────────────


def test_the_password_alone_opens_nothing(client: Client):
    make_guarded(timezone.now())
    assert knock(client).url == CODE
    assert "_auth_user_id" not in client.session
    for path in ("/", "/messages/", "/me", "/me/two-factor", "/settings/operators/"):
        assert client.get(path).url.startswith("/sign-in?"), path
    assert client.post("/pause", {"what": "all:"}).url.startswith("/sign-in?")


def test_the_code_opens_and_leads_where_one_wanted_to_go(client: Client):
    make_guarded(timezone.now())
    knock(client, next="/ledger/")
    assert "Enter your code" in client.get(CODE).content.decode()
    before = client.session.session_key
    answer = client.post(CODE, {"code": code_at(timezone.now())})
    assert answer.url == "/ledger/"
    assert client.get("/ledger/").status_code == 200
    assert client.session.session_key != before
    assert sign_in.HALF not in client.session


def test_half_way_is_forgotten_after_five_minutes(client: Client):
    make_guarded(timezone.now())
    knock(client)
    session = client.session
    session[sign_in.HALF] = {**session[sign_in.HALF], "at": timezone.now().timestamp() - 301}
    session.save()
    answer = client.post(CODE, {"code": code_at(timezone.now())})
    assert answer.status_code == 422
    assert "five minutes" in answer.content.decode()
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "!"}, {"sign_outs": 9}])
def test_half_way_is_void_once_the_door_was_changed(client: Client, change: Any):
    make_guarded(timezone.now())
    knock(client)
    Operator.objects.update(**change)
    assert client.post(CODE, {"code": code_at(timezone.now())}).status_code == 422
    assert client.get("/").status_code == 302


def test_the_code_page_alone_leads_back_to_the_door(client: Client):
    make_guarded(timezone.now())
    for answer in (client.get(CODE), client.post(CODE, {"code": code_at(timezone.now())})):
        assert answer.status_code == 422
        assert "Sign in again" in answer.content.decode()


def test_wrong_codes_count_as_wrong_passwords_do_and_the_right_password_forgives_none(
    client: Client,
):
    make_guarded(timezone.now())
    knock(client, "wrong")
    for _ in range(4):
        knock(client)
        assert client.post(CODE, {"code": "000000"}).status_code == 422
    answer = knock(client)
    assert answer.status_code == 429
    assert client.post(CODE, {"code": code_at(timezone.now())}).status_code == 429
    assert client.get("/").status_code == 302


def test_a_wrong_code_says_how_many_tries_are_left_and_is_written_down(client: Client):
    make_guarded(timezone.now())
    knock(client)
    answer = client.post(CODE, {"code": "000000"}).content.decode()
    assert "4 attempts left" in answer
    line = AuditEvent.objects.called("operator.sign_in_failed").get()
    assert (line.subject, str(line.why)) == ("name:mira", "the code was wrong")


# ── one's own page ────────────────────────────────────────────────────────


def secret_on(page: str) -> str:
    found = re.search(r'class="once">([A-Z2-7 ]+)<', page)
    assert found
    return found[1].replace(" ", "")


def test_it_is_switched_on_with_a_code_and_codes_are_shown_once(client: Client):
    mira = make_operator(username="mira")
    client.force_login(mira)
    page = client.get("/me/two-factor").content.decode()
    secret = secret_on(page)
    assert "<svg" in page
    assert secret_on(client.get("/me/two-factor").content.decode()) == secret
    assert client.post("/me/two-factor", {"code": "000000"}).status_code == 422
    assert not fresh(mira).has_two_factor
    answer = client.post("/me/two-factor", {"code": pyotp.TOTP(secret).now()})
    codes = re.findall(r'class="once">([a-z2-7-]{19})<', answer.content.decode())
    assert len(codes) == 10
    assert fresh(mira).has_two_factor
    again = client.get("/me/two-factor").content.decode()
    assert "10 of 10 left" in again
    assert not any(code in again for code in codes)
    assert secret not in again


def test_switching_it_on_signs_out_other_browsers_and_keeps_this_one(client: Client):
    mira, other = make_operator(username="mira"), Client()
    client.force_login(mira)
    other.force_login(mira)
    secret = secret_on(client.get("/me/two-factor").content.decode())
    client.post("/me/two-factor", {"code": pyotp.TOTP(secret).now()})
    assert client.get("/more").status_code == 200
    assert other.get("/more").status_code == 302


def test_the_secret_that_waits_in_the_session_is_sealed(client: Client):
    client.force_login(make_operator(username="mira"))
    secret = secret_on(client.get("/me/two-factor").content.decode())
    assert secret not in str(dict(client.session))


@pytest.mark.parametrize("place", ["/me/two-factor/off", "/me/two-factor/codes"])
def test_old_recovery_codes_end_with_new_ones_and_with_the_second_factor(
    client: Client, place: str
):
    mira, codes = make_guarded()
    client.force_login(fresh(mira))
    client.post(place)
    with pytest.raises(BadInput):
        two_factor._take_recovery(mira, codes[0], NOON)
    assert fresh(mira).has_two_factor == place.endswith("codes")


def test_an_administrator_helps_who_lost_everything(client: Client):
    mira, _ = make_guarded(timezone.now())
    client.force_login(make_operator(username="ada", role="admin"))
    client.post(reverse("surfaces:end_two_factor", args=[mira.pk]))
    assert not fresh(mira).has_two_factor
    assert not RecoveryCode.objects.exists()
    line = AuditEvent.objects.called("operator.two_factor_off").get()
    assert line.actor == "operator:ada"
    assert knock(Client()).url == "/"
