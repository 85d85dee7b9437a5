"""Two people, two tabs, two workers: each thing is decided once and runs once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.db import connection

from dialogue.approvals import rules, services
from dialogue.errors import LeaseLost, LimitReached
from dialogue.models import ActivationItem, AgentSettings, ApprovalRule, ToolCall
from dialogue.tools.belt import AgentBelt
from surfaces.errors import RuleBroken, StaleState
from surfaces.models import AuditEvent
from tests.dialogue.approvals.factories import MIRA, TOMAS, CallWorld
from tests.factories import NOON

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each returns or raises, begun in one moment, each with a connection of its own."""
    start, done = Barrier(len(works)), [None] * len(works)

    def go(number: int, work: Callable[[], Any]) -> None:
        try:
            start.wait(20)
            done[number] = work()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            done[number] = error
        finally:
            connection.close()

    threads = [Thread(target=go, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return done


def test_of_two_operators_in_one_moment_one_decides_and_the_other_is_told():
    for _ in range(5):
        world = CallWorld()
        call = world.asked()

        def approve(by: str, call: ToolCall = call) -> None:
            mine = ToolCall.objects.get(pk=call.pk)
            services.approve(mine, digest=call.digest, by=by, now=NOON)

        def deny(call: ToolCall = call) -> None:
            mine = ToolCall.objects.get(pk=call.pk)
            services.deny(mine, words="", by="operator:ada", now=NOON)

        done = at_once(lambda: approve(MIRA), lambda: approve(TOMAS), deny)
        late = [each for each in done if isinstance(each, StaleState)]
        assert len(late) == 2
        assert all("was first" in str(each) for each in late)
        world.resume().decided()
        call.refresh_from_db()
        assert len(world.ran()) == (1 if call.state == "done" else 0)
        decisions = ["tool_call.approved", "tool_call.denied"]
        assert AuditEvent.objects.about(call).filter(action__in=decisions).count() == 1


def test_an_approval_and_the_expiry_in_one_moment_are_one_decision():
    for _ in range(5):
        world = CallWorld()
        call = world.asked()
        just_before, after = call.expires_at - timedelta(seconds=1), call.expires_at

        def approve(call: ToolCall = call, now: Any = just_before) -> None:
            mine = ToolCall.objects.get(pk=call.pk)
            services.approve(mine, digest=call.digest, by=MIRA, now=now)

        at_once(approve, lambda now=after: services.end_overdue(now=now))
        call.refresh_from_db()
        assert call.state in {"approved", "expired"}
        decisions = ["tool_call.approved", "tool_call.expired"]
        assert AuditEvent.objects.about(call).filter(action__in=decisions).count() == 1


def test_two_workers_that_take_one_conversation_up_run_its_call_once():
    world = CallWorld()
    call = world.asked("shell", "once")
    services.approve(call, digest=call.digest, by=MIRA, now=NOON)
    first, second = world.resume("one"), world.resume("two")
    done = at_once(first.decided, second.decided)
    assert isinstance(done[0], LeaseLost)
    assert done[1][call.call_id].text.endswith("kept once")
    assert world.ran() == ["once"]


def test_an_undo_and_a_worker_in_one_moment_leave_it_undone_or_run():
    for _ in range(5):
        world = CallWorld()
        call = world.asked("shell", "once")
        services.approve(call, digest=call.digest, by=MIRA, now=NOON, delay=timedelta(seconds=5))
        belt = world.resume()
        world.now = NOON + timedelta(seconds=5)

        def undo(call: ToolCall = call) -> None:
            services.undo(
                ToolCall.objects.get(pk=call.pk), by=MIRA, now=NOON + timedelta(seconds=4)
            )

        at_once(undo, belt.decided)
        call.refresh_from_db()
        assert (call.state, len(world.ran())) in {("waiting", 0), ("done", 1)}


def test_parallel_belts_keep_the_limit_and_their_ids():
    world = CallWorld()
    AgentSettings.objects.filter(agent=world.agent).update(max_tool_calls=6)

    def call(number: int) -> Any:
        item = ActivationItem.objects.select_related("activation").get(pk=world.item.pk)
        belt = AgentBelt(item, world.clock)
        words = json.dumps({"text": f"{number}"})
        return async_to_sync(belt.call)("save", words, call_id=f"{number % 5}")

    done = at_once(*(lambda n=n: call(n) for n in range(10)))
    assert sum(isinstance(each, LimitReached) for each in done) == 4
    ids = list(ToolCall.objects.values_list("call_id", flat=True))
    assert len(ids) == len(set(ids)) == len(world.ran())
    assert not [each for each in done if isinstance(each, Exception)
                and not isinstance(each, LimitReached)]  # fmt: skip


def test_a_rule_that_is_revoked_in_the_moment_of_a_call_counts_it_or_asks():
    for _ in range(5):
        world = CallWorld()
        rule = rules.make_rule(
            world.agent, tool="shell", patterns={"text": "*"}, until=None, by=MIRA, now=NOON
        )
        at_once(
            lambda world=world: world.call("shell", "once"),
            lambda rule=rule: rules.revoke(rule, by=MIRA, now=NOON),
        )
        hits = ApprovalRule.objects.get(pk=rule.pk).hits
        assert (hits, world.ran(), world.last().state) in [
            (1, ["once"], "done"), (0, [], "waiting")
        ]  # fmt: skip


def test_two_tabs_make_one_rule_too_many_together(monkeypatch):
    monkeypatch.setattr(rules, "MOST_RULES", 1)
    world = CallWorld()

    def make() -> ApprovalRule:
        return rules.make_rule(
            world.agent, tool="shell", patterns={"text": "*"}, until=None, by=MIRA, now=NOON
        )

    done = at_once(make, make)
    assert sum(isinstance(each, RuleBroken) for each in done) == 1
    assert ApprovalRule.objects.count() == 1


def test_open_pages_are_told_of_activations_and_calls():
    given = connection.get_connection_params()
    params = {name: given[name] for name in given if name not in {"cursor_factory", "context"}}
    with psycopg.connect(**params, autocommit=True) as ear:
        ear.execute("LISTEN colloquy")

        def heard() -> set[str]:
            return {each.payload for each in ear.notifies(timeout=0.5)}

        world = CallWorld()
        assert "activations" in heard()
        world.activation.note(worker="nobody is told of this")
        assert "activations" not in heard()
        world.call("save")
        assert "activations" in heard()
        world.suspend()
        assert "activations" in heard()
