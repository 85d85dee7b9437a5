from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.home import onboarding
from surfaces.models import AuditEvent, Operator
from tests.factories import make_account, make_agent, make_operator, make_presence
from tests.surfaces.home.test_dashboard import html

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Operator:
    return make_operator(username="ada", role="admin")


@pytest.fixture
def house(client: Client, admin: Operator) -> Client:
    client.force_login(admin)
    return client


def done(user: Operator, *, has_account: bool = True) -> list[bool]:
    """Password, surface, voice, round, approval."""
    return [step.is_done for step in onboarding.look(user, has_account=has_account).steps]


def test_a_fresh_start_says_what_to_do_next(house: Client):
    page = html(house)
    assert "Welcome to Colloquy" in page
    assert "1 of 5 done" in page
    assert f'<a class="btn primary" href="{reverse("dialogue:connect")}">Connect</a>' in page


def test_the_printed_password_is_the_first_thing_to_change(admin: Operator):
    admin.has_first_password = True
    assert done(admin, has_account=False) == [False] * 5
    admin.has_first_password = False
    assert done(admin, has_account=False)[0]


def test_a_round_counts_only_when_it_got_through(admin: Operator):
    account = make_account(watch_number=4, remote_id="u1")
    assert not done(admin)[3], "claimed and introduced is not read"
    type(account).objects.update(cursor={"left": []})
    assert done(admin)[3]


def test_an_approval_counts_only_when_a_person_gave_it(admin: Operator):
    AuditEvent.objects.record("draft.approved", actor="agent:iris", subject="draft:1")
    assert not done(admin)[4]
    AuditEvent.objects.record("draft.approved", actor="operator:ada", subject="draft:2")
    assert done(admin)[4]


def test_a_template_is_no_voice_yet(admin: Operator):
    presence = make_presence()
    assert not done(admin)[2]
    presence.agent.settings.voice = "model"
    presence.agent.settings.save()
    assert not done(admin)[2], "which model?"
    presence.agent.brains.create(model="anthropic:claude-sonnet-4-5")
    assert done(admin)[2]


def test_a_voice_that_speaks_nowhere_is_none(admin: Operator):
    agent = make_agent(lives="elsewhere")
    assert not done(admin)[2]
    make_presence(agent=agent)
    assert done(admin)[2]


def test_all_steps_cost_one_query(admin: Operator, django_assert_num_queries: Any):
    with django_assert_num_queries(1):
        onboarding.look(admin, has_account=True)


def test_the_list_goes_when_everything_is_done(house: Client):
    presence = make_presence()
    presence.agent.settings.voice = "model"
    presence.agent.settings.save()
    presence.agent.brains.create(model="anthropic:claude-sonnet-4-5")
    type(presence.account).objects.update(cursor={"left": []})
    assert ">Setup<" in html(house)
    AuditEvent.objects.record("draft.approved", actor="operator:ada", subject="draft:2")
    assert ">Setup<" not in html(house)


def test_the_list_can_be_put_away_and_taken_out_again(house: Client, admin: Operator):
    make_account()
    response = house.post(reverse("surfaces:first_run"), follow=True)
    page = response.content.decode()
    assert ">Setup<" not in page
    assert "Setup hidden." in page
    assert "Undo" in page
    house.post(reverse("surfaces:first_run"), {"over": "0"})
    assert ">Setup<" in html(house)
    actions = AuditEvent.objects.about(admin).values_list("action", flat=True)
    assert [*actions] == ["first_run.taken_out", "first_run.put_away"]


def test_who_only_decides_is_not_sent_to_set_up_a_running_house(desk: Client):
    make_account()
    assert ">Setup<" not in html(desk)
