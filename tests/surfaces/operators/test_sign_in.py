from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse

from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Operator, SignInAttempt
from surfaces.operators import attempts, sign_in
from surfaces.web.views import errors as views_errors
from tests.factories import NOON, make_operator

pytestmark = pytest.mark.django_db
RIGHT = "a good long password"


def knock(client: Client, password: str, name: str = "mira", **extra: Any) -> Any:
    return client.post(
        reverse("surfaces:sign_in"), {"username": name, "password": password}, **extra
    )


def test_the_right_password_opens_and_leads_where_one_wanted_to_go(client: Client):
    make_operator(username="mira")
    response = client.post(
        reverse("surfaces:sign_in"),
        {"username": "mira", "password": RIGHT, "next": "/ledger/?actor=mira"},
    )
    assert response.url == "/ledger/?actor=mira"
    assert client.get("/ledger/").status_code == 200


@pytest.mark.parametrize("away", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_the_door_leads_nowhere_else(client: Client, away: str):
    make_operator(username="mira")
    response = client.post(
        reverse("surfaces:sign_in"), {"username": "mira", "password": RIGHT, "next": away}
    )
    assert response.url == "/"


def test_every_page_but_the_door_and_the_pulse_asks_who_you_are(client: Client):
    for path in ("/", "/ledger/", "/surfaces/", "/spam-filter/", "/me", "/more", "/messages/"):
        response = client.get(path)
        assert response.status_code == 302, path
        assert response.url.startswith("/sign-in?next="), path
    assert client.get("/healthz").status_code == 200


def test_a_wrong_name_and_a_wrong_password_sound_the_same(client: Client):
    make_operator(username="mira")
    wrong = knock(client, "wrong").content.decode()
    unknown = knock(client, "wrong", name="nobody").content.decode()
    assert "Name or password is wrong. 4 attempts left" in wrong
    assert "Name or password is wrong. 4 attempts left" in unknown


def test_after_five_wrong_passwords_even_the_right_one_waits(client: Client):
    make_operator(username="mira")
    for _ in range(5):
        assert knock(client, "wrong").status_code == 422
    response = knock(client, RIGHT)
    assert response.status_code == 429
    assert "Wait 15 min" in response.content.decode()


def test_the_wait_is_for_that_name_from_that_place_only(client: Client):
    make_operator(username="mira")
    make_operator(username="jonas")
    for _ in range(6):
        knock(client, "wrong")
    assert knock(client, RIGHT, name="jonas").status_code == 302
    assert knock(Client(), RIGHT, REMOTE_ADDR="198.51.100.7").status_code == 302


def test_writing_the_name_differently_does_not_give_more_tries(client: Client):
    make_operator(username="mira")
    for name in ("mira", "MIRA", " mira ", "Mira", "miRa"):
        knock(client, "wrong", name=name)
    assert knock(client, RIGHT).status_code == 429


def test_one_place_cannot_try_every_name():
    for number in range(25):
        with pytest.raises(BadInput):
            _try(f"name{number}", minutes=0)
    with pytest.raises(NotAllowed, match="Wait 15 min"):
        _try("name26", minutes=0)


def test_the_wait_ends_and_asking_meanwhile_does_not_prolong_it():
    make_operator(username="mira")
    for _ in range(5):
        with pytest.raises(BadInput):
            _try("mira", minutes=0)
    for minute in range(1, 15):
        with pytest.raises(NotAllowed, match=f"Wait {15 - minute} min"):
            _try("mira", minutes=minute)
    assert _try("mira", minutes=16, password=RIGHT).username == "mira"
    assert not SignInAttempt.objects.filter(username="mira", at__gt=NOON).exists()


def _try(name: str, *, minutes: int, password: str = "wrong") -> Operator:
    return sign_in.sign_in(
        None,  # type: ignore[arg-type]
        username=name,
        password=password,
        address="192.0.2.1",
        now=NOON + timedelta(minutes=minutes),
    )


def test_neighbours_in_one_ipv6_network_are_one_place():
    assert attempts.network_of("2001:db8::1") == attempts.network_of("2001:db8::ffff:1")
    assert attempts.network_of("2001:db8::1") != attempts.network_of("2001:db8:0:1::1")
    assert attempts.network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert attempts.network_of("rubbish") == "unknown"


def test_signing_out_takes_a_form(desk: Client):
    assert desk.get(reverse("surfaces:sign_out")).status_code == 405
    assert desk.post(reverse("surfaces:sign_out")).status_code == 302
    assert desk.get("/").status_code == 302


def test_a_fragment_asked_for_after_the_session_ended_leads_to_the_door(client: Client):
    response = client.get(
        "/sign-in?next=/drafts/5/approve",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/drafts/"},
    )
    assert response["HX-Redirect"] == "/sign-in?next=%2Fdrafts%2F"


def test_changing_the_password_ends_the_first_one_and_keeps_this_browser(client: Client):
    operator = make_operator(username="admin", role="admin", has_first_password=True)
    client.force_login(operator)
    new = "quiet harbour lantern 9"
    response = client.post(
        reverse("surfaces:password"),
        {"old_password": RIGHT, "new_password1": new, "new_password2": new},
    )
    assert response.status_code == 302
    operator.refresh_from_db()
    assert operator.check_password(new)
    assert not operator.has_first_password
    assert client.get("/").status_code == 200
    assert AuditEvent.objects.called("operator.changed_password").by("admin").exists()


def test_a_refused_password_says_why_and_changes_nothing(desk: Client, operator: Operator):
    response = desk.post(
        reverse("surfaces:password"),
        {"old_password": "no", "new_password1": "short", "new_password2": "other"},
    )
    assert response.status_code == 422
    assert "Not saved" in response.content.decode()
    operator.refresh_from_db()
    assert operator.check_password(RIGHT)


def test_times_are_shown_in_the_operators_zone(desk: Client, operator: Operator):
    AuditEvent.objects.record("draft.approved", actor="operator:mira", subject="draft:1")
    AuditEvent.objects.get()
    desk.post(
        reverse("surfaces:profile"),
        {"first_name": "Mira", "last_name": "", "email": "", "time_zone": "Asia/Kathmandu"},
    )
    operator.refresh_from_db()
    assert operator.time_zone == "Asia/Kathmandu"
    assert "+0545" in desk.get("/ledger/").content.decode()


def test_a_zone_that_does_not_exist_is_refused(desk: Client, operator: Operator):
    response = desk.post(reverse("surfaces:profile"), {"time_zone": "Mars/Olympus"})
    assert response.status_code == 422
    operator.refresh_from_db()
    assert operator.time_zone == "UTC"


def test_the_pulse_says_when_the_database_is_gone(client: Client, monkeypatch: Any):
    assert client.get("/healthz").json() == {"ok": True, "database": "reached"}

    def gone(*args: object) -> None:
        raise DatabaseError

    monkeypatch.setattr(connection, "cursor", gone)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["ok"] is False


def test_errors_have_our_face_and_need_no_database(client: Client, settings: Any):

    assert "Page not found" in client.get("/nothing/at/all").content.decode()
    page = views_errors.broken(None)  # type: ignore[arg-type]
    assert page.status_code == 500
    assert b"Internal error" in page.content


def test_a_form_without_its_safety_mark_is_refused_with_a_sentence():
    make_operator(username="mira")
    response = Client(enforce_csrf_checks=True).post("/sign-in", {"username": "mira"})
    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()


# ── the administration ────────────────────────────────────────────────────


def test_the_administration_has_no_door_of_its_own(client: Client):
    assert client.get("/admin/login/?next=/admin/").url == "/sign-in?next=%2Fadmin%2F"
    client.force_login(make_operator(role="moderator", is_staff=True))
    assert client.get("/admin/", follow=True).status_code == 403


def test_administrators_only_look_at_rows_there(client: Client):
    client.force_login(make_operator(username="ada", role="admin"))
    mira = make_operator(username="mira", role="viewer")
    for name in ("auditevent", "message", "draft", "watchround", "ratelimitwindow", "account",
                 "operator", "apikey"):  # fmt: skip
        assert client.get(f"/admin/surfaces/{name}/").status_code == 200, name
        assert client.get(f"/admin/surfaces/{name}/add/").status_code == 403, name
    place = f"/admin/surfaces/operator/{mira.pk}/change/"
    shown = client.get(place).content.decode()
    assert mira.password not in shown
    assert client.post(place, {"role": "admin"}).status_code == 403
    mira.refresh_from_db()
    assert mira.role == "viewer"


# ── the first operator ────────────────────────────────────────────────────


def test_a_fresh_machine_gets_an_administrator_with_a_password(client: Client, capsys: Any):
    password = call_command("first_operator")
    admin = Operator.objects.get()
    assert admin.username == "admin"
    assert admin.may_manage
    assert admin.has_first_password
    assert knock(client, password, name="admin").status_code == 302
    assert "Choose your own password" in client.get("/").content.decode()


def test_an_unchanged_first_password_is_replaced_at_the_next_start():
    first, second = call_command("first_operator"), call_command("first_operator")
    assert first != second
    assert Operator.objects.get().check_password(second)


def test_once_people_took_over_nobody_gets_a_password():
    call_command("first_operator")
    Operator.objects.update(has_first_password=False)
    assert call_command("first_operator") == ""
    Operator.objects.update(has_first_password=True)
    make_operator()
    assert call_command("first_operator") == ""


def test_what_is_posted_without_a_session_leads_back_to_the_page_it_came_from(client: Client):
    page = "http://testserver/desk/draft/1/?kind=draft"
    answer = client.post("/desk/draft/1/approve", headers={"Referer": page})
    assert answer.url == "/sign-in?next=%2Fdesk%2Fdraft%2F1%2F%3Fkind%3Ddraft&lost=1"
    assert "You were signed out, so nothing was saved" in client.get(answer.url).content.decode()
    htmx = client.get(answer.url, headers={"HX-Request": "true", "HX-Current-URL": page})
    assert htmx["HX-Redirect"].endswith("&lost=1")


@pytest.mark.parametrize("page", ["", "https://evil.example/x", "javascript:alert(1)"])
def test_what_is_posted_from_elsewhere_without_a_session_leads_home(client: Client, page: str):
    answer = client.post("/drafts/1/approve", headers={"Referer": page})
    assert answer.url == "/sign-in?next=%2F&lost=1"


def test_a_new_password_that_cannot_be_recorded_is_not_set(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
):
    def fails(*args: Any, **facts: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(AuditEvent.objects, "record", fails)
    with pytest.raises(DatabaseError):
        sign_in.change_password(operator, "quiet harbour lantern 9")
    assert not Operator.objects.get(pk=operator.pk).check_password("quiet harbour lantern 9")
