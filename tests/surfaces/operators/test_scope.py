"""Who sees what: limits of an operator as accounts and agents."""

from __future__ import annotations

from typing import Any

import pytest

from surfaces.models import Account, Draft, Operator
from surfaces.operators.scope import UNRESTRICTED, Scope
from tests.factories import make_account, make_agent, make_draft, make_operator, make_presence

pytestmark = pytest.mark.django_db


def limited(surfaces: Any = (), agents: Any = (), **given: Any) -> Operator:
    operator = make_operator(agents=list(agents), **given)
    operator.surfaces.set(surfaces)
    return Operator.objects.get(pk=operator.pk)


def test_without_limits_everything_is_within_reach(django_assert_max_num_queries: Any):
    operator = Operator.objects.get(pk=make_operator().pk)
    with django_assert_max_num_queries(1):
        assert operator.reach.is_whole
    assert operator.reach.accounts is None
    assert operator.reach.agents is None


def test_a_surface_limits_to_its_accounts(django_assert_max_num_queries: Any):
    here, _away = make_account(), make_account()
    operator = limited([here.surface])
    with django_assert_max_num_queries(2):
        assert operator.reach.accounts == {here.pk}
    assert operator.reach.agents is None
    assert not operator.reach.is_whole


def test_an_agent_limits_to_accounts_where_it_may_speak_now(django_assert_max_num_queries: Any):
    agent = make_agent(slug="iris")
    here = make_presence(agent=agent).account
    make_presence(agent=agent, ended_at="2026-11-21T09:00Z")
    make_presence()
    operator = limited(agents=["iris"])
    with django_assert_max_num_queries(2):
        assert operator.reach == Scope(accounts=frozenset({here.pk}), agents=frozenset({"iris"}))


def test_both_limits_are_the_accounts_that_both_allow():
    agent = make_agent(slug="iris")
    here, there = make_presence(agent=agent).account, make_presence(agent=agent).account
    other = make_account(surface=here.surface)
    assert limited([here.surface], ["iris"]).reach.accounts == {here.pk}
    assert there.pk not in limited([other.surface], ["iris"]).reach.accounts


def test_limits_that_meet_nowhere_reach_nothing():
    make_presence(agent=make_agent(slug="iris"))
    reach = limited([make_account().surface], ["iris"]).reach
    assert reach.accounts == frozenset()
    assert not reach.narrow(Account.objects.all(), account="pk", agent="").exists()


@pytest.mark.parametrize("given", [{"role": "admin"}, {"is_superuser": True}])
def test_limits_of_an_administrator_are_not_asked(given: Any, django_assert_num_queries: Any):
    operator = limited([make_account().surface], ["iris"], **given)
    with django_assert_num_queries(0):
        assert operator.reach == UNRESTRICTED


def test_rows_are_narrowed_by_account_and_agent_and_what_is_by_hand_stays():
    here = make_presence(agent=make_agent(slug="iris")).account
    seen = [make_draft(account=here, agent="iris").pk, make_draft(account=here).pk]
    make_draft(account=here, agent="gabriel")
    make_draft(agent="iris")
    reach = limited(agents=["iris"]).reach
    assert sorted(reach.narrow(Draft.objects.values_list("pk", flat=True))) == seen


def test_one_row_is_asked_as_rows_are():
    reach = Scope(accounts=frozenset({1}), agents=frozenset({"iris"}))
    assert reach.allows(1, "iris")
    assert reach.allows(1)
    assert not reach.allows(1, "gabriel")
    assert not reach.allows(2, "iris")
    assert reach.allows(None, "iris")
    assert not reach.allows(None, "gabriel")
    assert UNRESTRICTED.allows(7, "anybody")


def test_two_reaches_together_are_what_both_reach():
    wide = Scope(accounts=frozenset({1, 2}))
    narrow = Scope(accounts=frozenset({2, 3}), agents=frozenset({"iris"}))
    assert wide & narrow == Scope(accounts=frozenset({2}), agents=frozenset({"iris"}))
    assert wide & UNRESTRICTED == wide
