"""The moment of sending: who may not leave stays, and nobody else waits behind it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surfaces.delivery import preflight, reconcile
from surfaces.delivery import sender as delivery_sender
from surfaces.delivery.outcomes import record_unknown
from surfaces.delivery.record import record_sent
from surfaces.delivery.sender import DeliveryReport, claim, deliver, deliver_due
from surfaces.errors import StaleState
from surfaces.models import Account, AuditEvent, Draft, Message, Pause
from surfaces.spam import feedback
from surfaces.workers.locks import WorkerLock
from tests.factories import (
    NOON,
    make_account,
    make_approved,
    make_draft,
    make_message,
    make_surface,
)
from tests.surfaces.delivery.scripted_service import Clock, ScriptedMoltbook, hanging, saying

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def send(service: ScriptedMoltbook, clock: Clock) -> DeliveryReport:
    return deliver_due(WorkerLock(), clock=clock, transport=service)


# ── one account's trouble is not another's ────────────────────────────────


def broken_key() -> Account:
    account = make_account()
    Account.objects.filter(pk=account.pk).update(sealed_credential=b"sealed with a lost key")
    return account


def no_address() -> Account:
    return make_account(surface=make_surface(base_url="http://moltbook.example/api/v1"))


def no_dialect() -> Account:
    return make_account(surface=make_surface(dialect="klingon"))


def test_a_comment_without_words_is_answered_and_holds_up_nobody(service: Any, clock: Any):
    wordless = make_approved(target=make_message(content=""), not_before=NOON - timedelta(days=1))
    Message.objects.filter(pk=wordless.target_id).update(content=None)
    other = make_approved(target=make_message(account=make_account()))
    assert send(service, clock).sent == 2
    for draft in (wordless, other):
        draft.refresh_from_db()
        assert draft.state == "sent"


def test_what_may_not_leave_for_no_known_reason_is_not_claimed_again_at_once(
    service: Any, clock: Any, monkeypatch: Any
):
    stuck = make_approved(not_before=NOON - timedelta(days=1))
    other = make_approved(target=make_message(account=make_account()))
    real = preflight._marked
    refuse = lambda draft, now: draft.pk != stuck.pk and real(draft, now)  # noqa: E731
    monkeypatch.setattr(preflight, "_marked", refuse)
    assert send(service, clock).sent == 1
    other.refresh_from_db()
    stuck.refresh_from_db()
    assert (other.state, stuck.state) == ("sent", "approved")
    assert stuck.not_before > clock()
    monkeypatch.undo()
    clock.now = stuck.not_before
    assert send(service, clock).sent == 1


@pytest.mark.parametrize("trouble", [broken_key, no_address, no_dialect])
def test_an_account_that_cannot_be_opened_holds_up_nobody(service: Any, clock: Any, trouble: Any):
    account = trouble()
    stuck = make_approved(target=make_message(account=account), not_before=NOON - timedelta(days=1))
    fine = make_approved(text="a reply of somebody else")
    send(service, clock)
    fine.refresh_from_db()
    stuck.refresh_from_db()
    account.refresh_from_db()
    assert (fine.state, stuck.state, account.state) == ("sent", "approved", "auth_failed")
    assert account.state_why
    assert send(service, clock).did == 0, "it is not tried again and again"


@pytest.mark.parametrize("trouble", [broken_key, no_address])
def test_an_account_that_cannot_be_opened_does_not_stop_the_looking(
    service: Any, clock: Any, trouble: Any
):
    stuck = make_approved(target=make_message(account=trouble()))
    stuck.advance("sending", lease_until=NOON)
    stuck.advance("unknown", look_at=NOON - timedelta(hours=1))
    fine = make_approved(text="a reply of somebody else")
    send(service, clock)
    fine.refresh_from_db()
    stuck.refresh_from_db()
    assert (fine.state, stuck.state, stuck.needs_person) == ("sent", "unknown", False)


def test_a_fault_of_ours_while_asking_is_a_doubt_and_the_next_draft_leaves(
    service: Any, clock: Any
):
    def fault(request: Any) -> Any:
        service.store(request)
        raise KeyError("an adapter's mistake")

    first = make_approved(not_before=NOON - timedelta(days=1))
    second = make_approved(text="another thing")
    service.next = [fault]
    send(service, clock)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("unknown", "sent")
    clock.pass_by(minutes=1)
    send(service, clock)
    first.refresh_from_db()
    assert (first.state, len(service.posted)) == ("sent", 2)


def test_an_id_the_service_gave_twice_is_for_a_person(service: Any, clock: Any):
    first = make_approved()
    second = make_approved(target=make_message(post=first.target.post), text="another thing")

    def same_again(request: Any) -> Any:
        service.store(request)
        service.comments[-1]["id"] = "c-1"
        made = {"id": "c-1", "content": "another thing"}
        return saying(201, success=True, comment=made)(request)

    service.next = [service.store, same_again]
    send(service, clock)
    for _ in range(8):
        clock.pass_by(hours=2)
        send(service, clock)
    second.refresh_from_db()
    assert (second.state, second.needs_person) == ("unknown", True)
    assert len(service.posted) == 2


# ── what is known of the account counts in the moment of sending ──────────


def test_a_suspension_learnt_by_one_sender_stops_the_batch_of_another(service: Any, clock: Any):
    account = make_account()
    make_approved(target=make_message(account=account))
    batch = claim(WorkerLock(), now=NOON)
    account.becomes("suspended", now=NOON, why="duplicate content")
    deliver(batch, DeliveryReport(), clock=clock, transport=service)
    draft = Draft.objects.get()
    assert (draft.state, service.posted) == ("approved", [])
    assert "suspended" in str(draft.why)


def test_a_limit_learnt_by_one_sender_stops_the_batch_of_another(service: Any, clock: Any):
    account = make_account()
    make_approved(target=make_message(account=account))
    batch = claim(WorkerLock(), now=NOON)
    until = NOON + timedelta(minutes=5)
    account.becomes("limited", now=NOON, why="too many", until=until, quiet_until=until)
    deliver(batch, DeliveryReport(), clock=clock, transport=service)
    assert service.posted == []
    clock.now = until
    assert send(service, clock).sent == 1


def test_what_lapsed_in_a_slow_batch_says_so_and_leaves_next(service: Any, clock: Any):
    draft = make_approved()
    batch = claim(WorkerLock(), now=NOON)
    clock.pass_by(hours=1)
    deliver(batch, DeliveryReport(), clock=clock, transport=service)
    draft.refresh_from_db()
    assert draft.state == "approved"
    assert "off" not in str(draft.why)
    assert send(service, clock).sent == 1


def test_a_limit_on_posts_does_not_silence_replies(service: Any, clock: Any):
    account = make_account()
    post = make_approved(what="post", account=account, title="On tides", not_before=NOON)
    reply = make_approved(target=make_message(account=account))
    service.next = [saying(429, headers={"Retry-After": "1800"}, error="one post in 30 minutes")]
    send(service, clock)
    post.refresh_from_db()
    reply.refresh_from_db()
    assert (post.state, reply.state) == ("approved", "sent")
    assert post.not_before == NOON + timedelta(minutes=30)


def test_a_post_is_tried_ten_times_too(service: Any, clock: Any):
    make_approved(what="post", title="On tides")
    service.next = [saying(400, error="hm")] * 0 + [
        saying(429, headers={"Retry-After": "1"}) for _ in range(30)
    ]
    for _ in range(20):
        send(service, clock)
        clock.pass_by(hours=7)
    assert (len(service.posted), Draft.objects.get().state) == (10, "failed")


# ── spam ──────────────────────────────────────────────────────────────────


def test_a_comment_marked_as_spam_while_its_reply_was_claimed_is_not_answered(
    service: Any, clock: Any
):
    draft = make_approved()
    batch = claim(WorkerLock(), now=NOON)
    feedback.mark(draft.target, is_spam=True, by="operator:mira", now=NOON)
    deliver(batch, DeliveryReport(), clock=clock, transport=service)
    draft.refresh_from_db()
    assert service.posted == []
    assert "spam" in str(draft.why)
    feedback.unmark(draft.target, by="operator:mira", now=NOON)
    assert draft.target in Message.objects.awaiting_reply()


def test_a_comment_marked_as_spam_while_its_reply_was_in_doubt_is_not_answered_again(
    service: Any, clock: Any
):
    draft = make_approved()
    service.next = [hanging]
    send(service, clock)
    feedback.mark(draft.target, is_spam=True, by="operator:mira", now=NOON)
    for _ in range(6):
        clock.pass_by(hours=7)
        send(service, clock)
    draft.refresh_from_db()
    assert (len(service.posted), draft.state) == (1, "failed")


# ── the database goes away ────────────────────────────────────────────────


@pytest.mark.parametrize("error", [OperationalError, IntegrityError])
def test_a_record_that_was_lost_is_found_by_looking(
    service: Any, clock: Any, monkeypatch: Any, error: type[Exception]
):
    draft, sender = make_approved(), WorkerLock()

    def lost(*args: Any, **kwargs: Any) -> None:
        raise error("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(delivery_sender, "record_sent", lost)
        if error is OperationalError:
            with pytest.raises(OperationalError):
                deliver_due(sender, clock=clock, transport=service)
        else:
            deliver_due(sender, clock=clock, transport=service)
    for _ in range(4):
        clock.pass_by(minutes=3)
        deliver_due(sender, clock=clock, transport=service)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 1)


# ── in turns ──────────────────────────────────────────────────────────────


def test_looking_for_the_lost_does_not_keep_the_found_waiting(service: Any, clock: Any):
    order: list[str] = []
    for number in range(5):
        lost = make_draft(text=f"lost {number}")
        Draft.objects.filter(pk=lost.pk).update(state="unknown", look_at=NOON)
    make_approved(text="ready")
    ask = service.handle_request

    def noted(request: Any) -> Any:
        order.append(request.method)
        return ask(request)

    service.handle_request = noted
    send(service, clock)
    assert order.count("GET") >= 5
    assert order.index("POST") < 5


# ── a late sender ─────────────────────────────────────────────────────────


def taken_over(service: Any, clock: Any) -> tuple[Draft, Draft]:
    """One sender claimed a draft and slept; another claimed it and has not asked yet."""
    make_approved()
    [late] = claim(WorkerLock(), now=NOON)
    reconcile.give_back(Draft.objects.get())
    [other] = claim(WorkerLock(), now=NOON)
    return late, other


def carried(draft: Draft, service: Any, clock: Any) -> bool:
    writer = delivery_sender._open_writer(draft.account, clock=clock, transport=service)
    return delivery_sender.send_draft(draft, writer, DeliveryReport(), clock=clock)


def test_a_late_sender_does_not_ask_for_what_another_has_claimed(service: Any, clock: Any):
    late, other = taken_over(service, clock)
    assert not carried(late, service, clock)
    assert service.posted == []
    assert carried(other, service, clock)
    assert len(service.posted) == 1


def test_a_late_sender_cannot_move_or_mark_what_another_has_claimed(service: Any, clock: Any):
    late, other = taken_over(service, clock)
    assert late.state == other.state
    for write in (
        lambda: late.advance("approved"),
        lambda: late.note(remote_id="c-7"),
        lambda: record_sent(late, remote_id="c-7", now=NOON),
        lambda: record_unknown(late, "silence", now=NOON, look_at=NOON),
    ):
        with pytest.raises(StaleState):
            write()
    row = Draft.objects.get()
    assert (row.state, row.claim_number, row.remote_id) == ("sending", other.claim_number, "")
    assert not Message.objects.outgoing().comments().exists()


# ── reasons ───────────────────────────────────────────────────────────────


def test_every_outcome_carries_a_reason_in_the_ledger_and_on_the_comment(service: Any, clock: Any):
    waits = saying(429, headers={"Retry-After": "1"}, error="slow down, friend")
    never = saying(400, error="Maximum comment depth exceeded", code="BAD_REQUEST")
    for answer, action, says in [
        (hanging, "draft.unknown", "took too long"),
        (never, "draft.failed", "depth exceeded"),
        (waits, "draft.later", "slow down, friend"),
    ]:
        draft = make_approved(text=f"words for {action}")
        service.next = [answer]
        send(service, clock)
        assert says in str(AuditEvent.objects.about(draft).get(action=action).why)
        draft.refresh_from_db()
        assert says in str(draft.why)
    [failed] = Message.objects.failed_replies()
    assert "depth exceeded" in str(failed.reply_why)


# ── the moment of sending asks what the claim asks ────────────────────────


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    facts=st.fixed_dictionaries(
        {
            "is_on": st.booleans(),
            "mode": st.sampled_from(["auto", "review", "review", "shadow", "off"]),
            "state": st.sampled_from(["ok", "ok", "limited", "down", "suspended", "auth_failed"]),
            "state_until": st.sampled_from([None, -1, 0, 1]),
            "quiet_until": st.sampled_from([None, -1, 0, 1]),
        }
    ),
    surface_is_on=st.booleans(),
    paused=st.sampled_from([None, None, "all", "surface", "account", "agent", "other", "ended"]),
)
def test_what_may_be_claimed_may_leave_and_nothing_else(
    facts: dict[str, Any], surface_is_on: bool, paused: str | None
):
    moments = {
        name: None if facts[name] is None else NOON + timedelta(seconds=facts[name])
        for name in ("state_until", "quiet_until")
    }
    with transaction.atomic():
        account = make_account(**(facts | moments), surface=make_surface(is_on=surface_is_on))
        draft = make_approved(target=make_message(account=account), agent="iris")
        _pause(paused, account)
        words = Draft.objects.filter(
            pk=draft.pk,
            account__in=Account.objects.able_to_write(NOON).filter(mode__in=["auto", "review"]),
        ).exclude(Exists(Pause.objects.over_rows(agent="agent")))
        may_leave = words.exists()
        Draft.objects.filter(pk=draft.pk).update(
            state="sending", lease_until=NOON + timedelta(seconds=9)
        )
        draft.refresh_from_db()
        assert preflight.start_sending(draft, now=NOON) == may_leave
        transaction.set_rollback(True)


def _pause(scope: str | None, account: Account) -> None:
    subject = {"all": "", "surface": account.surface.slug, "account": account.name,
               "agent": "iris", "other": "somebody"}  # fmt: skip
    if scope is None:
        return
    Pause.objects.create(
        scope="agent" if scope in {"other", "ended"} else scope,
        subject=subject.get(scope, "iris"),
        by="operator:mira",
        since=NOON,
        ended_at=NOON if scope == "ended" else None,
    )


@pytest.mark.parametrize("change", [{"content": "I meant something else"}, {"deleted_at": NOON}])
def test_a_comment_that_changes_after_the_claim_still_stops_the_sending(
    service: Any, clock: Any, change: dict[str, Any]
):
    draft = make_approved()
    [claimed] = claim(WorkerLock(), now=NOON)
    Message.objects.filter(pk=draft.target_id).update(**change)
    deliver([claimed], DeliveryReport(), clock=clock, transport=service)
    draft.refresh_from_db()
    assert service.posted == []
    assert draft.state in {"waiting", "failed"}
