"""What could lock an operator out, or let somebody else in, asks for the password again."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces.models import ApiKey, AuditEvent, InstanceSettings, Operator
from surfaces.operators import two_factor
from surfaces.settings.forms import InstanceForm
from tests.factories import make_operator
from tests.surfaces.operators.test_two_factor import make_guarded
from tests.surfaces.settings.test_views import typed_house

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"
CONFIRMED = "password_confirmed_at"


def fresh(operator: Operator) -> Operator:
    return Operator.objects.get(pk=operator.pk)


def an_hour_later(client: Client) -> Client:
    """The password was given long ago."""
    session = client.session
    session[CONFIRMED] = timezone.now().timestamp() - 3600
    session.save()
    return client


@pytest.fixture
def ada(client: Client) -> Operator:
    ada = make_operator(username="ada", role="admin", email="ada@example.org")
    client.force_login(ada)
    an_hour_later(client)
    return ada


def hidden(page: str) -> dict[str, str]:
    form = page[page.index('id="main"') :]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))


def posted(page: str) -> dict[str, str]:
    """The hidden fields of the page that asks, as a browser sends them."""
    return {name: unescape(value) for name, value in hidden(page).items()}


def wrong_passwords(client: Client) -> list[int]:
    new = "quiet harbour lantern 9"
    given = {"old_password": "guess", "new_password1": new, "new_password2": new}
    place = reverse("surfaces:password")
    return ["attempt" in client.post(place, given).content.decode() for _ in range(5)]


def test_the_password_page_is_no_oracle(client: Client):
    mira = make_operator(username="mira")
    client.force_login(mira)
    wrong_passwords(client)
    new = "quiet harbour lantern 9"
    answer = client.post(
        reverse("surfaces:password"),
        {"old_password": RIGHT, "new_password1": new, "new_password2": new},
    )
    assert answer.status_code == 422
    assert "Too many wrong passwords. Wait 15 min" in answer.content.decode()
    assert fresh(mira).check_password(RIGHT)


ACTS: list[tuple[str, dict[str, Any]]] = [
    ("new_key", {"name": "report", "owner": "operator:{ada}", "scope": "read", "days": "90"}),
    ("new_operator", {"username": "nova", "role": "viewer"}),
    ("operator", {"role": "viewer"}),
    ("deactivate", {}),
    ("reset_password", {}),
    ("end_two_factor", {}),
    ("sign_out_operator", {}),
]


@pytest.mark.parametrize(("view", "given"), ACTS, ids=[view for view, _ in ACTS])
def test_an_administrators_act_asks_for_the_password_and_keeps_what_was_typed(
    client: Client, ada: Operator, view: str, given: Any
):
    mira, _codes = make_guarded(timezone.now())
    before = Operator.objects.filter(pk=mira.pk).values().get()
    args = [mira.pk] if view not in {"new_key", "new_operator"} else []
    place = reverse(f"surfaces:{view}", args=args)
    sent = {name: value.format(ada=ada.pk) for name, value in given.items()}
    page = client.post(place, sent)
    assert "Confirm your password" in page.content.decode()
    assert Operator.objects.filter(pk=mira.pk).values().get() == before
    assert Operator.objects.count() == 2
    assert not ApiKey.objects.exists()
    kept = hidden(page.content.decode())
    assert sent.items() <= kept.items()
    done = client.post(place, kept | {"confirm_password": RIGHT}, follow=True)
    assert "Confirm your password" not in done.content.decode()
    is_changed = Operator.objects.filter(pk=mira.pk).values().get() != before
    assert is_changed or ApiKey.objects.exists() or Operator.objects.count() == 3


@pytest.mark.parametrize("name", ["two_factor_off", "renew_codes"])
def test_what_weakens_ones_own_second_factor_asks_for_the_password(client: Client, name: str):
    mira, _codes = make_guarded()
    client.force_login(fresh(mira))
    an_hour_later(client)
    place = reverse(f"surfaces:{name}")
    assert "Confirm your password" in client.post(place).content.decode()
    answer = client.post(place, {"confirm_password": "wrong"})
    assert answer.status_code == 422
    assert "The password is wrong. 4 attempts left" in answer.content.decode()
    assert two_factor.codes_left(mira) == 10
    assert fresh(mira).has_two_factor
    client.post(place, {"confirm_password": RIGHT})
    assert fresh(mira).has_two_factor == (name == "renew_codes")


def test_switching_the_second_factor_on_asks_for_the_password(client: Client, ada: Operator):
    client.get("/me/two-factor")
    assert "Confirm your password" in client.post("/me/two-factor", {"code": "1"}).content.decode()
    assert not fresh(ada).has_two_factor


def test_a_new_passkey_asks_before_its_page_and_leads_to_it(client: Client, ada: Operator):
    place = reverse("surfaces:add_passkey")
    page = client.get(place).content.decode()
    assert "Confirm your password" in page
    assert "challenge" not in page
    answer = client.post(place, hidden(page) | {"confirm_password": RIGHT})
    assert answer.url == place
    assert "challenge" in client.get(place).content.decode()


def test_another_mail_address_asks_and_another_language_does_not(client: Client, ada: Operator):
    place = reverse("surfaces:profile")
    same = {"first_name": "", "last_name": "", "email": ada.email, "time_zone": "UTC"}
    assert client.post(place, same | {"language": "en"}).status_code == 302
    page = client.post(place, same | {"email": "eve@example.org"}).content.decode()
    assert "Confirm your password" in page
    assert fresh(ada).email == "ada@example.org"
    client.post(place, hidden(page) | {"confirm_password": RIGHT})
    assert fresh(ada).email == "eve@example.org"


def test_whether_a_role_requires_a_second_factor_asks_and_other_settings_do_not(
    client: Client, ada: Operator
):
    place = reverse("surfaces:house_settings")
    typed = typed_house(language="zh-hans")
    assert client.post(place, typed).status_code == 302
    typed |= {"seen": InstanceForm(InstanceSettings.objects.get()).seen}
    page = client.post(place, typed | {"two_factor_viewers": "on"}).content.decode()
    assert "Confirm your password" in page
    assert not InstanceSettings.objects.get().two_factor_viewers
    assert client.post(place, posted(page) | {"confirm_password": RIGHT}).status_code == 302
    assert InstanceSettings.objects.get().two_factor_viewers
    an_hour_later(client)
    line = AuditEvent.objects.latest("pk").pk
    page = client.post(reverse("surfaces:undo_house"), {"line": line}).content.decode()
    assert "Confirm your password" in page
    assert InstanceSettings.objects.get().two_factor_viewers


def test_a_confirmed_password_counts_for_five_minutes_and_until_the_sign_out(
    client: Client, ada: Operator
):
    place = reverse("surfaces:new_operator")
    page = hidden(client.post(place, {"username": "nova", "role": "viewer"}).content.decode())
    client.post(place, page | {"confirm_password": RIGHT})
    assert client.post(place, {"username": "nils", "role": "viewer"}).status_code == 200
    assert Operator.objects.filter(username="nils").exists()
    session = client.session
    session[CONFIRMED] -= 301
    session.save()
    client.post(place, {"username": "noor", "role": "viewer"})
    assert not Operator.objects.filter(username="noor").exists()
    client.post(reverse("surfaces:sign_out"))
    assert CONFIRMED not in client.session


def test_signing_in_counts_as_giving_the_password(client: Client):
    make_operator(username="ada", role="admin")
    client.post("/sign-in", {"username": "ada", "password": RIGHT})
    client.post(reverse("surfaces:new_operator"), {"username": "nova", "role": "viewer"})
    assert Operator.objects.filter(username="nova").exists()


def test_htmx_gets_the_whole_page_that_asks(client: Client, ada: Operator):
    answer = client.post(
        reverse("surfaces:new_operator"),
        {"username": "nova", "role": "viewer"},
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 200
    assert answer["HX-Retarget"] == "body"


def test_five_wrong_passwords_end_the_asking(client: Client, ada: Operator):
    place = reverse("surfaces:new_operator")
    given = {"username": "nova", "role": "viewer", "confirm_password": "wrong"}
    assert [client.post(place, given).status_code for _ in range(6)] == [422] * 5 + [429]
    assert client.post(place, given | {"confirm_password": RIGHT}).status_code == 429
    assert not Operator.objects.filter(username="nova").exists()


def test_what_was_typed_is_escaped_on_the_page_that_asks(client: Client, ada: Operator):
    typed = '"><script>alert(1)</script>'
    page = client.post(reverse("surfaces:new_operator"), {"username": typed, "role": "viewer"})
    assert "<script>alert" not in page.content.decode()


@pytest.mark.parametrize("away", ["javascript:alert(1)", "//evil.example", "https://evil.example"])
def test_cancel_leads_to_a_page_of_ours_only(client: Client, ada: Operator, away: str):
    given = {"username": "nova", "role": "viewer", "confirm_back": away}
    page = client.post(reverse("surfaces:new_operator"), given).content.decode()
    assert "Confirm your password" in page
    assert f'href="{away}"' not in page
