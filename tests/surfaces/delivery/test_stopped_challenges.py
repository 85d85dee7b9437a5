"""An answered challenge publishes: what stops a sending stops the answer, too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from surfaces.delivery import challenges
from surfaces.models import Account, Draft, Message, Surface
from surfaces.pauses import services as pause_services
from surfaces.spam import feedback
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.delivery.scripted_service import Clock
from tests.surfaces.delivery.test_challenges import (
    VERIFY,
    account,
    asked,
    clock,
    moltbook,
    ours,
    ready,
    send,
)

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
__all__ = ["account", "clock", "moltbook"]  # fixtures


def pause(scope: str) -> Callable[[Draft], None]:
    def stop(draft: Draft) -> None:
        subjects = {"surface": draft.account.surface.slug, "account": draft.account.name}
        subject = subjects.get(scope, "iris" if scope == "agent" else "")
        pause_services.pause(scope, subject, why="stop", by="operator:mira", now=timezone.now())

    return stop


def mode(name: str) -> Callable[[Draft], None]:
    return lambda draft: Account.objects.update(mode=name) and None


def on_target(**facts: Any) -> Callable[[Draft], None]:
    return lambda draft: Message.objects.filter(pk=draft.target_id).update(**facts) and None


def mark_spam(draft: Draft) -> None:
    feedback.mark(draft.target, is_spam=True, by="operator:mira", now=timezone.now())


STOPS: dict[str, tuple[Callable[[Draft], None], str]] = {
    "pause of all": (pause("all"), "paused"),
    "pause of the surface": (pause("surface"), "paused"),
    "pause of the account": (pause("account"), "paused"),
    "pause of the agent": (pause("agent"), "paused"),
    "shadow": (mode("shadow"), "shadow"),
    "off": (mode("off"), "off"),
    "account off": (lambda draft: Account.objects.update(is_on=False) and None, "off"),
    "surface off": (lambda draft: Surface.objects.update(is_on=False) and None, "off"),
    "spam": (mark_spam, "spam"),
    "deleted": (on_target(deleted_at=timezone.now()), "deleted"),
    "edited": (on_target(content="I meant another thing"), "changed"),
}


def left_unanswered(
    moltbook: FakeMoltbook, account: Account, clock: Clock, monkeypatch: Any
) -> Draft:
    """A draft whose sender was killed between the request and the answer to its challenge."""
    draft = ready(moltbook, account)
    Draft.objects.filter(pk=draft.pk).update(agent="iris")

    class Killed(BaseException):
        pass

    def die(*args: Any, **kwargs: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(challenges, "answer_challenge", die)
        with pytest.raises(Killed):
            send(clock)
    return draft


@pytest.mark.parametrize("stop", STOPS)
def test_a_stopped_challenge_is_never_answered_and_the_draft_says_why(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any, stop: str
):
    draft = left_unanswered(moltbook, account, clock, monkeypatch)
    act, words = STOPS[stop]
    act(draft)
    for _ in range(45):
        clock.pass_by(seconds=10)
        send(clock)
    draft.refresh_from_db()
    assert (asked(moltbook), ours(moltbook)) == (0, [True])
    assert (draft.state, words in str(draft.why)) == ("failed", True), str(draft.why)
    assert Account.objects.get().challenges_failed == 1, "the service counts it as failed"


@pytest.mark.parametrize("stop", ["pause of all", "shadow", "spam"])
def test_a_stop_between_the_request_and_the_answer_counts(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any, stop: str
):
    draft = ready(moltbook, account)
    store = challenges.store_challenge

    def store_and_stop(*args: Any) -> None:
        store(*args)
        STOPS[stop][0](draft)

    monkeypatch.setattr(challenges, "store_challenge", store_and_stop)
    send(clock)
    draft.refresh_from_db()
    assert (asked(moltbook), ours(moltbook), draft.state) == (0, [True], "unknown")
    assert "Delivered but not published" in str(draft.why)


def test_a_pause_that_ends_before_the_challenge_expires_only_delays_it(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = left_unanswered(moltbook, account, clock, monkeypatch)
    pause("all")(draft)
    for _ in range(3):
        clock.pass_by(seconds=20)
        send(clock)
    pause_services.resume("all", by="operator:mira", now=clock())
    clock.pass_by(seconds=10)
    send(clock)
    draft.refresh_from_db()
    assert (draft.state, ours(moltbook)) == ("sent", [False])


def test_our_hidden_text_read_back_by_the_watcher_does_not_stop_its_own_answer(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = left_unanswered(moltbook, account, clock, monkeypatch)
    draft.refresh_from_db()
    Message.objects.create(
        account=account, remote_id=draft.remote_id, kind="comment", direction="outgoing",
        post=draft.target.post, parent=draft.target, author="iris", content=draft.text,
        created_at=clock(), seen_at=clock(),
    )  # fmt: skip
    for _ in range(3):
        clock.pass_by(seconds=20)
        send(clock)
    draft.refresh_from_db()
    assert (draft.state, ours(moltbook)) == ("sent", [False])


def test_an_answer_that_may_have_arrived_before_the_stop_is_for_a_person(
    moltbook: Any, account: Any, clock: Any
):
    draft = ready(moltbook, account)
    moltbook.fault("reset-after", match=VERIFY)
    send(clock)
    pause("all")(draft)
    for _ in range(45):
        clock.pass_by(seconds=10)
        send(clock)
    draft.refresh_from_db()
    assert (draft.state, draft.needs_person, asked(moltbook)) == ("unknown", True, 1)


def test_a_rate_limit_does_not_let_a_challenge_expire(
    moltbook: Any, account: Any, clock: Any, monkeypatch: Any
):
    draft = left_unanswered(moltbook, account, clock, monkeypatch)
    later = clock() + timedelta(hours=1)
    account.becomes("limited", now=clock(), why="too many", until=later, quiet_until=later)
    for _ in range(3):
        clock.pass_by(seconds=20)
        send(clock)
    draft.refresh_from_db()
    assert (draft.state, ours(moltbook)) == ("sent", [False])
