import pytest

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.models import Presence
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent
from surfaces.settings.services import change
from tests.factories import NOON, make_account, make_agent, make_notification, make_presence

pytestmark = [pytest.mark.django_db]
BY = "operator:mira"


def test_an_account_speaks_for_one_agent_at_a_time():
    presence = make_presence()
    with pytest.raises(NotAllowed, match=r"is already assigned to"):
        presences.join(make_agent(), presence.account, by=BY, now=NOON)
    presences.leave(presence, by=BY, now=NOON)
    other = make_agent()
    assert presences.join(other, presence.account, by=BY, now=NOON).agent == other


def test_joining_twice_is_joining_once():
    agent, account = make_agent(), make_account()
    first = presences.join(agent, account, by=BY, now=NOON)
    assert presences.join(agent, account, by=BY, now=NOON) == first
    assert AuditEvent.objects.called("presence.began").count() == 1


@pytest.mark.parametrize(
    ("own", "agents", "holds"), [("", "auto", "auto"), ("shadow", "auto", "shadow")]
)
def test_the_account_gets_the_mode_of_the_presence_or_else_the_agents(own, agents, holds):
    agent, account = make_agent(settings={"mode": agents}), make_account()
    presences.join(agent, account, mode=own, by=BY, now=NOON)
    account.refresh_from_db()
    assert account.mode == holds


def test_a_mode_set_on_the_account_itself_becomes_the_presences_own():
    presence = make_presence(settings={"mode": "auto"})
    account = presence.account
    assert presences.adopt(now=NOON) == 0
    change(account, {"every": 5, "mode": "off", "is_on": True}, by=BY, now=NOON)
    assert presences.adopt(now=NOON) == 1
    presence.refresh_from_db()
    assert presence.mode == "off"
    presences.obey(presence.agent, now=NOON)
    account.refresh_from_db()
    assert account.mode == "off"


def test_an_unknown_mode_is_refused():
    with pytest.raises(BadInput, match="There is no mode 'loud'"):
        presences.join(make_agent(), make_account(), mode="loud", by=BY, now=NOON)


def test_ending_a_presence_twice_is_said():
    presence = make_presence()
    presences.leave(presence, by=BY, now=NOON)
    with pytest.raises(NotAllowed, match="already unassigned"):
        presences.leave(presence, by=BY, now=NOON)


@pytest.mark.parametrize("slug", ["", "two words", "ä", "x" * 65])
def test_a_slug_that_is_none_makes_no_agent(slug):
    with pytest.raises(BadInput):
        agent_services.make_agent(slug, by=BY)


def test_what_still_waits_goes_on_with_an_agent_that_comes_back():
    presence = make_presence()
    waiting = make_notification(presence=presence, look_at=None, verdict="hours")
    read = make_notification(presence=presence, read_at=NOON, outcome="passed", why="Passed.")
    presences.leave(presence, by=BY, now=NOON)
    again = presences.join(presence.agent, presence.account, by=BY, now=NOON)
    waiting.refresh_from_db()
    read.refresh_from_db()
    assert (waiting.presence, read.presence) == (again, presence)


def test_what_waits_for_one_agent_is_no_business_of_the_next():
    presence = make_presence()
    waiting = make_notification(presence=presence)
    presences.leave(presence, by=BY, now=NOON)
    presences.join(make_agent(), presence.account, by=BY, now=NOON)
    waiting.refresh_from_db()
    assert waiting.presence == presence


def test_an_ended_presence_is_not_changed_from_an_old_tab():
    presence = make_presence()
    seen = Presence.objects.select_related("agent", "account").get(pk=presence.pk)
    presences.leave(presence, by=BY, now=NOON)
    with pytest.raises(NotAllowed, match="no longer assigned"):
        change(seen, {"mode": "auto"}, by=BY, now=NOON)
    assert Presence.objects.get().mode == ""
