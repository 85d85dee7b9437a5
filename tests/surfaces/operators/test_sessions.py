"""Where an operator is signed in, and signing out elsewhere."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surfaces.live.authorization import authorized
from surfaces.models import AuditEvent, Operator, OperatorSession
from surfaces.operators import services, sessions
from tests.factories import make_operator

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"


def browser(agent: str = FIREFOX, address: str = "203.0.113.5", name: str = "mira") -> Client:
    client = Client(headers={"User-Agent": agent})
    given = {"username": name, "password": RIGHT}
    assert client.post("/sign-in", given, REMOTE_ADDR=address).status_code == 302
    return client


def page_of(client: Client) -> str:
    return str(client.get(reverse("surfaces:sessions")).content.decode())


def names_on(page: str) -> list[str]:
    return re.findall(r'name="session" value="([0-9a-f]+)"', page)


@pytest.fixture
def mira(db: None) -> Operator:
    return make_operator(username="mira")


def test_every_browser_is_listed_with_its_network_and_nobody_elses(mira: Operator):
    here = browser()
    browser(CHROME, "198.51.100.7")
    make_operator(username="eve")
    browser("curl/8", "192.0.2.9", "eve")
    page = page_of(here)
    for words in ("Firefox, Linux", "203.0.113.5", "Chrome, Windows", "198.51.100.7"):
        assert words in page
    assert "192.0.2.9" not in page
    assert page.count("this browser") == 1


def test_the_page_does_not_show_what_signs_in(mira: Operator):
    here, _there = browser(), browser(CHROME)
    page = page_of(here)
    for row in OperatorSession.objects.all():
        assert row.session_key not in page


def test_one_browser_is_signed_out_and_the_others_stay(mira: Operator):
    here, there, third = browser(), browser(CHROME), browser(CHROME, "192.0.2.3")
    row = OperatorSession.objects.get(pk=there.session.session_key)
    here.post(reverse("surfaces:end_session"), {"session": sessions.name_of(row)})
    assert there.get("/more").status_code == 302
    assert here.get("/more").status_code == third.get("/more").status_code == 200
    line = AuditEvent.objects.called("operator.session_ended").get()
    assert line.facts == {"browser": "Chrome, Windows", "network": "203.0.113.5"}


def test_sign_out_elsewhere_keeps_this_browser_only(mira: Operator):
    here, there = browser(), browser(CHROME)
    here.post(reverse("surfaces:end_other_sessions"))
    assert there.get("/more").status_code == 302
    assert here.get("/more").status_code == 200
    assert names_on(page_of(here)) == []


def test_nobody_signs_somebody_else_out(mira: Operator):
    here = browser()
    make_operator(username="eve", role="admin")
    eve = browser(name="eve")
    row = OperatorSession.objects.get(pk=here.session.session_key)
    eve.post(reverse("surfaces:end_session"), {"session": sessions.name_of(row)})
    assert here.get("/more").status_code == 200


def test_the_browser_in_use_is_signed_out_in_the_menu_only(mira: Operator):
    here = browser()
    row = OperatorSession.objects.get(pk=here.session.session_key)
    here.post(reverse("surfaces:end_session"), {"session": sessions.name_of(row)})
    assert "Sign out in the menu" in here.get("/more").content.decode()


@pytest.mark.parametrize("act", ["deactivate", "sign_out_everywhere", "reset_password"])
def test_an_administrator_ends_every_session_of_somebody(mira: Operator, act: str):
    there, ada = browser(), make_operator(username="ada", role="admin")
    getattr(services, act)(mira, by=ada)
    assert not OperatorSession.objects.filter(operator=mira).exists()
    assert there.get("/more").status_code == 302


def test_a_session_that_ended_otherwise_is_not_listed(mira: Operator):
    here = browser()
    browser(CHROME)
    Operator.objects.update(sign_outs=3)
    assert here.get("/more").status_code == 302
    assert page_of(browser()).count("<tr>") == 2  # the head, and this one


def test_a_session_that_ends_closes_its_stream(mira: Operator):
    here, there = browser(), browser(CHROME)
    places = [(mira.pk, client.session.session_key) for client in (here, there)]
    now = timezone.now()
    assert set(authorized(places, now)) == set(places)
    here.post(reverse("surfaces:end_other_sessions"))
    kept = (mira.pk, here.session.session_key)
    assert set(authorized([*places, kept], now)) == {kept}


@pytest.mark.django_db(transaction=True)
def test_a_session_that_ends_is_announced_to_open_pages():
    mira = make_operator(username="mira")
    there = browser(CHROME)
    with connection.cursor() as cursor:
        cursor.execute("LISTEN colloquy")
        OperatorSession.objects.filter(pk=there.session.session_key).delete()
        heard = [note.payload for note in connection.connection.notifies(timeout=2, stop_after=1)]
        cursor.execute("UNLISTEN colloquy")
    assert heard == ["session"]
    assert not mira.sessions.exists()


def test_when_a_session_was_seen_is_written_every_five_minutes_and_costs_else_nothing(
    mira: Operator,
):
    here = browser()
    key = here.session.session_key

    def writes() -> list[str]:
        with CaptureQueriesContext(connection) as found:
            here.get("/more", REMOTE_ADDR="198.51.100.44")
        said = [query["sql"] for query in found.captured_queries]
        return [sql for sql in said if "operatorsession" in sql and sql.startswith("UPDATE")]

    here.get("/more")
    assert writes() == []
    OperatorSession.objects.update(seen_at=timezone.now() - timedelta(minutes=6))
    assert len(writes()) == 1
    row = OperatorSession.objects.get(pk=key)
    assert row.seen_at > timezone.now() - timedelta(minutes=1)
    assert row.network == "198.51.100.44"
    assert writes() == []


def test_a_new_key_of_a_session_keeps_what_is_known_of_it(mira: Operator):
    here = browser()
    made = OperatorSession.objects.get(pk=here.session.session_key).made_at
    new = "quiet harbour lantern 9"
    here.post(
        reverse("surfaces:password"),
        {"old_password": RIGHT, "new_password1": new, "new_password2": new},
    )
    row = OperatorSession.objects.get(pk=here.session.session_key)
    assert (row.operator, row.browser, row.made_at) == (mira, "Firefox, Linux", made)


def test_a_session_that_was_ended_is_not_written_again(mira: Operator):
    here: Any = browser()
    session = here.session
    session["something"] = 1
    OperatorSession.objects.all().delete()
    with pytest.raises(UpdateError):
        session.save()
    assert not OperatorSession.objects.exists()
