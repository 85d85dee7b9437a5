"""The state machine of a call, walked by every move, in the program and past it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from dialogue.approvals.models import ENDED, STEPS, ToolCallState
from dialogue.models import ToolCall
from surfaces.errors import IllegalMove, StaleState
from surfaces.text.reasons import SENTENCES
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

WHOLE = {
    "expires_at": NOON, "approved_digest": "d", "decided_by": "operator:mira", "not_before": NOON,
    "worker": "w", "started_at": NOON, "ended_at": NOON,
}  # fmt: skip


def test_every_move_is_allowed_or_refused_as_drawn(asking):
    asking.call("look")
    call = asking.last()
    for state in ToolCallState:
        for to in ToolCallState:
            ToolCall.objects.filter(pk=call.pk).update(state=state, **WHOLE)
            call.refresh_from_db()
            if to in STEPS.get(state, set()):
                call.advance(to)
                assert ToolCall.objects.get(pk=call.pk).state == to
            else:
                with pytest.raises(IllegalMove):
                    call.advance(to)
                assert ToolCall.objects.get(pk=call.pk).state == state


def test_only_a_denial_that_an_operator_takes_back_leaves_an_end():
    assert {state for state in ENDED if STEPS.get(state)} == {ToolCallState.DENIED}


def test_a_row_that_moved_or_was_edited_meanwhile_is_not_moved(asking):
    call = asking.asked()
    mine = ToolCall.objects.get(pk=call.pk)
    ToolCall.objects.filter(pk=call.pk).update(digest="another")
    with pytest.raises(StaleState):
        mine.advance(ToolCallState.DENIED, ended_at=NOON)
    ToolCall.objects.filter(pk=call.pk).update(digest=mine.digest, state="stale", ended_at=NOON)
    with pytest.raises(StaleState, match="somebody was faster"):
        mine.advance(ToolCallState.DENIED, ended_at=NOON)


@pytest.mark.parametrize(
    ("state", "lacks"),
    [
        ("waiting", {"expires_at": None}), ("approved", {"approved_digest": ""}),
        ("approved", {"decided_by": ""}), ("approved", {"not_before": None}),
        ("running", {"worker": ""}), ("running", {"started_at": None}),
        *((state, {"ended_at": None}) for state in ENDED), ("nowhere", {}),
    ],
)  # fmt: skip
def test_the_database_refuses_a_state_without_its_facts(asking, state, lacks):
    asking.call("look")
    with pytest.raises(IntegrityError), transaction.atomic():
        ToolCall.objects.update(state=state, **(WHOLE | lacks))


def test_every_state_has_a_name():
    assert {f"tool_call_state.{state}" for state in ToolCallState} <= SENTENCES.keys()
