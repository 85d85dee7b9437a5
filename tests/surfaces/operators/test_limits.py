"""A limit whose surfaces or agents were deleted allows nothing, and the pages say so."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surfaces import demo
from surfaces.models import Account, ApiKey, AuditEvent, Operator, Surface
from surfaces.notices import recipients
from surfaces.notices import rules as notice_rules
from surfaces.notices.matching import NoticeEvent, fits_place
from surfaces.operators import api_keys
from surfaces.operators import services as operator_services
from tests.factories import NOON, event_of, make_account, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db


def fresh(operator: Operator) -> Operator:
    return Operator.objects.get(pk=operator.pk)


def limited(**limits: Any) -> Operator:
    nova = make_operator(username="nova")
    ada = Operator.objects.filter(username="ada").first() or make_operator(
        username="ada", role="admin"
    )
    operator_services.change(nova, limits, by=ada, now=NOON)
    return fresh(nova)


def delete(surface: Surface) -> None:
    Account.objects.filter(surface=surface).delete()
    surface.delete()


def make_key(**given: Any) -> ApiKey:
    owner = given.pop("operator", None) or make_operator()
    ordinary: dict[str, Any] = {"name": "report", "scope": "read", "by": "operator:ada"}
    return api_keys.issue(**(ordinary | given), operator=owner, now=NOON).key


def test_an_operator_whose_surface_was_deleted_reaches_nothing():
    here, away = make_account(), make_account()
    nova = limited(surfaces=[here.surface.slug])
    assert nova.reach.accounts == {here.pk}
    delete(here.surface)
    assert fresh(nova).reach.accounts == frozenset()
    assert not fresh(nova).reach.allows(away.pk)


def test_an_operator_limited_to_a_surface_and_an_agent_reaches_nothing_when_the_surface_is_gone():
    here = make_presence(agent=make_agent(slug="iris")).account
    nova = limited(surfaces=[make_account().surface.slug], agents=["iris"])
    delete(nova.surfaces.get())
    assert not fresh(nova).reach.allows(here.pk, "iris")


def test_an_operator_whose_agent_was_deleted_reaches_nothing_even_after_the_form_was_saved(
    client: Client,
):
    agent, account = make_agent(slug="iris"), make_account()
    nova = limited(agents=["iris"])
    agent.delete()
    assert not fresh(nova).reach.allows(account.pk)
    client.force_login(Operator.objects.get(username="ada"))
    page = reverse("surfaces:operator", args=[nova.pk])
    answer = client.post(page, {"role": "viewer", "only_surfaces": "False", "only_agents": "True"})
    assert answer.status_code == 302
    nova = fresh(nova)
    assert nova.role == "viewer"
    assert not nova.reach.allows(account.pk)
    assert not nova.reach.is_whole


def test_a_key_whose_surface_was_deleted_reaches_nothing():
    here, away = make_account(), make_account()
    key = make_key(surfaces=[here.surface])
    assert key.reach.accounts == {here.pk}
    delete(here.surface)
    key = ApiKey.objects.get(pk=key.pk)
    assert not key.reach.allows(away.pk)
    assert api_keys.limits(key)["surfaces"] == []


def test_a_key_of_an_operator_whose_surface_was_deleted_reaches_nothing():
    here, away = make_account(), make_account()
    nova = limited(surfaces=[here.surface.slug])
    key = make_key(operator=nova)
    delete(here.surface)
    key = ApiKey.objects.get(pk=key.pk)
    assert not key.reach.allows(away.pk)
    assert api_keys.limits(key)["surfaces"] == []


def test_a_notice_rule_whose_surface_was_deleted_hears_nothing():
    here, away = make_account(), make_account()
    saved = notice_rules.add(
        make_operator(),
        {"channel": "page", "hears_items": True, "surfaces": [here.surface]},
        now=NOON,
    )
    delete(here.surface)
    (hearer,) = [found for found in recipients.live() if found.rule == saved.rule]
    thing = NoticeEvent(account=away.pk, surface=away.surface_id)
    assert not fits_place(hearer.wish, hearer.reach, thing)


def test_a_notice_rule_narrowed_to_what_its_operator_may_not_see_hears_nothing():
    here, away = make_account(), make_account()
    nova = limited(surfaces=[here.surface.slug])
    given = {"channel": "page", "hears_items": True, "surfaces": [away.surface]}
    rule = notice_rules.add(nova, given, now=NOON).rule
    (hearer,) = [found for found in recipients.live() if found.rule == rule]
    assert not fits_place(
        hearer.wish, hearer.reach, NoticeEvent(account=here.pk, surface=here.surface_id)
    )


def test_who_is_limited_to_the_demo_sees_nothing_after_it_is_cleared(client: Client):
    demo.make(now=timezone.now())
    nova = limited(surfaces=[demo.SURFACE])
    call_command("demo", "--clear")
    real = make_account(name="real@moltbook")
    assert not fresh(nova).reach.allows(real.pk)
    client.force_login(nova)
    assert "real@moltbook" not in client.get(reverse("surfaces:surfaces")).content.decode()
    page = client.get(reverse("surfaces:profile")).content.decode()
    assert "limited to nothing: what it was limited to was deleted" in page


def test_who_was_never_given_anything_is_not_said_to_have_lost_it(client: Client):
    limited(only_surfaces=True, surfaces=[])
    client.force_login(Operator.objects.get(username="ada"))
    page = client.get(reverse("surfaces:operators")).content.decode()
    assert "what it was limited to was deleted, or none is selected" in page


def test_the_pages_of_operators_and_keys_say_that_a_limit_has_nothing_left(client: Client):
    here = make_account()
    nova = limited(surfaces=[here.surface.slug])
    make_key(surfaces=[here.surface])
    delete(here.surface)
    client.force_login(Operator.objects.get(username="ada"))
    words = "limited to nothing: what it was limited to was deleted"
    assert words in client.get(reverse("surfaces:operators")).content.decode()
    assert words in client.get(reverse("surfaces:keys")).content.decode()
    form = client.get(reverse("surfaces:operator", args=[nova.pk])).content.decode()
    assert "Limited to nothing: what it was limited to was deleted" in form


def test_only_an_administrator_opens_a_limit_again_and_undo_closes_it(client: Client):
    here = make_account()
    nova = limited(surfaces=[here.surface.slug])
    ada = Operator.objects.get(username="ada")
    opened = operator_services.change(
        nova, {"only_surfaces": False, "surfaces": []}, by=ada, now=NOON
    )
    assert fresh(nova).reach.is_whole
    operator_services.undo(nova, event_of(opened), by=ada, now=NOON)
    assert fresh(nova).reach.accounts == {here.pk}


def test_a_form_with_surfaces_selected_and_all_of_them_allowed_is_refused(client: Client):
    here, nova = make_account(), make_operator(username="nova")
    client.force_login(make_operator(role="admin"))
    answer = client.post(
        reverse("surfaces:operator", args=[nova.pk]),
        {"role": "viewer", "only_surfaces": "False", "surfaces": [here.surface.slug]},
    )
    assert answer.status_code == 422
    assert fresh(nova).role == "moderator"


def test_a_rule_keeps_its_limit_when_its_form_is_saved_after_the_surface_is_gone(client: Client):
    here, mira = make_account(), make_operator(username="mira", role="admin")
    given = {"channel": "page", "hears_down": True, "surfaces": [here.surface]}
    rule = notice_rules.add(mira, given, now=NOON).rule
    delete(here.surface)
    client.force_login(mira)
    page = reverse("surfaces:notice_rule", args=[rule.pk])
    assert (
        "only on surfaces that were deleted"
        in client.get(reverse("surfaces:notice_rules")).content.decode()
    )
    sent = {
        "hears_down": "on", "is_on": "on", "expires_minutes": 30, "down_minutes": 10, "min_risk": 0,
        "pace": "once", "every_hours": 4, "only_surfaces": "True", "only_agents": "False",
    }  # fmt: skip
    assert client.post(page, sent).status_code == 302
    rule.refresh_from_db()
    assert rule.only_surfaces
    assert not rule.surfaces.exists()


def test_the_audit_log_names_a_limit_that_was_set():
    here = make_account()
    limited(surfaces=[here.surface.slug])
    facts = AuditEvent.objects.called("operator.changed").get().facts
    assert facts == {"surfaces": [[], [here.surface.slug]], "only_surfaces": [False, True]}
