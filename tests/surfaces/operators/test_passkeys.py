"""Passkeys as a second factor: registered, asked for at sign-in, taken once, removed."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces.errors import BadInput
from surfaces.models import AuditEvent, InstanceSettings, Operator, Passkey, RecoveryCode
from surfaces.operators import passkeys
from tests.factories import make_operator
from tests.fakes.authenticator import Authenticator

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"
DOOR, CODE, NEW = "/sign-in", "/sign-in/code", "/me/passkeys/new"


def options_on(page: str) -> dict[str, Any]:
    found = re.search(r'data-options="([^"]*)"', page)
    assert found
    return dict(json.loads(html.unescape(found[1])))


def fresh(operator: Operator) -> Operator:
    return Operator.objects.get(pk=operator.pk)


def add(client: Client, key: Authenticator, name: str = "Laptop") -> Any:
    options = options_on(client.get(NEW).content.decode())
    return client.post(NEW, {"name": name, "credential": key.create(options)})


@pytest.fixture
def mira(client: Client) -> Operator:
    mira = make_operator(username="mira")
    client.force_login(mira)
    return mira


def half_way(client: Client) -> dict[str, Any]:
    """Give the password; return what the page asks the passkey for."""
    answer = client.post(DOOR, {"username": "mira", "password": RIGHT})
    assert answer.url == CODE
    return options_on(client.get(CODE).content.decode())


def test_the_first_passkey_switches_two_factor_on_and_shows_recovery_codes_once(
    client: Client, mira: Operator
):
    other = Client()
    other.force_login(mira)
    page = add(client, Authenticator()).content.decode()
    assert len(re.findall(r'class="once">([a-z2-7-]{19})<', page)) == 10
    assert fresh(mira).has_two_factor
    assert Passkey.objects.get().name == "Laptop"
    assert AuditEvent.objects.called("operator.passkey_added").by("mira").exists()
    assert client.get("/more").status_code == 200
    assert other.get("/more").status_code == 302
    assert "10 of 10 left" in client.get("/me/two-factor").content.decode()


def test_a_second_passkey_keeps_the_recovery_codes(client: Client, mira: Operator):
    add(client, Authenticator())
    kept = set(RecoveryCode.objects.values_list("digest", flat=True))
    add(client, Authenticator(), "Key ring")
    assert set(RecoveryCode.objects.values_list("digest", flat=True)) == kept
    assert [row.name for row in mira.passkeys.all()] == ["Laptop", "Key ring"]


def test_signing_in_asks_for_one_of_them(client: Client, mira: Operator):
    one, two = Authenticator(), Authenticator()
    add(client, one)
    add(client, two, "Key ring")
    browser = Client()
    options = half_way(browser)
    assert len(options["allowCredentials"]) == 2
    assert options["userVerification"] == "required"
    assert browser.get("/more").status_code == 302
    assert browser.post(CODE, {"credential": two.get(options)}).url == "/"
    assert browser.get("/more").status_code == 200
    assert Passkey.objects.get(name="Key ring").used_at is not None


def test_a_recovery_code_opens_where_the_passkey_is_lost(client: Client, mira: Operator):
    page = add(client, Authenticator()).content.decode()
    (code, *_rest) = re.findall(r'class="once">([a-z2-7-]{19})<', page)
    browser = Client()
    half_way(browser)
    assert browser.post(CODE, {"code": "123456"}).status_code == 422
    assert browser.post(CODE, {"code": code}).url == "/"


def test_an_answer_is_taken_once(client: Client, mira: Operator):
    key = Authenticator(counts=False)
    add(client, key)
    browser = Client()
    answer = key.get(half_way(browser))
    assert browser.post(CODE, {"credential": answer}).status_code == 302
    browser.post(reverse("surfaces:sign_out"))
    half_way(browser)
    assert browser.post(CODE, {"credential": answer}).status_code == 422
    assert browser.get("/more").status_code == 302


def test_of_answers_at_once_to_one_challenge_one_is_taken(client: Client, mira: Operator):
    """Each request read the session before another one had taken the challenge out."""
    key, browser = Authenticator(counts=False), Client()
    add(client, key)
    answer = key.get(half_way(browser))
    site, now = passkeys.Site.of("http", "testserver"), timezone.now()
    at_once = [dict(browser.session.items()) for _ in range(3)]
    passkeys.verify(mira, answer, site, at_once[0], now=now)
    for moment in (now, now - timedelta(milliseconds=1)):
        with pytest.raises(BadInput, match="answered already"):
            passkeys.verify(mira, answer, site, at_once.pop(), now=moment)


def test_a_passkey_used_while_the_clock_ran_ahead_still_opens(client: Client, mira: Operator):
    key = Authenticator()
    add(client, key)
    Passkey.objects.update(used_at=timezone.now() + timedelta(days=3650))
    browser = Client()
    assert browser.post(CODE, {"credential": key.get(half_way(browser))}).status_code == 302


def test_an_answer_nested_too_deeply_is_refused(client: Client, mira: Operator):
    client.get(NEW)
    assert client.post(NEW, {"name": "Deep", "credential": "[" * 19_000}).status_code == 422
    add(client, Authenticator())
    browser = Client()
    half_way(browser)
    assert browser.post(CODE, {"credential": "[" * 19_000}).status_code == 422


def test_an_answer_to_the_challenge_of_another_session_is_refused(client: Client, mira: Operator):
    key, mine, theirs = Authenticator(), Client(), Client()
    add(client, key)
    answer = key.get(half_way(mine))
    half_way(theirs)
    assert theirs.post(CODE, {"credential": answer}).status_code == 422


def test_a_wrong_answer_uses_the_challenge_up(client: Client, mira: Operator):
    key, browser = Authenticator(), Client()
    add(client, key)
    options = half_way(browser)
    assert browser.post(CODE, {"credential": "{}"}).status_code == 422
    assert browser.post(CODE, {"credential": key.get(options)}).status_code == 422
    options = options_on(browser.get(CODE).content.decode())
    assert browser.post(CODE, {"credential": key.get(options)}).status_code == 302


def test_a_challenge_of_a_registration_signs_nobody_in(client: Client, mira: Operator):
    key = Authenticator()
    add(client, key)
    options = options_on(client.get(NEW).content.decode())
    answer = key.get({"rpId": "testserver", "challenge": options["challenge"]})
    browser = Client()
    half_way(browser)
    assert browser.post(CODE, {"credential": answer}).status_code == 422


@pytest.mark.parametrize(
    "change", [{"origin": "https://evil.example"}, {"verifies": False}, {"key": None}]
)
def test_another_site_no_verification_or_another_key_is_refused(
    client: Client, mira: Operator, change: dict[str, Any]
):
    key, browser = Authenticator(), Client()
    add(client, key)
    for name, value in change.items():
        setattr(key, name, value if value is not None else Authenticator().key)
    assert browser.post(CODE, {"credential": key.get(half_way(browser))}).status_code == 422
    assert browser.get("/more").status_code == 302
    line = AuditEvent.objects.called("operator.sign_in_failed").get()
    assert str(line.why) == "the passkey was refused"


def test_a_passkey_without_verification_is_not_registered(client: Client, mira: Operator):
    assert add(client, Authenticator(verifies=False)).status_code == 422
    assert not Passkey.objects.exists()


def test_a_counter_that_did_not_grow_is_a_copy(client: Client, mira: Operator):
    key, browser = Authenticator(), Client()
    add(client, key)
    assert browser.post(CODE, {"credential": key.get(half_way(browser))}).status_code == 302
    browser.post(reverse("surfaces:sign_out"))
    key.count = 0
    answer = browser.post(CODE, {"credential": key.get(half_way(browser))})
    assert answer.status_code == 422
    assert "it may be a copy" in answer.content.decode()


@pytest.mark.parametrize(
    ("kept", "given", "is_copy"), [(0, 0, False), (0, 1, False), (5, 6, False), (5, 5, True),
                                   (5, 0, True)],
)  # fmt: skip
def test_a_counter_of_zero_is_none(kept: int, given: int, is_copy: bool):
    assert passkeys.is_copy(kept, given) == is_copy


def test_wrong_answers_count_as_wrong_codes_do(client: Client, mira: Operator):
    add(client, Authenticator())
    browser = Client()
    half_way(browser)
    statuses = [browser.post(CODE, {"credential": "{}"}).status_code for _ in range(6)]
    assert statuses == [422] * 5 + [429]


def test_a_passkey_of_somebody_else_opens_nothing(client: Client, mira: Operator):
    add(client, Authenticator())
    eves, eve = Client(), Authenticator()
    eves.force_login(make_operator(username="eve"))
    add(eves, eve)
    browser = Client()
    assert browser.post(CODE, {"credential": eve.get(half_way(browser))}).status_code == 422


def test_one_of_two_is_removed_and_with_the_last_one_two_factor_ends(
    client: Client, mira: Operator
):
    add(client, Authenticator())
    add(client, Authenticator(), "Key ring")
    first, second = mira.passkeys.all()
    client.post(reverse("surfaces:remove_passkey", args=[first.pk]))
    assert fresh(mira).has_two_factor
    assert RecoveryCode.objects.exists()
    client.post(reverse("surfaces:remove_passkey", args=[second.pk]))
    assert not fresh(mira).has_two_factor
    assert not RecoveryCode.objects.exists()


def test_nobody_removes_the_passkey_of_somebody_else(client: Client, mira: Operator):
    add(client, Authenticator())
    eve = Client()
    eve.force_login(make_operator(username="eve", role="admin"))
    eve.post(reverse("surfaces:remove_passkey", args=[Passkey.objects.get().pk]))
    assert Passkey.objects.exists()


@pytest.mark.parametrize("name", ["", " ", "x" * 61])
def test_a_passkey_needs_a_name(client: Client, mira: Operator, name: str):
    assert add(client, Authenticator(), name).status_code == 422
    assert not Passkey.objects.exists()


def test_two_passkeys_have_two_names(client: Client, mira: Operator):
    add(client, Authenticator())
    answer = add(client, Authenticator())
    assert answer.status_code == 422
    assert "There is a passkey Laptop already" in answer.content.decode()


# ── a second factor that a role requires ──────────────────────────────────


@pytest.fixture
def required(db: None) -> None:
    InstanceSettings.objects.create(pk=1, two_factor_moderators=True)


def test_who_lacks_a_required_factor_is_led_to_set_it_up_and_can_do_nothing_else(
    client: Client, required: None
):
    make_operator(username="mira")
    client.post(DOOR, {"username": "mira", "password": RIGHT})
    for path in ("/", "/desk/", "/me", "/ledger/", "/live/now"):
        assert client.get(path).url == "/me/two-factor", path
    assert client.post("/pause", {"what": "all:"}).url == "/me/two-factor"
    page = client.get("/me/two-factor").content.decode()
    assert "Your role requires two-factor" in page
    htmx = client.get("/desk/rows", headers={"HX-Request": "true"})
    assert htmx["HX-Redirect"] == "/me/two-factor"
    add(client, Authenticator())
    assert client.get("/more").status_code == 200
    assert client.post(reverse("surfaces:sign_out")).status_code == 302


def test_other_roles_need_none(client: Client, required: None):
    for role in ("viewer", "admin"):
        client.force_login(make_operator(role=role))
        assert client.get("/more").status_code == 200


def test_a_required_factor_is_not_switched_off_by_its_operator(client: Client, required: None):
    mira = make_operator(username="mira")
    client.force_login(mira)
    add(client, Authenticator())
    client.post(reverse("surfaces:two_factor_off"))
    client.post(reverse("surfaces:remove_passkey", args=[Passkey.objects.get().pk]))
    assert fresh(mira).has_two_factor
    client.force_login(make_operator(role="admin"))
    client.post(reverse("surfaces:end_two_factor", args=[mira.pk]))
    assert not fresh(mira).has_two_factor


def test_an_administrator_requires_it_in_the_settings(client: Client):
    client.force_login(make_operator(role="admin"))
    page = client.get(reverse("surfaces:house_settings")).content.decode()
    assert "Two-factor for moderators" in page


def test_asking_whether_a_role_requires_it_costs_no_query(
    client: Client, required: None, django_assert_num_queries: Any
):
    make_operator(username="mira", role="viewer")
    with django_assert_num_queries(1):
        mira = Operator.objects.get(username="mira")
        assert not mira.lacks_two_factor
