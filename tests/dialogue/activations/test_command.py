"""`manage.py activate` and `recount`: what they take, print and refuse."""

from __future__ import annotations

import json
from dataclasses import asdict
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dialogue import health_checks, replier
from dialogue.activations.pools import Pool
from dialogue.models import Agent
from surfaces.models import Draft
from tests.dialogue.replies.factories import World
from tests.factories import NOON, make_agent, make_notification

pytestmark = pytest.mark.django_db


def say(*command: str) -> list[dict]:
    out = StringIO()
    call_command(*command, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("pool", [[], *([f"--pool={pool}"] for pool in Pool)])
def test_once_with_nothing_due_is_one_line_of_zeros_in_any_pool(pool):
    assert say("activate", "--once", *pool) == [asdict(replier.RoundReport())]


@pytest.mark.parametrize("pool", ["", "reply", "HYBRID", "hybrid ", "\0", "<script>"])
def test_a_pool_that_does_not_exist_is_refused_with_status_2(pool):
    with pytest.raises(CommandError, match="--pool must be one of notification") as refused:
        say("activate", "--once", f"--pool={pool}")
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("workers", [-3, 0, 65, 10**9])
def test_a_number_of_workers_that_cannot_be_is_refused_with_status_2(workers):
    with pytest.raises(CommandError, match=f"--workers must be 1 to 64, not {workers}") as refused:
        say("activate", "--once", f"--workers={workers}")
    assert refused.value.returncode == 2


def test_the_line_of_reply_has_no_other_fields_than_before():
    [line] = say("reply", "--once")
    assert " ".join(line) == (
        "new opened answered passed held waits drafted failed given_back taken_back stale stones"
        " woken"
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("pool", "drafts"), [("notification", 1), ("hybrid", 1), ("exploration", 0)]
)
def test_a_pool_takes_its_kind_of_work_only(pool, drafts):
    World().comment(created_at=timezone.now())
    [line] = say("activate", "--once", f"--pool={pool}")
    assert line["drafted"] == drafts == Draft.objects.count()
    assert line["new"] == 1


def test_doctor_names_agents_whose_counts_are_wrong_until_they_are_counted_anew():
    row = make_notification()
    for number in range(6):
        make_agent(slug=f"b-{number}").note(unread=3)
    row.agent.note(unread=2)

    def found() -> health_checks.Finding:
        return next(f for f in health_checks.check_up(now=NOON) if f.about == "order of agents")

    assert "7 agents: b-0, b-1, b-2, b-3, b-4, …" in found().says
    assert "manage.py recount" in found().advice
    assert say("recount", "--agent=b-0") == [{"agents": 1}]
    assert "6 agents" in found().says
    assert say("recount") == [{"agents": 6}]
    assert not found().advice
    assert Agent.objects.get(pk=row.agent_id).unread == 1
    assert say("recount") == [{"agents": 0}]


def test_recount_refuses_an_agent_that_does_not_exist():
    with pytest.raises(CommandError, match="There is no agent 'nobody'") as refused:
        say("recount", "--agent=nobody")
    assert refused.value.returncode == 2
