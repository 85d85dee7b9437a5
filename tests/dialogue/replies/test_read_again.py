"""Before a reply its thread is read again: nobody answers what is no longer there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from dialogue.inbox import collect
from dialogue.models import Activation
from dialogue.replies import loop
from surfaces.delivery.sender import deliver_due
from surfaces.drafts import services as draft_services
from surfaces.models import Draft, Message
from surfaces.watcher import reread, rounds
from surfaces.workers.locks import WorkerLock
from tests.dialogue.replies.factories import of
from tests.factories import make_presence
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.moltbook_faults import Reply
from tests.surfaces.watcher.factories import connected

pytestmark = [pytest.mark.django_db, pytest.mark.engine, pytest.mark.usefixtures("reads_again")]
QUESTION = "Is a tide table a kind of promise?"


class Talk:
    """A comment on a fake Moltbook, read once; then two minutes pass."""

    def __init__(self, fake: FakeMoltbook) -> None:
        self.fake = fake
        fake.key = fake.add_agent("iris")
        self.account = connected(fake)
        self.account.mode = "auto"
        self.account.save(update_fields=["mode"])
        self.presence = make_presence(account=self.account, settings={"is_autonomous": True})
        self.post = fake.add_post("iris", "On tides")
        self.comment = fake.add_comment(self.post, "ana", QUESTION)
        rounds.round_of(self.account, clock=self.clock)
        fake.requests.clear()
        fake.advance(120)

    def clock(self) -> Any:
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.fake.world.now(), UTC)

    @property
    def row(self) -> Message:
        return Message.objects.get(remote_id=self.comment)

    def answer(self) -> loop.ReplyCounts:
        collect.collect(now=self.clock())
        return loop.answer_due("a worker", clock=self.clock)


@pytest.fixture(params=["open", "live"])
def talk(request: Any) -> Iterator[Talk]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield Talk(fake)


def test_a_comment_that_was_deleted_meanwhile_is_not_answered(talk: Talk):
    talk.fake.delete_comment(talk.comment)
    done = talk.answer()
    assert (done.drafted, done.passed) == (0, 1)
    assert of(talk.row).verdict == "deleted"
    assert talk.row.reply_attempts == 0
    assert not Draft.objects.exists()


def test_a_thread_that_was_deleted_meanwhile_is_not_answered(talk: Talk):
    talk.fake.delete_post(talk.post)
    assert talk.answer().drafted == 0
    assert of(talk.row).verdict == "thread_gone"
    assert not Draft.objects.exists()


GONE = Reply(404, {"success": False, "error": "Post not found", "code": "NOT_FOUND"})


def without_comments(reply: Reply) -> Reply:
    """An answer of the service that shows no comment, and says that there is none."""
    if "comments" in reply.body:
        reply.body["comments"] = []
    for post in [reply.body.get("post"), *reply.body.get("posts", reply.body.get("data", []))]:
        if post:
            post["comment_count"] = 0
    return reply


def test_a_thread_that_was_missing_only_once_is_answered(talk: Talk, monkeypatch: Any):
    real = talk.fake.routes.answer
    with monkeypatch.context() as lie:
        path = f"/posts/{talk.post}"
        lie.setattr(talk.fake.routes, "answer", lambda c: GONE if c.path == path else real(c))
        assert talk.answer().drafted == 0
    assert of(talk.row).verdict == "thread_gone"
    rounds.round_of(talk.account, clock=talk.clock)
    assert "checked again now" in str(talk.row.reply_why)
    assert talk.answer().drafted == 1


def test_a_comment_whose_reply_failed_because_it_was_missing_once_is_answered(
    talk: Talk, monkeypatch: Any
):
    assert talk.answer().drafted == 1
    draft = Draft.objects.get()
    draft_services.approve(draft, digest=draft.digest(), by="operator:mira", now=talk.clock())
    talk.fake.advance(3600)
    real = talk.fake.routes.answer
    with monkeypatch.context() as lie:
        lie.setattr(talk.fake.routes, "answer", lambda call: without_comments(real(call)))
        rounds.round_of(talk.account, clock=talk.clock)
        deliver_due(WorkerLock(), clock=talk.clock)
    assert (talk.row.reply_status, Draft.objects.get().state) == ("failed", "failed")
    talk.fake.advance(300)
    rounds.round_of(talk.account, clock=talk.clock)
    assert talk.row.deleted_at is None
    assert talk.answer().drafted == 1
    assert talk.row.reply_status == "pending"


def test_a_comment_that_was_edited_meanwhile_is_answered_as_it_stands_now(talk: Talk):
    talk.fake.comments[talk.comment].content = "Is a lighthouse a promise, then?"
    assert talk.answer().drafted == 1
    assert "lighthouse" in Draft.objects.get().text
    assert talk.row.reply_attempts == 1


def test_a_thread_read_lately_is_not_read_again(talk: Talk):
    Message.objects.posts().update(thread_read_at=talk.clock() - timedelta(seconds=30))
    assert talk.answer().drafted == 1
    assert talk.fake.requests == []


def test_where_the_limit_allows_no_reading_the_reply_is_written_all_the_same(talk: Talk):
    talk.fake.fault("429-retry_after_seconds", match="GET", times=9, seconds=60)
    assert talk.answer().drafted == 1


def test_where_the_service_does_not_answer_the_reply_waits_and_says_so(talk: Talk):
    talk.fake.fault("503", match="GET", times=1)
    done = talk.answer()
    assert (done.waits, done.drafted) == (1, 0)
    notice = of(talk.row)
    assert notice.verdict == "between_tries"
    assert "could not be read again" in str(notice.why)
    assert notice.look_at == pytest.approx(
        talk.clock() + talk.account.interval, abs=timedelta(seconds=5)
    )
    assert (talk.row.reply_attempts, Activation.objects.get().state) == (0, "released")
    talk.fake.advance(301)
    assert talk.answer().drafted == 1


def test_a_refused_key_stops_the_account_and_writes_nothing(talk: Talk):
    talk.fake.fault("401", match="GET", times=9)
    assert talk.answer().drafted == 0
    talk.account.refresh_from_db()
    assert talk.account.state == "auth_failed"
    assert of(talk.row).verdict == "account_off"


def test_no_transaction_is_open_while_the_thread_is_read(talk: Talk, monkeypatch: Any):
    depth: list[int] = []
    real = reread.read_again

    def watched(*args: Any, **given: Any) -> None:
        depth.append(len(connection.savepoint_ids))
        real(*args, **given)

    monkeypatch.setattr(reread, "read_again", watched)
    talk.answer()
    assert depth == [0]


def test_a_comment_behind_a_cut_list_is_asked_for_by_its_id():
    with FakeMoltbook(dialect="open") as fake:
        talk = Talk(fake)
        for number in range(600):
            fake.add_comment(talk.post, "bob", f"noise {number}")
        for number, comment in enumerate(fake.world.by_post[talk.post]):
            comment.created_at += number
        inner = fake.add_comment(talk.post, "ana", "And under it?", parent=talk.comment)
        Message.objects.filter(remote_id=talk.comment).update(remote_id=inner)
        talk.comment = inner
        fake.delete_comment(inner)
        assert talk.answer().drafted == 0
        assert any(path.endswith(f"/comments/{inner}") for _, path, _ in fake.requests)
        assert talk.row.deleted_at is not None
