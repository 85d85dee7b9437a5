"""The pages of operators, as an administrator and as somebody else asks for them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces.models import AuditEvent, Operator
from tests.factories import make_account, make_agent, make_operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def page(client: Client, name: str, *args: Any, status: int = 200) -> str:
    answer = client.get(reverse(f"surfaces:{name}", args=args))
    assert answer.status_code == status
    return answer.content.decode()


def test_the_list_says_role_limits_and_two_factor(admin: Client):
    place = make_account().surface
    nova = make_operator(username="nova", first_name="Nova", agents=["iris"])
    nova.surfaces.add(place)
    make_operator(username="old", is_active=False)
    shown = page(admin, "operators")
    for words in ("Nova", "Moderator", place.name, "iris", "deactivated", "never"):
        assert words in shown


def test_the_queries_of_the_list_do_not_grow_with_its_rows(admin: Client):
    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            page(admin, "operators")
        return len(found)

    few = asked()
    for _ in range(20):
        make_operator().surfaces.add(make_account().surface)
    assert asked() == few
    assert few <= 12


def test_a_password_to_hand_over_stands_on_one_answer_only(admin: Client):
    make_agent(slug="iris")
    posted = {"username": "nova", "name": "Nova", "role": "moderator", "agents": ["iris"]}
    answer = admin.post(reverse("surfaces:new_operator"), posted)
    assert answer.status_code == 200
    password = re.search(r'class="once">([^<]+)<', answer.content.decode())
    assert password
    nova = Operator.objects.get(username="nova")
    assert nova.check_password(password[1])
    assert password[1] not in page(admin, "operator", nova.pk)
    assert password[1] not in page(admin, "ledger")


def test_what_is_not_usable_is_said_and_kept(admin: Client):
    posted = {"username": "ada", "name": "Again", "role": "moderator"}
    answer = admin.post(reverse("surfaces:new_operator"), posted)
    assert answer.status_code == 422
    assert "There is an operator ada already" in answer.content.decode()
    assert 'value="Again"' in answer.content.decode()


def test_a_change_is_saved_offered_back_and_set_back(admin: Client):
    nova = make_operator(username="nova")
    here = reverse("surfaces:operator", args=[nova.pk])
    seen = re.search(r'name="seen" value="([^"]*)"', page(admin, "operator", nova.pk))
    assert seen
    answer = admin.post(here, {"role": "viewer", "seen": seen[1]}, follow=True)
    assert "Saved. This applies from" in answer.content.decode()
    line = AuditEvent.objects.called("operator.changed").get()
    admin.post(reverse("surfaces:undo_operator", args=[nova.pk]), {"line": line.pk})
    nova.refresh_from_db()
    assert nova.role == "moderator"
    answer = admin.post(here, {"role": "admin", "seen": "role=000000000000"})
    assert answer.status_code == 422
    assert "Changed after you opened this page" in answer.content.decode()


@pytest.mark.parametrize("act", ["deactivate", "sign_out_operator", "reset_password"])
def test_acts_are_written_down(admin: Client, act: str):
    nova = make_operator(username="nova")
    admin.post(reverse(f"surfaces:{act}", args=[nova.pk]))
    written = {"deactivate": "operator.deactivated", "sign_out_operator": "operator.signed_out",
               "reset_password": "operator.password_reset"}  # fmt: skip
    line = AuditEvent.objects.called(written[act]).get()
    assert (line.actor, line.subject) == ("operator:ada", f"operator:{nova.pk}")


def test_locking_out_can_be_undone_at_once(admin: Client):
    nova = make_operator(username="nova")
    answer = admin.post(reverse("surfaces:deactivate", args=[nova.pk]), follow=True)
    assert reverse("surfaces:reactivate", args=[nova.pk]) in answer.content.decode()
    admin.post(reverse("surfaces:reactivate", args=[nova.pk]))
    nova.refresh_from_db()
    assert nova.is_active


@pytest.mark.parametrize("role", ["viewer", "moderator"])
@pytest.mark.parametrize(
    "name",
    ["operators", "new_operator", "operator", "undo_operator", "deactivate", "reactivate",
     "sign_out_operator", "reset_password", "end_two_factor", "keys", "new_key", "revoke_key"],
)  # fmt: skip
def test_nobody_but_administrators_comes_near(client: Client, name: str, role: str):
    nova = make_operator(username="nova")
    client.force_login(make_operator(role=role))
    single = {"operators", "new_operator", "keys", "new_key"}
    place = reverse(f"surfaces:{name}", args=[] if name in single else [nova.pk])
    assert client.post(place).status_code in {403, 405}
    assert client.get(place).status_code in {403, 405}
    nova.refresh_from_db()
    assert nova.is_active


def test_ones_own_page_tells_ones_limits_and_keeps_ones_language(client: Client):
    mira = make_operator(username="mira", agents=["iris"])
    client.force_login(mira)
    assert "Your access is limited" in page(client, "profile")
    client.post(reverse("surfaces:profile"), {"time_zone": "UTC", "language": "zh-hans"})
    mira.refresh_from_db()
    assert mira.language == "zh-hans"
    refused = client.post(reverse("surfaces:profile"), {"time_zone": "UTC", "language": "xx"})
    assert refused.status_code == 422


def test_saving_ones_page_writes_nothing_else(client: Client):
    """Somebody locked out while the form was open is not let in by saving it."""
    mira = make_operator(username="mira")
    client.force_login(mira)
    form = {"first_name": "Mira", "time_zone": "Europe/Berlin"}
    with CaptureQueriesContext(connection) as asked:
        client.post(reverse("surfaces:profile"), form)
    [written] = [q["sql"] for q in asked if q["sql"].startswith('UPDATE "surfaces_operator"')]
    assert '"time_zone"' in written
    assert '"is_active"' not in written
    mira.refresh_from_db()
    assert (mira.first_name, mira.time_zone) == ("Mira", "Europe/Berlin")


def test_a_page_for_administrators_says_that_and_a_deed_says_that_it_was_not_done(desk: Client):
    page = desk.get(reverse("surfaces:operators"))
    assert "Only administrators can open this page." in page.content.decode()
    done = desk.post(reverse("surfaces:house_settings"), {"name": "x"})
    assert "Only administrators can do this." in done.content.decode()
