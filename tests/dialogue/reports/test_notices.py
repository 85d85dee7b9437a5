"""Reports are told once an hour, to rules that ask for them, within what their people may see."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from dialogue.models import AgentReport
from dialogue.reports.notices import hourly_reports
from surfaces.models import Notice, NoticeDelivery
from surfaces.notices import content
from tests.dialogue.reports.factories import make_report
from tests.factories import NOON, make_presence, make_surface
from tests.surfaces.notices.factories import go_round, make_hearer, make_rule, smtp, told

pytestmark = pytest.mark.django_db
__all__ = ["smtp"]
SOON = timedelta(minutes=10)


def reports(**given: Any) -> list[Notice]:
    return list(Notice.objects.filter(reason="report", **given).order_by("id"))


def make_ear(**given: Any) -> Any:
    person = given.pop("operator", None) or make_hearer()
    quiet = {"hears_items": False, "hears_house": False, "sends_reports": True}
    return make_rule(person, **({"channel": "page"} | quiet | given))


@pytest.fixture
def late(clock: Any) -> Any:
    """Ten past noon: the hour before is over and counted."""
    clock.now = NOON + SOON
    return clock


def test_reports_are_off_until_somebody_asks_for_them(late: Any):
    make_rule(channel="page")
    make_report(make_presence())
    go_round(late)
    assert reports() == []
    assert AgentReport.objects.get().told_at == late()  # old news to who asks tomorrow


def test_all_agents_of_an_hour_come_in_one_mail(late: Any, smtp: Any):
    rule = make_ear(channel="mail")
    for name in ("Iris", "Otto"):
        presence = make_presence()
        presence.agent.note(name=name)
        make_report(presence, seen=4, answered=1, failed=0)
    go_round(late)
    assert len(reports()) == 2
    assert NoticeDelivery.objects.get().count == 2
    (mail,) = smtp.got
    assert "2 agent reports" in mail.subject
    assert "Otto as " in mail.text
    assert mail.to == [rule.operator.email]


def test_a_report_says_what_in_numbers_and_leads_to_its_page(late: Any):
    make_ear()
    presence = make_presence()
    make_report(presence, seen=1, answered=2, waiting=1, held=0, failed=3)
    go_round(late)
    (notice,) = reports()
    assert content.title_of(notice) == (
        f"Iris as {presence.account.name}, in the hour from 21 Nov, 11:00 UTC:"
        " 1 new notification, 2 drafts written, 1 waits for approval, 3 failed"
    )
    assert content.page_of(notice) == f"/agents/{presence.agent.slug}/reports/"
    with translation.override("zh-hans"):
        assert "new notification" not in content.title_of(notice)


def test_nothing_is_told_before_the_hour_is_over_or_twice(clock: Any):
    make_ear()
    make_report(make_presence())
    clock.now = NOON + timedelta(minutes=9)
    go_round(clock)
    assert reports() == []
    for _ in range(3):
        clock.now += timedelta(minutes=1)
        go_round(clock)
    assert len(reports()) == 1


def test_a_late_report_waits_for_the_next_hour(late: Any):
    make_ear()
    make_report(make_presence())
    go_round(late)
    make_report(make_presence())
    late.now += timedelta(minutes=30)
    go_round(late)
    assert len(reports()) == 1
    late.now += timedelta(minutes=30)
    go_round(late)
    assert len(reports()) == 2


def test_a_clock_of_2036_that_told_one_keeps_no_other_back(late: Any):
    make_ear()
    make_report(make_presence(), told_at=NOON + timedelta(days=3650))
    make_report(make_presence())
    go_round(late)
    assert len(reports()) == 1


def test_quiet_hours_hold_reports_too(late: Any):
    make_ear(channel="mail", quiet_from=time(11), quiet_to=time(15))
    make_report(make_presence())
    go_round(late)
    (notice,) = reports()
    assert (notice.state, notice.due_at) == ("due", NOON + timedelta(hours=3))


def test_a_person_hears_only_of_agents_and_accounts_within_reach(late: Any):
    near, far = make_presence(), make_presence()
    both = make_presence(agent=near.agent)
    by_agent = make_hearer(agents=[near.agent.slug])
    by_surface = make_hearer(only_surfaces=True)
    by_surface.surfaces.add(near.account.surface)
    for person in (by_agent, by_surface):
        make_ear(operator=person)
    for presence in (near, far, both):
        make_report(presence)
    go_round(late)
    assert [n.account_id for n in told(by_agent)] == [near.account_id, both.account_id]
    assert [n.account_id for n in told(by_surface)] == [near.account_id]


def test_a_rule_of_some_surfaces_or_agents_hears_of_these(late: Any):
    one, two = make_presence(), make_presence()
    of_surface = make_ear(only_surfaces=True)
    of_surface.surfaces.add(one.account.surface)
    of_agent = make_ear(only_agents=True, agents=[two.agent.slug])
    of_none = make_ear(only_surfaces=True)
    of_none.surfaces.add(make_surface())
    for presence in (one, two):
        make_report(presence)
    go_round(late)
    assert [notice.agent for notice in reports(rule=of_surface)] == [one.agent.slug]
    assert [notice.agent for notice in reports(rule=of_agent)] == [two.agent.slug]
    assert reports(rule=of_none) == []


def test_a_round_that_fails_afterwards_tells_it_again(late: Any, monkeypatch: Any):
    from surfaces.notices import rounds

    make_ear()
    make_report(make_presence())
    with monkeypatch.context() as broken:
        broken.setattr(rounds.dispatch, "drop_handled", lambda now: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            go_round(late)
    assert AgentReport.objects.get().told_at is None
    go_round(late)
    assert len(reports()) == 1


def test_many_reports_ask_no_more_queries(django_assert_num_queries: Any):
    for _ in range(5):
        make_report(make_presence())
    with django_assert_num_queries(3):
        assert len(list(hourly_reports(NOON + SOON))) == 5


def test_the_switch_stands_in_the_form_and_in_the_words_of_a_rule(desk: Client):
    shown = desk.get("/settings/notices/add").content.decode()
    assert "Agent reports" in shown
    posted = {
        "channel": "page", "sends_reports": "on", "is_on": "on", "pace": "once", "min_risk": "0",
        "expires_minutes": "30", "down_minutes": "10", "every_hours": "4",
    }  # fmt: skip
    assert desk.post("/settings/notices/add", posted).status_code == 302
    assert "reports of agents" in desk.get("/settings/notices/").content.decode()
