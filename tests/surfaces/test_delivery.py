"""Sending: at most once, stopped when it was stopped, and every outcome written down."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from surfaces import delivery, drafting, pausing
from surfaces.delivery import Carried, claim, deliver_due
from surfaces.errors import IllegalMove, NotAllowed, StaleState
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.sender import Sender, is_alive, sender_of_this_thread
from tests.factories import NOON, make_account, make_approved, make_draft, make_message
from tests.surfaces.scripted import Clock, ScriptedMoltbook, hanging, saying, unreachable

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service() -> ScriptedMoltbook:
    return ScriptedMoltbook()


def send(service: ScriptedMoltbook, clock: Clock) -> Carried:
    return deliver_due(Sender(), clock=clock, transport=service)


def test_an_approved_reply_is_sent_and_recorded_in_one_step(service: Any, clock: Any):
    draft = make_approved(text="  Yes, and the moon?  ".strip())

    assert send(service, clock).sent == 1

    draft.refresh_from_db()
    question = draft.target
    assert service.posted == [{"content": "Yes, and the moon?", "parent_id": question.remote_id}]
    assert draft.state == "sent"
    assert draft.message.parent_id == question.pk
    assert draft.message.post_id == question.post_id
    assert draft.message.direction == "outgoing"
    question.refresh_from_db()
    assert question.reply_status == "sent"
    assert AuditEvent.objects.about(draft).filter(action="draft.sent").count() == 1


def test_sending_again_sends_nothing(service: Any, clock: Any):
    make_approved()
    send(service, clock)
    clock.pass_by(days=1)
    assert send(service, clock).did == 0
    assert len(service.posted) == 1


def test_nothing_leaves_before_its_time(service: Any, clock: Any):
    make_approved(not_before=NOON + timedelta(seconds=1))
    assert send(service, clock).did == 0
    clock.pass_by(seconds=1)
    assert send(service, clock).sent == 1


def test_a_waiting_draft_never_leaves(service: Any, clock: Any):
    make_draft()
    send(service, clock)
    assert service.posted == []


def test_stored_but_answered_500_is_found_and_never_said_twice(service: Any, clock: Any):
    draft = make_approved()
    service.next = [service.store_and_say(500)]

    assert send(service, clock).unknown == 1
    draft.refresh_from_db()
    assert draft.state == "unknown"

    clock.pass_by(minutes=1)
    assert send(service, clock).looked == 1
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert draft.remote_id == "c-1"
    assert len(service.posted) == 1


def test_a_hang_after_storing_is_found_too(service: Any, clock: Any):
    draft = make_approved()
    service.next = [service.store_and_hang]
    send(service, clock)
    clock.pass_by(minutes=1)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 1)


def test_what_is_twice_absent_is_sent_again_as_a_new_try(service: Any, clock: Any):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(reply_attempts=1)
    service.next = [hanging]
    send(service, clock)

    clock.pass_by(minutes=1)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "unknown", "one look is not enough: a late request may still arrive"

    clock.pass_by(minutes=5)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "approved"
    assert draft.not_before == clock.now + draft.account.interval

    clock.pass_by(minutes=5)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert draft.target.reply_attempts == 2
    assert len(service.comments) == 1


def test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    service.is_cut = True
    send(service, clock)
    for _ in range(6):
        clock.pass_by(hours=2)
        send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, draft.needs_person) == ("unknown", True)
    assert "cut" in draft.why
    assert len(service.posted) == 1
    assert list(Draft.objects.needing_person()) == [draft]


def test_a_person_says_it_is_there(service: Any, clock: Any):
    test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service, clock)
    draft = Draft.objects.get()
    drafting.settle_there(draft, remote_id="c-77", by="operator:mira", now=clock.now)
    draft.refresh_from_db()
    assert (draft.state, draft.message.remote_id) == ("sent", "c-77")
    assert send(service, clock).did == 0


def test_a_person_says_it_is_not_there_and_it_is_sent_again(service: Any, clock: Any):
    test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service, clock)
    draft = Draft.objects.get()
    drafting.settle_absent(draft, by="operator:mira", now=clock.now)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 2)


def test_our_words_read_back_by_the_watcher_settle_the_doubt(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    send(service, clock)
    make_message(post=draft.target.post, parent=draft.target, direction="outgoing", remote_id="c-9")
    clock.pass_by(minutes=1)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, draft.message.remote_id) == ("sent", "c-9")


def test_a_permanent_refusal_fails_at_once_with_its_reason(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(400, error="Maximum comment depth exceeded", code="BAD_REQUEST")]
    assert send(service, clock).failed == 1
    draft.refresh_from_db()
    draft.target.refresh_from_db()
    assert "depth" in draft.why
    assert (draft.state, draft.target.reply_status) == ("failed", "failed")
    clock.pass_by(days=2)
    assert send(service, clock).did == 0


def test_a_limit_is_honoured_to_the_second_and_shown(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(429, headers={"Retry-After": "3601"}, error="Rate limit exceeded")]
    assert send(service, clock).later == 1
    draft.refresh_from_db()
    account = Account.objects.get()
    assert account.state == "limited"
    assert account.state_until == NOON + timedelta(seconds=3601)
    assert draft.not_before == NOON + timedelta(seconds=3601)

    clock.now = NOON + timedelta(seconds=3600)
    assert send(service, clock).did == 0
    clock.now = NOON + timedelta(seconds=3601)
    assert send(service, clock).sent == 1


def test_the_waits_double_from_the_interval_to_six_hours(service: Any, clock: Any):
    make_approved(target=make_message(reply_attempts=1))
    service.next = [saying(429, headers={"Retry-After": "1"}) for _ in range(20)]
    waits = []
    for _ in range(10):
        send(service, clock)
        draft = Draft.objects.get()
        if draft.state == "failed":
            break
        waits.append((draft.not_before - clock.now).total_seconds() / 60)
        clock.now = draft.not_before
    assert waits == [5, 10, 20, 40, 80, 160, 320, 360, 360, 360]


def test_a_comment_is_tried_ten_times_and_then_fails_visibly(service: Any, clock: Any):
    question = make_message(reply_attempts=1)
    draft = make_approved(target=question)
    service.next = [saying(429, headers={"Retry-After": "1"}) for _ in range(30)]
    for _ in range(20):
        send(service, clock)
        clock.pass_by(hours=7)
    draft.refresh_from_db()
    question.refresh_from_db()
    assert len(service.posted) == 10
    assert (draft.state, question.reply_status, question.reply_attempts) == ("failed", "failed", 10)
    assert "10 times" in draft.why


def test_an_unreachable_service_costs_no_try_and_loses_nothing(service: Any, clock: Any):
    question = make_message(reply_attempts=1)
    draft = make_approved(target=question)
    service.next = [unreachable] * 15
    for _ in range(15):
        send(service, clock)
        clock.pass_by(hours=7)
    draft.refresh_from_db()
    question.refresh_from_db()
    assert (draft.state, draft.sendings, question.reply_attempts) == ("approved", 0, 1)
    assert Account.objects.get().state == "down"
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "sent"


def test_suspension_stops_all_writing_of_the_account(service: Any, clock: Any):
    account = make_account()
    first = make_approved(target=make_message(account=account))
    make_approved(target=make_message(account=account), text="another thing")
    service.next = [saying(401, error="Account suspended", hint="duplicate content")]
    send(service, clock)
    clock.pass_by(days=3)
    send(service, clock)
    assert len(service.posted) == 1
    account.refresh_from_db()
    first.refresh_from_db()
    assert (account.state, first.state) == ("suspended", "approved")


def test_a_refused_key_stops_the_account(service: Any, clock: Any):
    draft = make_approved()
    service.next = [saying(401, error="Invalid token", code="UNAUTHORIZED")]
    send(service, clock)
    clock.pass_by(days=1)
    send(service, clock)
    assert Account.objects.get().state == "auth_failed"
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("approved", 1)


@pytest.mark.parametrize("scope", ["all", "surface", "account", "agent"])
def test_a_pause_holds_everything_it_names(service: Any, clock: Any, scope: str):
    draft = make_approved(agent="iris")
    account = draft.account
    subject = {"surface": account.surface.slug, "account": account.name, "agent": "iris"}
    name = subject.get(scope, "")
    pausing.pause(scope, name, why="hold on", by="operator:mira", now=NOON)
    assert send(service, clock).did == 0
    pausing.resume(scope, name, by="operator:mira", now=NOON)
    assert send(service, clock).sent == 1


def test_a_pause_set_after_the_claim_still_stops_the_sending(service: Any, clock: Any):
    draft = make_approved()
    [claimed] = claim(Sender(), now=NOON)
    pausing.pause("all", why="now!", by="operator:mira", now=NOON)
    delivery.deliver([claimed], Carried(), clock=clock, transport=service)
    draft.refresh_from_db()
    assert service.posted == []
    assert draft.state == "approved"
    assert "paused" in draft.why


def test_shadow_set_after_the_approval_keeps_it_in(service: Any, clock: Any):
    draft = make_approved()
    Account.objects.update(mode="shadow")
    assert send(service, clock).shadowed == 1
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("shadowed", [])


def test_an_account_that_is_off_says_nothing(service: Any, clock: Any):
    make_approved()
    Account.objects.update(mode="off")
    assert send(service, clock).did == 0
    Account.objects.update(mode="review", is_on=False)
    assert send(service, clock).did == 0
    assert service.posted == []


def test_an_edited_comment_lapses_the_approval(service: Any, clock: Any):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(content="something else entirely")
    assert send(service, clock).lapsed == 1
    draft.refresh_from_db()
    assert (draft.state, draft.approved_digest, service.posted) == ("waiting", "", [])


def test_changed_words_lapse_the_approval(service: Any, clock: Any):
    draft = make_approved()
    Draft.objects.filter(pk=draft.pk).update(text="not what was approved")
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("waiting", [])


def test_a_comment_answered_elsewhere_is_not_answered_again(service: Any, clock: Any):
    draft = make_approved()
    make_message(post=draft.target.post, parent=draft.target, direction="outgoing")
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("failed", [])
    assert "answered meanwhile" in draft.why


def test_a_comment_deleted_meanwhile_is_not_answered(service: Any, clock: Any):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(deleted_at=NOON)
    send(service, clock)
    assert service.posted == []


def test_the_database_refuses_a_second_live_reply():
    draft = make_draft()
    with pytest.raises(IntegrityError, match="draft_one_live_reply"), transaction.atomic():
        make_draft(target=draft.target)
    draft.advance("withdrawn")
    make_draft(target=draft.target)


def test_the_second_mover_is_told():
    draft = make_draft()
    late = Draft.objects.get(pk=draft.pk)
    draft.advance("withdrawn")
    with pytest.raises(StaleState):
        late.advance("approved", approved_digest="x", not_before=NOON)
    with pytest.raises(IllegalMove):
        draft.advance("sent")


def test_a_late_sender_cannot_move_what_was_taken_from_it(service: Any, clock: Any):
    make_approved()
    [late] = claim(Sender(), now=NOON)
    Draft.objects.update(lease_until=NOON)
    clock.pass_by(minutes=10)
    send(service, clock)
    assert len(service.posted) == 1
    assert not delivery.carry(late, delivery._open_writer(late.account, clock=clock,
                              transport=service), Carried(), clock=clock)  # fmt: skip
    assert len(service.posted) == 1


def test_a_sleeping_sender_is_not_looked_after(service: Any, clock: Any):
    """It may still post: only when its session is gone may anybody look."""
    draft = make_approved()
    sender = Sender()
    claim(sender, now=NOON)
    Draft.objects.update(asked_at=NOON, sendings=1)
    clock.pass_by(hours=1)
    asleep, wake = threading.Event(), threading.Event()

    def sleep() -> None:
        sender.hold()
        asleep.set()
        wake.wait(10)
        connection.close()

    thread = threading.Thread(target=sleep)
    thread.start()
    asleep.wait(10)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "sending"
    wake.set()
    thread.join()
    while is_alive(sender.name):  # the server notices the closed session a moment later
        time.sleep(0.01)
    send(service, clock)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    assert service.posted == []


def test_what_a_broken_run_left_behind_is_freed_by_its_own_sender(
    service: Any, clock: Any, monkeypatch: Any
):
    draft = make_approved()
    sender = Sender()

    def lost(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(delivery, "record_sent", lost)
        with pytest.raises(OperationalError):
            deliver_due(sender, clock=clock, transport=service)
    deliver_due(sender, clock=clock, transport=service)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    assert len(service.posted) == 1


def test_a_sender_told_to_end_gives_back_what_it_has_not_begun(service: Any, clock: Any):
    account = make_account()
    for number in range(5):
        make_approved(target=make_message(account=account), text=f"answer {number}")
    deliver_due(Sender(), clock=clock, until=lambda: len(service.posted) >= 2, transport=service)
    assert len(service.posted) == 2
    assert Draft.objects.filter(state="approved", lease_until=None).count() == 3


def test_a_thread_has_one_sender_however_often_it_sends():
    assert sender_of_this_thread() is sender_of_this_thread()


def test_a_claim_that_was_not_begun_goes_back_at_once(service: Any, clock: Any):
    draft = make_approved()
    claim(Sender(), now=NOON)
    clock.pass_by(hours=1)
    assert send(service, clock).sent == 1
    draft.refresh_from_db()
    assert draft.sendings == 1


def test_sent_words_can_be_taken_back(service: Any, clock: Any, monkeypatch: Any):
    draft = make_approved()
    send(service, clock)
    draft = Draft.objects.select_related("account__surface", "message").get()
    real = delivery._open_writer
    monkeypatch.setattr(
        delivery, "_open_writer", lambda account, **_: real(account, clock=clock, transport=service)
    )
    delivery.retract(draft, by="operator:mira", now=NOON)
    draft.message.refresh_from_db()
    assert draft.message.deleted_at == NOON
    with pytest.raises(NotAllowed):
        delivery.retract(draft, by="operator:mira", now=NOON)


@pytest.mark.django_db(transaction=True)
def test_four_senders_at_once_send_each_draft_once(clock: Any):
    account = make_account()
    for number in range(24):
        make_approved(target=make_message(account=account), text=f"answer {number}")
    service, start = ScriptedMoltbook(), threading.Barrier(4)

    def work() -> None:
        sender = Sender()
        start.wait()
        deliver_due(sender, clock=clock, transport=service)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [body["content"] for body in service.posted]
    assert sorted(texts) == sorted({f"answer {number}" for number in range(24)})
    assert Draft.objects.filter(state="sent").count() == 24
