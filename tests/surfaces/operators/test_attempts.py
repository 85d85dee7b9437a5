"""Guesses are capped per account over all networks; a known browser is not held up by them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces.errors import NotAllowed
from surfaces.models import Notice, Operator, SignInAttempt
from surfaces.notices import rounds
from surfaces.operators import attempts, two_factor
from tests.factories import make_operator

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
DOOR, CODE = "/sign-in", "/sign-in/code"


def knock(client: Client, password: str = RIGHT, address: str = "192.0.2.1") -> Any:
    given = {"username": "mira", "password": password}
    return client.post(DOOR, given, REMOTE_ADDR=address)


def guarded() -> tuple[Operator, list[str]]:
    mira, then = make_operator(username="mira"), timezone.now() - timedelta(hours=1)
    return mira, two_factor.switch_on(mira, SECRET, pyotp.TOTP(SECRET).at(then), now=then)


def guess_passwords(number: int) -> list[int]:
    """From as many networks: the statuses."""
    guesses = (knock(Client(), f"wrong {n}", f"198.51.100.{n}") for n in range(number))
    return [answer.status_code for answer in guesses]


def test_of_40_passwords_from_40_networks_10_are_looked_at():
    make_operator(username="mira")
    statuses = guess_passwords(40)
    assert statuses.count(422) == 10
    assert statuses.count(429) == 30


def test_of_111_codes_from_22_networks_10_are_looked_at():
    guarded()
    looked_at = 0
    for number in range(111):
        client, address = Client(), f"198.51.100.{number % 22}"
        if knock(client, address=address).status_code != 302:
            continue
        answer = client.post(CODE, {"code": f"{number:06}"}, REMOTE_ADDR=address)
        looked_at += answer.status_code == 422
    assert looked_at == 10


def test_of_40_recovery_codes_from_40_networks_10_are_looked_at():
    guarded()
    looked_at = 0
    for number in range(40):
        client, address = Client(), f"198.51.100.{number}"
        if knock(client, address=address).status_code == 302:
            answer = client.post(CODE, {"code": "mfra-ggzd-fmzt-qn3x"}, REMOTE_ADDR=address)
            looked_at += answer.status_code == 422
    assert looked_at == 10


def test_a_name_that_nobody_has_is_capped_the_same():
    assert guess_passwords(12).count(429) == 2


def test_guesses_elsewhere_do_not_keep_a_known_browser_out():
    make_operator(username="mira")
    known = Client()
    assert knock(known, address="203.0.113.5").status_code == 302
    known.post(reverse("surfaces:sign_out"))
    guess_passwords(40)
    assert knock(Client(), address="203.0.113.77").status_code == 429
    # The same browser in another place, and another browser in the same place.
    assert knock(known, address="203.0.113.99").status_code == 302
    assert knock(Client(), address="203.0.113.5").status_code == 302


def test_guesses_from_the_network_of_a_known_browser_do_not_keep_it_out():
    make_operator(username="mira")
    known = Client()
    knock(known)
    known.post(reverse("surfaces:sign_out"))
    for number in range(30):
        knock(Client(), f"wrong {number}")
    assert knock(Client()).status_code == 429
    assert knock(known).status_code == 302


def test_a_session_goes_on_while_somebody_guesses():
    make_operator(username="mira")
    known = Client()
    knock(known)
    guess_passwords(40)
    assert known.get("/more").status_code == 200


def test_a_known_browser_guesses_no_more_than_any_other():
    make_operator(username="mira")
    known = Client()
    knock(known)
    known.post(reverse("surfaces:sign_out"))
    statuses = [knock(known, "wrong", f"198.51.100.{number}").status_code for number in range(40)]
    assert statuses.count(422) == 5


def test_the_cookie_of_a_known_browser_helps_nobody_else():
    make_operator(username="mira")
    make_operator(username="eve")
    eves = Client()
    eves.post(DOOR, {"username": "eve", "password": RIGHT})
    eves.post(reverse("surfaces:sign_out"))
    guess_passwords(40)
    assert knock(eves).status_code == 429


@pytest.mark.parametrize(("failures", "minutes"), [(9, 0), (10, 1), (20, 4), (40, 60), (999, 60)])
def test_the_wait_doubles_with_every_5_failures_up_to_an_hour(failures: int, minutes: int):
    from surfaces.operators import attempts

    assert attempts.wait_after(failures) == timedelta(minutes=minutes)


def test_a_right_password_after_the_wait_opens():
    make_operator(username="mira")
    guess_passwords(12)
    SignInAttempt.objects.update(at=timezone.now() - timedelta(seconds=61))
    assert knock(Client()).status_code == 302


def test_the_operator_is_told_of_failed_sign_ins_on_the_next_page():
    make_operator(username="mira")
    guess_passwords(8)
    client = Client()
    assert knock(client, address="203.0.113.5").status_code == 302
    words = "8 failed sign-ins to your account since you signed in last."
    assert words in client.get("/more").content.decode()
    assert words not in client.get("/more").content.decode()


def test_the_operator_and_nobody_else_is_told_of_failed_sign_ins_by_notice():
    mira, eve = make_operator(username="mira"), make_operator(username="eve", role="admin")
    rounds.prepare(timezone.now())
    guess_passwords(8)
    for _ in range(2):
        rounds.prepare(timezone.now())
    notice = Notice.objects.get(reason="sign_in")
    assert notice.operator == mira
    assert str(notice.words) == "8 failed sign-ins to your account within a day."
    client = Client()
    client.force_login(mira)
    assert "8 failed sign-ins" in client.get(reverse("surfaces:notices")).content.decode()
    client.force_login(eve)
    assert "8 failed sign-ins" not in client.get(reverse("surfaces:notices")).content.decode()


def test_a_limited_operator_hears_of_their_own_sign_ins():
    mira = make_operator(username="mira", agents=["nobody"])
    rounds.prepare(timezone.now())
    guess_passwords(8)
    rounds.prepare(timezone.now())
    assert Notice.objects.on_page(mira).unread().within_reach(mira).count() == 1


def test_a_sign_in_from_a_new_browser_or_network_is_told_and_the_first_one_is_not():
    mira = make_operator(username="mira")
    rounds.prepare(timezone.now())
    client = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
    for address in ("203.0.113.5", "203.0.113.5", "203.0.113.6"):
        knock(client, address=address)
        client.post(reverse("surfaces:sign_out"))
    rounds.prepare(timezone.now())
    notice = Notice.objects.get(operator=mira, reason="sign_in")
    assert str(notice.words) == "New sign-in to your account: Firefox, Linux, network 203.0.113.6."
    knock(Client(), address="203.0.113.6")
    rounds.prepare(timezone.now())
    assert Notice.objects.filter(operator=mira, reason="sign_in").count() == 2


@pytest.mark.parametrize(("counted_by", "minutes_ago"), [("network", 1), ("origin", 20)])
def test_failures_that_a_right_attempt_deletes_meanwhile_break_nothing(
    counted_by: str, minutes_ago: int
):
    """5 in the last quarter of an hour are too many for one network, 12 in a day for one name."""
    now = timezone.now()
    at = now - timedelta(minutes=minutes_ago)
    make_operator(username="mira")
    for number in range(12):
        SignInAttempt.objects.create(
            username="mira", network="198.51.100.7", at=at + timedelta(seconds=number)
        )

    def delete_after_count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if "COUNT" in sql and f'"{counted_by}" =' in sql:
            SignInAttempt.objects.all().delete()
        return found

    with connection.execute_wrapper(delete_after_count), suppress(NotAllowed):
        attempts.begin("mira", address="198.51.100.7", browser="", now=now)
