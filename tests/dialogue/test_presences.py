import pytest

from dialogue import presences
from surfaces import tending
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent
from tests.factories import NOON, make_account, make_agent, make_presence

pytestmark = [pytest.mark.django_db]
BY = "operator:mira"


def test_an_account_speaks_for_one_agent_at_a_time():
    presence = make_presence()
    with pytest.raises(NotAllowed, match=r"speaks as .* already"):
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
    tending.change(account, every=5, mode="off", is_on=True, by=BY, now=NOON)
    assert presences.adopt(now=NOON) == 1
    presence.refresh_from_db()
    assert presence.mode == "off"
    presences.obey(presence.agent)
    account.refresh_from_db()
    assert account.mode == "off"


def test_an_unknown_mode_is_refused():
    with pytest.raises(BadInput, match="'loud' is not a mode"):
        presences.join(make_agent(), make_account(), mode="loud", by=BY, now=NOON)


def test_ending_a_presence_twice_is_said():
    presence = make_presence()
    presences.leave(presence, by=BY, now=NOON)
    with pytest.raises(NotAllowed, match="ended already"):
        presences.leave(presence, by=BY, now=NOON)


@pytest.mark.parametrize("slug", ["", "two words", "ä", "x" * 65])
def test_a_slug_that_is_none_makes_no_agent(slug):
    with pytest.raises(BadInput):
        presences.make_agent(slug, by=BY)
