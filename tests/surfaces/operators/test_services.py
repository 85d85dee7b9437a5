"""Administrators make operators, change what they may, and lock them out."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, Operator
from surfaces.operators import services as operator_services
from surfaces.settings.changes import marks_of
from surfaces.settings.services import values_of
from tests.factories import NOON, event_of, make_account, make_agent, make_operator

RIGHT = "a good long password"


@pytest.fixture
def ada(db: None) -> Operator:
    return make_operator(username="ada", role="admin")


def fresh(operator: Operator) -> Operator:
    return Operator.objects.get(pk=operator.pk)


def test_somebody_new_gets_a_password_that_has_to_be_changed(ada: Operator, client: Client):
    place, iris = make_account().surface, make_agent(slug="iris")
    handed = operator_services.add(
        username="nova", name="Nova Lindqvist", email="nova@example.org", role="moderator",
        surfaces=[place.slug], agents=[iris.slug], by=ada,
    )  # fmt: skip
    nova = Operator.objects.get(username="nova")
    assert nova.check_password(handed.password)
    assert nova.owes_password
    assert (nova.name, nova.role, nova.agents) == ("Nova Lindqvist", "moderator", ["iris"])
    assert list(nova.surfaces.all()) == [place]
    line = AuditEvent.objects.called("operator.made").get()
    assert line.actor == "operator:ada"
    assert handed.password not in str(line.facts)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"username": "ADA"}, "There is an operator"),
        ({"username": "no spaces"}, "valid username"),
        ({"role": "king"}, "is not a role"),
        ({"surfaces": ["nowhere"]}, "There is no surface nowhere"),
        ({"agents": ["nobody"]}, "There is no agent nobody"),
    ],
)
def test_who_cannot_be_made_is_said_and_not_made(ada: Operator, given: Any, why: str):
    with pytest.raises(BadInput, match=why):
        operator_services.add(**{"username": "nova", "role": "viewer", "by": ada} | given)
    assert Operator.objects.count() == 1


def test_role_and_limits_change_in_one_line_and_are_set_back(ada: Operator):
    place, nova = make_account().surface, make_operator(username="nova")
    values = {"role": "viewer", "surfaces": [place.slug], "agents": []}
    change = operator_services.change(nova, values, by=ada, now=NOON)
    assert change.pairs == {
        "role": ["moderator", "viewer"],
        "surfaces": [[], [place.slug]],
        "only_surfaces": [False, True],
    }
    assert fresh(nova).reach.accounts == {place.accounts.get().pk}
    operator_services.undo(nova, event_of(change), by=ada, now=NOON)
    assert values_of(fresh(nova)) == {
        "role": "moderator", "only_surfaces": False, "surfaces": [], "only_agents": False,
        "agents": [],
    }  # fmt: skip
    assert AuditEvent.objects.called("operator.changed").count() == 2


def test_what_was_changed_again_since_is_not_set_back(ada: Operator):
    nova = make_operator(username="nova")
    first = operator_services.change(nova, {"role": "viewer"}, by=ada, now=NOON)
    operator_services.change(nova, {"role": "admin"}, by=ada, now=NOON)
    with pytest.raises(StaleState, match="role"):
        operator_services.undo(nova, event_of(first), by=ada, now=NOON)
    assert fresh(nova).role == "admin"


def test_a_form_that_showed_something_else_overwrites_nothing(ada: Operator):
    nova = make_operator(username="nova")
    seen = marks_of(values_of(nova))
    operator_services.change(nova, {"role": "viewer"}, by=ada, now=NOON)
    with pytest.raises(StaleState):
        operator_services.change(nova, {"role": "admin"}, by=ada, now=NOON, seen=seen)
    assert fresh(nova).role == "viewer"


def test_djangos_own_permissions_follow_the_role(ada: Operator):
    nova = make_operator(username="nova")
    operator_services.change(nova, {"role": "admin"}, by=ada, now=NOON)
    assert fresh(nova).is_superuser
    operator_services.change(nova, {"role": "viewer"}, by=ada, now=NOON)
    assert not (fresh(nova).is_superuser)
    assert not (fresh(nova).is_staff)


def test_the_last_administrator_is_neither_made_less_nor_locked_out(ada: Operator):
    boss = make_operator(username="boss", role="admin")
    operator_services.deactivate(boss, by=ada)
    with pytest.raises(NotAllowed, match="last administrator"):
        operator_services.change(ada, {"role": "viewer"}, by=ada, now=NOON)
    operator_services.reactivate(boss, by=ada)
    operator_services.change(ada, {"role": "viewer"}, by=ada, now=NOON)
    with pytest.raises(NotAllowed, match="you are none any more"):
        operator_services.deactivate(boss, by=ada)
    assert fresh(boss).is_active


def test_nobody_locks_themselves_out(ada: Operator):
    make_operator(role="admin")
    with pytest.raises(NotAllowed, match="deactivate yourself"):
        operator_services.deactivate(ada, by=ada)
    assert fresh(ada).is_active


@pytest.mark.django_db(transaction=True)
def test_two_administrators_cannot_lock_each_other_out_at_once(monkeypatch: pytest.MonkeyPatch):
    ada, boss = (make_operator(username=name, role="admin") for name in ("ada", "boss"))
    start, both_here, check = (
        threading.Barrier(2),
        threading.Barrier(2),
        operator_services._not_the_last,
    )

    def found_another(row: Operator) -> None:
        """Each goes on when both were told that there is another one left, if that can be."""
        check(row)
        with suppress(threading.BrokenBarrierError):
            both_here.wait(1)

    monkeypatch.setattr(operator_services, "_not_the_last", found_another)

    def lock_out(whom: Operator, by: Operator) -> None:
        start.wait(10)
        try:
            operator_services.deactivate(whom, by=by)
        except NotAllowed:
            pass
        finally:
            connection.close()

    both = [threading.Thread(target=lock_out, args=pair) for pair in ((ada, boss), (boss, ada))]
    for one in both:
        one.start()
    for one in both:
        one.join(20)
    assert Operator.objects.filter(is_active=True).count() == 1


def test_who_is_locked_out_is_out_in_every_browser_and_comes_back(ada: Operator, client: Client):
    nova = make_operator(username="nova")
    client.force_login(nova)
    assert client.get("/more").status_code == 200
    operator_services.deactivate(nova, by=ada)
    assert client.get("/more").status_code == 302
    knock = {"username": "nova", "password": RIGHT}
    assert client.post(reverse("surfaces:sign_in"), knock).status_code == 422
    operator_services.reactivate(nova, by=ada)
    assert client.post(reverse("surfaces:sign_in"), knock).status_code == 302


def test_signing_out_everywhere_ends_sessions_and_keeps_the_password(ada: Operator, client: Client):
    nova = make_operator(username="nova")
    client.force_login(nova)
    operator_services.sign_out_everywhere(nova, by=ada)
    assert client.get("/more").status_code == 302
    assert fresh(nova).check_password(RIGHT)
    client.force_login(fresh(nova))
    assert client.get("/more").status_code == 200


def test_a_new_password_opens_nothing_but_the_page_to_change_it(ada: Operator, client: Client):
    nova = make_operator(username="nova")
    handed = operator_services.reset_password(nova, by=ada)
    knock = {"username": "nova", "password": handed.password}
    assert client.post(reverse("surfaces:sign_in"), knock).status_code == 302
    for path in ("/", "/messages/", "/me", "/live/now"):
        assert client.get(path).url == reverse("surfaces:password"), path
    assert client.post("/pause", {"what": "all:"}).url == reverse("surfaces:password")
    asked = client.get("/messages/", headers={"HX-Request": "true"})
    assert asked["HX-Redirect"] == reverse("surfaces:password")
    assert "Set your own password to continue." in client.get("/password").content.decode()
    new = "quiet harbour lantern 9"
    typed = {"old_password": handed.password, "new_password1": new, "new_password2": new}
    assert client.post("/password", typed).status_code == 302
    assert client.get("/messages/").status_code == 200


@pytest.mark.parametrize("verb", ["reset_password", "switch_off_two_factor"])
def test_ones_own_door_is_weakened_on_ones_own_page_only(ada: Operator, verb: str):
    with pytest.raises(NotAllowed, match="on your profile page"):
        getattr(operator_services, verb)(ada, by=ada)


def test_nobody_but_an_administrator_manages(ada: Operator):
    nova, mira = make_operator(username="nova"), make_operator(username="mira")
    for act in (
        operator_services.deactivate,
        operator_services.reset_password,
        operator_services.sign_out_everywhere,
    ):
        with pytest.raises(NotAllowed, match="Only administrators"):
            act(nova, by=mira)
