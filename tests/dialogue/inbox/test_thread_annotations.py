"""What the first floor tells the pages of the ground floor: verdicts, tries, what they cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationState
from dialogue.activations.services import ActivationCost
from dialogue.inbox import thread_annotations
from dialogue.models import Notification
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict
from surfaces.models import AuditEvent
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.text.reasons import reason, render
from surfaces.threads import timeline
from tests.factories import NOON, make_draft, make_message, make_notification, make_presence

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


READY = reason("verdict.ready")


def wake(note, *, at, state=ActivationState.DONE, words="It wrote a draft.", draft=None, cost="0"):
    """One waking from `at`, four seconds long."""
    waking = activation_services.start(
        note.presence, purpose="reply",
        why=reason("activation.reply", author="odile", title="Tides", why=READY),
        worker="w:1", now=at, notification=note,
    )  # fmt: skip
    activation_services.record_step(
        waking, "asked", now=at, cost=ActivationCost(money=Decimal(cost))
    )
    activation_services.finish(waking, state, words, now=at + 4 * SECOND, draft=draft)
    return waking


@pytest.fixture
def tried_twice():
    """A comment that got no words at first, and a draft then."""
    presence = make_presence()
    message = make_message(account=presence.account, spam_score=0.03)
    draft = make_draft(target=message, text="x" * 412, agent=presence.agent.slug, origin="model")
    note = make_notification(
        presence=presence, message=message, look_at=None, draft=draft, verdict="drafted",
        why=reason("decision.answers", why=READY), considered_at=NOON,
    )  # fmt: skip
    first = wake(
        note, at=NOON, state=ActivationState.FAILED, words="The model said nothing.", cost="0.002"
    )
    AuditEvent.objects.record(
        "message.try_failed", actor="agent:1", subject=message, why="The model said nothing.",
        attempt=1, activation=first.pk,
    )  # fmt: skip
    wake(note, at=NOON + 30 * SECOND, draft=draft, cost="0.011")
    AuditEvent.objects.record("draft.composed", actor="agent:1", subject=draft)
    return message


def test_a_life_tells_the_turn_and_every_try_with_what_it_cost(tried_twice):
    steps = timeline.of_message(tried_twice)
    assert [(step.words, step.how) for step in steps] == [
        (f"Written on {tried_twice.account.surface.name}", "done"),
        ("Read by the watcher", "done"),
        ("No verdict", "done"),
        ("In Iris’s inbox", "done"),
        ("Iris replies", "done"),
        ("Attempt 1 failed", "fail"),
        ("Attempt 2, draft written", "done"),
        ("Waiting for review", "next"),
    ]
    turn, failed, written = steps[4:7]
    assert turn.why == "no rule prevents a reply"
    assert (str(failed.why), failed.measures) == ("The model said nothing.", "$0.0020, 4 s")
    assert written.measures == "412 characters, $0.01, 4 s"
    assert written.url.startswith("/activations/")


def test_a_try_is_told_once_although_the_ledger_has_a_line_for_it_too(tried_twice):
    words = [step.words for step in timeline.of_message(tried_twice)]
    assert "A try failed" not in words
    assert "Draft written" not in words


def test_the_life_of_a_draft_has_its_tries(tried_twice):
    draft = tried_twice.drafts.get()
    assert "Attempt 2, draft written" in [step.words for step in timeline.of_draft(draft)]


def test_the_life_of_a_draft_by_hand_is_without_the_tries_of_agents(tried_twice):
    draft = tried_twice.drafts.get()
    draft.agent, draft.origin = "", "hand"
    assert not [step for step in timeline.of_draft(draft) if "Try" in step.words]


@pytest.mark.parametrize(("why", "verdict", "words"), [
    (ReplyVerdict(ReplyAction.WAIT, Reason.HOURS, until=datetime(2026, 11, 22, 8, tzinfo=UTC)),
     "hours", "Iris waits"),
    (ReplyVerdict(ReplyAction.PASS, Reason.THREAD_FULL), "thread_full", "Iris: passed"),
    (ReplyVerdict(ReplyAction.HOLD, Reason.SUSPECT), "suspect", "Iris: on hold"),
])  # fmt: skip
def test_a_verdict_stands_in_the_life_with_its_reason(why, verdict, words):
    note = make_notification(verdict=verdict, why=why.reason, considered_at=NOON)
    told = {step.words: step.why for step in timeline.of_message(note.message)}
    rest = render({**why.reason, "code": "decision.rest_until" if why.until else "decision.rest"})
    assert told[words] == rest[0].upper() + rest[1:]


def test_when_it_is_looked_at_again_is_still_to_come():
    from django.utils import timezone

    soon = timezone.now() + timedelta(hours=2)
    note = make_notification(verdict="too_soon", why="Waiting: too fresh.", look_at=soon)
    last = timeline.of_message(note.message)[-1]
    assert (last.words, last.how, last.at) == ("Iris checks it again", "next", soon)


def test_the_margin_gives_the_verdict_and_the_sum_of_the_tries(tried_twice):
    told = thread_annotations.of_messages([tried_twice], [], UNRESTRICTED)
    assert [note.words for note in told.notes[tried_twice.pk]] == ["2 attempts, $0.01"]
    assert [(one.name, one.words) for one in told.speakers] == [("Iris", "2 attempts, $0.01")]


def test_what_the_message_says_itself_is_not_said_twice():
    why = ReplyVerdict(ReplyAction.PASS, Reason.THREAD_FULL).reason
    note = make_notification(verdict="thread_full", why=why)
    told = thread_annotations.of_messages([note.message], [], UNRESTRICTED).notes[note.message_id]
    assert [(one.lead, one.words) for one in told] == [
        ("Iris: Skipped.", "The limit of replies per thread is reached.")
    ]
    note.message.reply_why = why
    assert not thread_annotations.of_messages([note.message], [], UNRESTRICTED).notes[
        note.message_id
    ]


def test_a_stone_stands_in_the_margin_of_its_post_with_its_reason():
    presence = make_presence()
    draft = make_draft(what="post", account=presence.account, agent=presence.agent.slug)
    waking = activation_services.start(
        presence, purpose="stone", why="Explore: its turn.", worker="w:1", now=NOON
    )
    activation_services.finish(
        waking, ActivationState.DONE, "It wrote a draft.", now=NOON, draft=draft
    )
    post = make_message(account=presence.account).post
    draft.message = post
    told = thread_annotations.of_messages([post], [draft], UNRESTRICTED)
    assert told.notes[post.pk][0].words == "Explore: its turn."
    words = [step.words for step in thread_annotations.timeline_events(None, [draft], UNRESTRICTED)]
    assert words == ["Iris writes a post", "Attempt 1, draft written"]


def test_agents_out_of_reach_are_not_told_of(tried_twice):
    reach = Scope(agents=frozenset({"somebody-else"}))
    told = thread_annotations.of_messages([tried_twice], [], reach)
    assert (told.notes, told.steps, told.speakers) == ({}, {}, [])


def test_one_query_however_many_messages(tried_twice):
    presence = Notification.objects.get().presence
    more = [make_notification(presence=presence).message for _ in range(20)]
    post = make_draft(what="post", account=presence.account, agent=presence.agent.slug)
    with CaptureQueriesContext(connection) as queries:
        thread_annotations.of_messages([tried_twice, *more], [post], UNRESTRICTED)
    assert len(queries) == 1


def test_what_nobody_was_asked_costs_no_query():
    post = make_message().post
    with CaptureQueriesContext(connection) as queries:
        assert thread_annotations.of_messages([post], [], UNRESTRICTED).notes == {}
    assert len(queries) == 0
