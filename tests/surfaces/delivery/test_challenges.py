"""Puzzles, from the sending to the verdict: our words are hidden until one is solved."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.delivery import challenges
from surfaces.delivery.sender import DeliveryReport, deliver_due
from surfaces.models import Account, Draft, Message, Pause
from surfaces.pauses import services as pause_services
from surfaces.workers.locks import WorkerLock
from tests.factories import make_account, make_approved, make_message, make_post, make_surface
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.delivery.scripted_service import Clock

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
VERIFY = "POST /verify"


@pytest.fixture
def moltbook() -> Iterator[FakeMoltbook]:
    """The live site, with puzzles."""
    with FakeMoltbook(dialect="live", challenges=True) as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("nightjar")
        yield fake


@pytest.fixture
def account(moltbook: FakeMoltbook) -> Account:
    surface = make_surface(base_url=moltbook.url, dialect="live")
    me = moltbook.world.agent("iris")
    return make_account(surface=surface, token=moltbook.key, remote_id=me.id)


@pytest.fixture
def clock() -> Clock:
    return Clock(timezone.now())


def ready(moltbook: FakeMoltbook, account: Account, text: str = "The moon too.") -> Draft:
    """An approved reply to a comment that is really there."""
    there = moltbook.add_post("iris", f"On {text}")
    asked = moltbook.add_comment(there, "nightjar", "What of the moon?")
    post = make_post(account=account, remote_id=there)
    question = make_message(post=post, remote_id=asked)
    return make_approved(target=question, text=text, not_before=timezone.now() - timedelta(hours=1))


def send(clock: Clock) -> DeliveryReport:
    return deliver_due(WorkerLock(), clock=clock)


def ours(moltbook: FakeMoltbook) -> list[bool]:
    """Whether each comment of ours is still hidden."""
    return [c.is_pending for c in moltbook.comments.values() if c.author.name == "iris"]


def asked(moltbook: FakeMoltbook) -> int:
    return sum(path.endswith("/verify") for _, path, _ in moltbook.requests)


def test_a_solved_puzzle_shows_our_words_and_they_are_sent(moltbook: Any, account: Any, clock: Any):
    draft = ready(moltbook, account)
    assert send(clock).sent == 1
    draft.refresh_from_db()
    assert (draft.state, draft.challenge, ours(moltbook)) == ("sent", None, [False])
    assert draft.message.content == "The moon too."


def test_a_wrong_answer_fails_and_is_not_written_again(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = ready(moltbook, account)
    moltbook.world.set_puzzle = _another_answer(moltbook.world.set_puzzle)
    assert send(clock).failed == 1
    clock.pass_by(days=1)
    send(clock)
    draft.refresh_from_db()
    assert "wrong" in str(draft.why)
    assert draft.target.__class__.objects.get(pk=draft.target_id).reply_status == "failed"
    assert len(ours(moltbook)) == asked(moltbook) == 1


def _another_answer(make: Any) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        puzzle = make(*args, **kwargs)
        puzzle.answer = "42.00"
        return puzzle

    return made


def test_three_failures_in_a_row_pause_the_account(moltbook: Any, account: Any, clock: Any):
    for number in range(5):
        ready(moltbook, account, f"answer {number}")
    moltbook.world.set_puzzle = _another_answer(moltbook.world.set_puzzle)
    send(clock)
    pause = Pause.objects.live().get()
    assert (pause.scope, pause.subject) == ("account", account.name)
    assert "3 verifications" in str(pause.why)
    assert len(ours(moltbook)) == 3
    assert Draft.objects.filter(state="approved").count() == 2
    clock.pass_by(days=1)
    assert send(clock).did == 0


def test_after_a_pause_for_failures_counting_begins_anew(moltbook: Any, account: Any, clock: Any):
    test_three_failures_in_a_row_pause_the_account(moltbook, account, clock)
    pause_services.resume("account", account.name, by="operator:mira", now=clock())
    send(clock)
    account.refresh_from_db()
    assert account.challenges_failed == 2
    assert not Pause.objects.live().exists()


def test_a_solved_one_between_ends_the_row(moltbook: Any, account: Any, clock: Any):
    Account.objects.update(challenges_failed=2)
    ready(moltbook, account)
    send(clock)
    account.refresh_from_db()
    assert account.challenges_failed == 0


def test_an_expired_puzzle_fails_with_its_reason(moltbook: Any, account: Any, clock: Any):
    draft = ready(moltbook, account)
    moltbook.fault("challenge-expired", match=VERIFY)
    assert send(clock).failed == 1
    draft.refresh_from_db()
    assert "expired" in str(draft.why)


def test_killed_between_the_post_and_the_answer_it_is_finished_later(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = ready(moltbook, account)

    class Killed(BaseException):
        pass

    def die(*args: Any, **kwargs: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(challenges, "answer_challenge", die)
        with pytest.raises(Killed):
            send(clock)
    draft.refresh_from_db()
    assert (draft.state, asked(moltbook)) == ("sending", 0)
    assert draft.challenge["code"]
    for _ in range(2):
        clock.pass_by(minutes=3)
        send(clock)
    draft.refresh_from_db()
    assert (draft.state, ours(moltbook)) == ("sent", [False])


@pytest.mark.parametrize("fault", ["500-after", "reset-after"])
def test_a_verdict_that_was_lost_is_asked_for_again(
    moltbook: Any, account: Any, clock: Any, fault: str
):
    draft = ready(moltbook, account)
    moltbook.fault(fault, match=VERIFY)
    send(clock)
    draft.refresh_from_db()
    assert draft.state == "unknown"
    clock.pass_by(seconds=5)
    send(clock)
    draft.refresh_from_db()
    assert (draft.state, ours(moltbook)) == ("sent", [False])


def test_a_service_that_never_gives_a_verdict_is_not_asked_for_ever(
    moltbook: Any, account: Any, clock: Any
):
    draft = ready(moltbook, account)
    moltbook.fault("500-before", match=VERIFY, times=10_000)
    send(clock)
    for _ in range(100):
        clock.pass_by(minutes=1)
        send(clock)
    draft.refresh_from_db()
    assert (draft.state, draft.needs_person) == ("unknown", True)
    assert asked(moltbook) < 12
    assert len(ours(moltbook)) == 1


@pytest.mark.parametrize(
    ("fault", "state"), [("suspended-401", "suspended"), ("401", "auth_failed")]
)
def test_a_suspension_met_while_verifying_stops_the_account(
    moltbook: Any, account: Any, clock: Any, fault: str, state: str
):
    ready(moltbook, account)
    later = ready(moltbook, account, "another thing")
    moltbook.fault(fault, match=VERIFY)
    send(clock)
    account.refresh_from_db()
    later.refresh_from_db()
    assert (account.state, later.state) == (state, "approved")
    assert len(ours(moltbook)) == 1


def test_a_puzzle_is_kept_before_it_is_answered(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = ready(moltbook, account)
    kept: list[Any] = []
    real = challenges.answer_challenge

    def look(row: Draft, *args: Any, **given: Any) -> bool:
        kept.append(Draft.objects.get(pk=row.pk).challenge)
        return real(row, *args, **given)

    monkeypatch.setattr(challenges, "answer_challenge", look)
    send(clock)
    assert kept[0]["text"]
    assert Message.objects.filter(draft=draft).exists()
