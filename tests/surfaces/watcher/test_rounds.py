"""Rounds against a real (fake) Moltbook over loopback, in both dialects."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from surfaces import crypto
from surfaces.accounts.clients import open_reader
from surfaces.accounts.connect import connect
from surfaces.delivery import sender
from surfaces.drafts import services as draft_services
from surfaces.errors import TryLater
from surfaces.models import Account, AuditEvent, HubAuthor, Message, Surface, WatchRound
from surfaces.watcher import rounds as watcher_rounds
from surfaces.watcher.backfill import backfill
from surfaces.workers.locks import WorkerLock
from tests.factories import make_account
from tests.fakes.moltbook import FakeMoltbook
from tests.fakes.moltbook_faults import Reply
from tests.surfaces.hub.factories import make_hub_post, say

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["open", "live"])
def moltbook(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("nightjar")
        yield fake


@pytest.fixture
def account(moltbook: FakeMoltbook) -> Account:
    account = connect(
        "moltbook", agent="iris", base_url=moltbook.url, token=moltbook.key,
        by="operator:mira", now=timezone.now(),
    )  # fmt: skip
    account.surface.dialect = moltbook.world.dialect
    account.surface.save(update_fields=["dialect"])
    return account


def look(account: Account) -> WatchRound:
    done = watcher_rounds.round_of(account)
    assert done is not None
    account.refresh_from_db()
    return done


def test_a_first_round_brings_our_posts_and_what_was_said_under_them(moltbook: Any, account: Any):
    post = moltbook.add_post("iris", "On tides", "What is left out?")
    first = moltbook.add_comment(post, "nightjar", "What of the moon?")
    ours = moltbook.add_comment(post, "iris", "The moon too.", parent=first)
    done = look(account)
    assert (str(done.outcome), done.stored) == ("", 3)
    rows = {row.remote_id: row for row in Message.objects.all()}
    assert rows[post].direction == rows[ours].direction == "outgoing"
    assert rows[first].direction == "incoming"
    assert rows[ours].parent == rows[first]
    assert rows[first].reply_status == "sent"
    assert (account.handle, account.state) == ("iris", "ok")


def test_a_second_round_without_news_reads_no_thread(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    look(account)
    done = look(account)
    assert (done.threads, done.stored) == (0, 0)


def test_a_new_comment_is_found_and_judged(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    look(account)
    moltbook.add_comment(post, "nightjar", "What does the table leave out?")
    moltbook.add_comment(
        post, "nightjar", "FREE airdrop!!! claim tokens http://bit.ly/x1 visit my profile now"
    )
    done = look(account)
    assert done.stored == 2
    assert done.suspect + done.spam == 1
    assert Message.objects.awaiting_reply().count() == 1


def test_edits_and_deletions_at_the_source_are_marks(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    comment = moltbook.add_comment(post, "nightjar", "first words")
    look(account)
    moltbook.delete_comment(comment)
    moltbook.add_comment(post, "nightjar", "so that there is news")
    done = look(account)
    row = Message.objects.get(remote_id=comment)
    assert done.deleted == 1
    assert row.deleted_at is not None
    assert row.content == "first words"


def test_a_round_counts_the_request_that_asks_who_we_are(moltbook: Any, account: Any):
    moltbook.add_post("iris")
    assert not account.remote_id
    assert look(account).requests == len(moltbook.requests)
    moltbook.fault("500-before", match="/agents/me")
    Account.objects.update(remote_id="")
    before = len(moltbook.requests)
    account.refresh_from_db()
    assert look(account).requests == len(moltbook.requests) - before == 1


def test_a_post_of_ours_that_vanished_counts_as_deleted_once(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    look(account)
    moltbook.delete_post(post)
    assert [look(account).deleted for _ in range(2)] == [1, 0]
    row = Message.objects.get(remote_id=post)
    assert row.deleted_at is not None
    assert AuditEvent.objects.filter(action="message.deleted").about(row).count() == 1


def test_an_old_post_that_was_missing_once_is_asked_for_once_more(
    moltbook: Any, account: Any, monkeypatch: Any
):
    post = moltbook.add_post("iris", "On tides")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    for number in range(220):
        moltbook.add_post("nightjar", f"noise {number}")
    for _ in range(2):
        look(account)
    row = Message.objects.get(remote_id=post)
    gone = Reply(404, {"success": False, "error": "Post not found"})
    real, path = moltbook.routes.answer, f"/posts/{post}"
    with monkeypatch.context() as lie:
        lie.setattr(moltbook.routes, "answer", lambda c: gone if c.path == path else real(c))
        with closing(open_reader(account)) as reader:
            report = watcher_rounds.WatchReport()
            watcher_rounds.read_thread(account, reader, post, report, clock=timezone.now)
    row.refresh_from_db()
    assert row.deleted_at is not None
    earlier = row.deleted_at - timedelta(minutes=11)
    Message.objects.filter(pk=row.pk).update(deleted_at=earlier, thread_read_at=earlier)
    look(account)
    row.refresh_from_db()
    assert row.deleted_at is None


def test_a_post_that_is_gone_is_asked_for_only_once_more(moltbook: Any, account: Any):
    post = moltbook.add_post("iris", "On tides")
    look(account)
    earlier = timezone.now() - timedelta(minutes=11)
    Message.objects.filter(remote_id=post).update(deleted_at=earlier, thread_read_at=earlier)
    moltbook.delete_post(post)
    moltbook.requests.clear()
    for _ in range(3):
        look(account)
    asked = [path for _, path, _ in moltbook.requests if path.endswith(f"/posts/{post}")]
    assert len(asked) == 1
    assert Message.objects.get(remote_id=post).deleted_at == earlier


@pytest.mark.parametrize("moltbook", ["open"], indirect=True)  # the other does not say it
def test_a_request_is_not_made_where_nothing_is_left(moltbook: Any, account: Any):
    moltbook.routes.limiter.limits["general"] = (3, 60.0)
    for number in range(5):
        moltbook.add_comment(moltbook.add_post("iris", f"On tides {number}"), "nightjar", "Why?")
    for _ in range(3):
        look(account)
    assert 429 not in {status for _, _, status in moltbook.requests}


@pytest.mark.parametrize(
    "fault",
    ["500-before", "html-403", "text", "400-array", "broken-json", "wrong-types", "huge",
     "deep", "surrogates", "numeric-ids", "odd-times", "redirect", "reset-before"],
)  # fmt: skip
def test_no_broken_answer_stops_a_round_or_the_next_one(moltbook: Any, account: Any, fault: str):
    post = moltbook.add_post("iris")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    moltbook.fault(fault, times=2, match="GET .*(comments|posts|home)")
    look(account)
    moltbook.clear_faults()
    Account.objects.update(next_watch_at=LONG_AGO, watch_lease_until=None)
    Message.objects.update(thread_read_at=None)
    done = look(account)
    assert str(done.outcome) == ""
    assert Message.objects.comments().filter(content="What of the moon?").exists()
    assert account.state == "ok"


def test_one_thread_that_cannot_be_read_does_not_stop_the_others(moltbook: Any, account: Any):
    posts = [moltbook.add_post("iris", f"On tides {n}") for n in range(3)]
    for post in posts:
        moltbook.add_comment(post, "nightjar", f"What of {post}?")
    moltbook.fault("500-before", match=f"GET .*/posts/{posts[1]}$")
    done = look(account)
    assert (str(done.outcome), done.skipped) == ("", 1)
    assert Message.objects.comments().count() == 2
    assert look(account).stored == 1


def test_what_was_skipped_is_counted_with_its_reason(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    for number in range(4):
        moltbook.add_comment(post, "nightjar", f"words {number}")
    moltbook.fault("wrong-types", match="GET .*comments")
    done = look(account)
    assert done.skipped > 0
    assert all(why for _, why in done.skipped_why)


@pytest.mark.parametrize(
    "shape",
    ["429-retry-after", "429-retry-after-date", "429-retry_after_seconds", "429-retryAfter",
     "429-retry_after_minutes", "429-retryAfterMinutes", "429-reset_at", "429-ratelimit-reset",
     "429-words"],
)  # fmt: skip
def test_a_limit_in_any_shape_is_honoured_and_shown(moltbook: Any, account: Any, shape: str):
    moltbook.add_post("iris")
    before = timezone.now()
    moltbook.fault(shape, match="GET", seconds=120)
    done = look(account)
    assert account.state == "limited"
    assert account.state_until >= before + timedelta(seconds=119)
    assert account.next_watch_at >= account.state_until
    assert done.outcome
    requests = len(moltbook.requests)
    assert watcher_rounds.watch_due(worker="w") == []
    assert len(moltbook.requests) == requests


def test_a_refused_key_stops_the_account_until_a_new_one_comes(moltbook: Any, account: Any):
    account.sealed_credential = crypto.encrypt("moltbook_" + "0" * 64)
    account.save(update_fields=["sealed_credential"])
    look(account)
    assert account.state == "auth_failed"
    Account.objects.update(next_watch_at=LONG_AGO)
    assert watcher_rounds.watch_due(worker="w") == []
    connect("moltbook", agent="iris", base_url=moltbook.url, token=moltbook.key,
            by="operator:mira", now=timezone.now())  # fmt: skip
    [done] = watcher_rounds.watch_due(worker="w")
    assert str(done.outcome) == ""


def test_a_service_that_is_gone_is_down_since_then(moltbook: Any, account: Any):
    moltbook.stop()
    look(account)
    since = account.state_since
    assert account.state == "down"
    look(account)
    assert account.state_since == since


def test_a_suspension_seen_while_writing_stops_writing(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    look(account)
    [question] = Message.objects.awaiting_reply()
    moltbook.suspend("iris")
    draft = draft_services.compose(
        account=account, what="reply", target=question, text="That too.",
        by="operator:mira", now=timezone.now(),
    )  # fmt: skip
    draft_services.approve(draft, digest=draft.digest(), by="operator:mira", now=timezone.now())
    for _ in range(3):
        sender.deliver_due(WorkerLock(), clock=timezone.now)
    account.refresh_from_db()
    asked = [path for method, path, _ in moltbook.requests if method == "POST"]
    assert account.state == "suspended"
    assert len(asked) == 1
    assert moltbook.stored(kind="comment", author="iris") == []


def test_one_name_on_a_service_is_one_account(moltbook: Any, account: Any):
    look(account)
    twin = connect(
        "moltbook", agent="otto", base_url=moltbook.url, token=moltbook.key,
        by="operator:mira", now=timezone.now(),
    )  # fmt: skip
    done = look(twin)
    assert "another name already" in str(done.outcome)
    assert twin.state == "auth_failed"


def test_rounds_of_two_watchers_never_overlap(moltbook: Any, account: Any):
    first = watcher_rounds.claim(worker="a", now=timezone.now())
    assert first is not None
    assert watcher_rounds.claim(worker="b", now=timezone.now()) is None
    assert watcher_rounds.round_of(account) is None


def test_a_dead_watchers_claim_lapses_and_a_late_one_stops(moltbook: Any, account: Any):
    moltbook.add_comment(moltbook.add_post("iris"), "nightjar", "What of the moon?")
    late = watcher_rounds.claim(worker="a", now=timezone.now())
    Account.objects.update(watch_lease_until=LONG_AGO, next_watch_at=LONG_AGO)
    [done] = watcher_rounds.watch_due(worker="b")
    assert str(done.outcome) == ""
    Message.objects.update(thread_read_at=None)
    overtaken = watcher_rounds._round(late, clock=timezone.now, transport=None)
    assert "took over" in str(overtaken.outcome)


def test_every_known_thread_is_read_again_within_a_day(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    look(account)
    Message.objects.update(thread_read_at=timezone.now() - timedelta(hours=25))
    done = look(account)
    assert done.threads == 1
    assert Message.objects.get(remote_id=post).thread_read_at > timezone.now() - timedelta(hours=1)


def test_a_long_history_comes_with_backfill(moltbook: Any, account: Any):
    posts = [moltbook.add_post("iris", f"On tides {n}") for n in range(12)]
    for post in posts:
        moltbook.add_comment(post, "nightjar", f"What of {post}?")
    steps = list(backfill(account, clock=timezone.now))
    assert len(steps) == 12
    assert Message.objects.comments().count() == 12
    again = list(backfill(account, clock=timezone.now))
    assert again[-1].stored == 0


def test_queries_of_a_round_do_not_grow_with_rows(moltbook: Any, account: Any):
    post = moltbook.add_post("iris")
    look(account)
    counts = []
    for size in (3, 60):
        for number in range(size):
            moltbook.add_comment(post, "nightjar", f"comment {size} {number} about reefs")
        requests = len(moltbook.requests)
        with CaptureQueriesContext(connection) as queries:
            look(account)
        # Each request is taken from the shared budgets: that is per request, not per row.
        budget = [q for q in queries if "surfaces_ratelimitwindow" in q["sql"]]
        counts.append(len(queries) - len(budget))
        assert len(moltbook.requests) - requests <= 6
    assert counts[0] == counts[1]


def test_a_lost_database_ends_the_round_with_one_line_and_the_next_one_works(
    moltbook: Any, account: Any, monkeypatch: Any
):
    from django.db import OperationalError

    def lost(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    moltbook.add_comment(moltbook.add_post("iris"), "nightjar", "What of the moon?")
    monkeypatch.setattr(watcher_rounds.connection, "close", lambda: None)
    with monkeypatch.context() as patched:
        patched.setattr(watcher_rounds, "store", lost)
        done = look(account)
    assert "Database error" in str(done.outcome)
    assert look(account).stored == 2


@pytest.mark.django_db(transaction=True)
def test_two_watchers_at_once_store_everything_once(moltbook: Any, account: Any):
    for number in range(4):
        post = moltbook.add_post("iris", f"On tides {number}")
        moltbook.add_comment(post, "nightjar", f"What of {number}?")
    others = [
        make_account(surface=account.surface, token=moltbook.add_agent(f"other_{n}"), handle="")
        for n in range(3)
    ]
    for number, _ in enumerate(others):
        moltbook.add_comment(moltbook.add_post(f"other_{number}"), "nightjar", f"And {number}?")
    Account.objects.update(next_watch_at=LONG_AGO)
    start = threading.Barrier(3)

    def work(name: str) -> None:
        start.wait()
        watcher_rounds.watch_due(worker=name)
        connection.close()

    threads = [threading.Thread(target=work, args=[name]) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert WatchRound.objects.count() == 1 + len(others)
    assert Message.objects.comments().count() == 4 + len(others)


def test_a_fault_of_ours_ends_one_round_and_no_other(moltbook: Any, account: Any, monkeypatch: Any):
    make_account(surface=account.surface, token=moltbook.add_agent("otto"), handle="")
    Account.objects.update(next_watch_at=LONG_AGO)
    real, struck = watcher_rounds._read, []

    def fault(*args: Any, **kwargs: Any) -> Any:
        if not struck:
            struck.append(1)
            raise RecursionError("maximum recursion depth exceeded")
        return real(*args, **kwargs)

    monkeypatch.setattr(watcher_rounds, "_read", fault)
    done = watcher_rounds.watch_due(worker="w")
    assert [bool(row.outcome) for row in done] == [True, False]
    assert "RecursionError" in str(done[0].outcome)
    assert not Account.objects.filter(state="auth_failed").exists()


def test_a_value_that_surprises_us_does_not_sign_the_account_out(
    moltbook: Any, account: Any, monkeypatch: Any
):
    def fault(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("an odd value")

    with monkeypatch.context() as patched:
        patched.setattr(watcher_rounds, "_read", fault)
        assert look(account).outcome
    assert account.state != "auth_failed"


def test_an_account_whose_key_is_lost_says_so(moltbook: Any, account: Any):
    account.sealed_credential = b"sealed with a lost key"
    account.save(update_fields=["sealed_credential"])
    assert "cannot be decrypted" in str(look(account).outcome)
    assert account.state == "auth_failed"


@pytest.mark.parametrize("trouble", ["limited", "down"])
def test_passing_trouble_does_not_end_a_suspension(moltbook: Any, account: Any, trouble: str):
    account.becomes("suspended", now=timezone.now(), why="duplicate content")
    if trouble == "limited":
        moltbook.fault("429-retry-after", match="GET", seconds=1)
    else:
        moltbook.fault("503", match="GET", times=9)
    look(account)
    moltbook.clear_faults()
    Account.objects.update(state_until=None)
    look(account)
    assert account.state == "suspended"
    assert not Account.objects.able_to_write(timezone.now()).exists()


def test_threads_that_cannot_be_read_do_not_hide_those_behind_them(moltbook: Any, account: Any):
    posts = [moltbook.add_post("iris", f"On tides {n}") for n in range(6)]
    look(account)
    for post in posts:
        moltbook.add_comment(post, "nightjar", f"What of {post}?")
    for post in posts[:3]:
        moltbook.fault("500-before", match=f"GET .*/posts/{post}", times=1000)
    for _ in range(6):
        Message.objects.filter(remote_id__in=posts[:3]).update(thread_read_at=None)
        look(account)
    assert Message.objects.comments().count() == 3


def test_what_a_round_did_not_get_to_is_read_in_the_next(
    moltbook: Any, account: Any, monkeypatch: Any
):
    monkeypatch.setattr(watcher_rounds, "MOST_THREADS", 2)
    posts = [moltbook.add_post("iris", f"On tides {n}") for n in range(5)]
    for post in posts:
        moltbook.add_comment(post, "nightjar", f"What of {post}?")
    rounds = [look(account).threads for _ in range(3)]
    assert rounds == [2, 2, 1]
    assert Message.objects.comments().count() == 5


def test_a_hub_says_its_news_once_and_still_none_is_lost(monkeypatch: Any):
    """Its cursor moves on; what a round did not get to is remembered by us."""
    account = connect("hub", agent="iris", by="operator:mira", now=timezone.now())
    me = HubAuthor.objects.get(name="iris")
    posts = [make_hub_post(me, title=f"On tides {n}") for n in range(5)]
    look(account)
    for post in posts:
        say(post, content=f"What of {post.title}?")
    monkeypatch.setattr(watcher_rounds, "MOST_THREADS", 2)
    real, struck = watcher_rounds.read_thread, []

    def once_broken(account: Account, reader: Any, post_id: str, *args: Any, **kwargs: Any) -> None:
        if not struck:
            struck.append(post_id)
            raise TryLater("a hiccup")
        real(account, reader, post_id, *args, **kwargs)

    monkeypatch.setattr(watcher_rounds, "read_thread", once_broken)
    for _ in range(3):
        look(account)
    assert Message.objects.comments().count() == 5


def test_the_first_poll_finds_out_the_dialect_and_remembers_it(moltbook: Any, account: Any):
    Surface.objects.update(dialect="")
    account.surface.refresh_from_db()
    look(account)
    assert Surface.objects.get().dialect == moltbook.world.dialect
    asked = len(moltbook.requests)
    look(Account.objects.select_related("surface").get())
    assert "/api/v1/agents/me" not in [path for _, path, _ in moltbook.requests[asked:]]


def test_an_unclaimed_account_is_shown_until_its_owner_claims_it(moltbook: Any, account: Any):
    agent = moltbook.world.agent("iris")
    agent.is_claimed = False
    look(account)
    assert account.identity_note.code == "moltbook.not_claimed"
    assert not account.is_well
    agent.is_claimed = True
    look(account)
    assert not account.identity_note
    assert account.is_well


def test_a_link_post_is_stored_with_its_link_and_its_score_is_refreshed(
    moltbook: Any, account: Any
):
    post = moltbook.add_post("iris", "A paper", "")
    comment = moltbook.add_comment(post, "nightjar", "Which page?")
    moltbook.posts[post].url = "https://example.org/paper.pdf"
    look(account)
    stored = Message.objects.get(remote_id=post)
    assert (stored.url, stored.link) == ("https://example.org/paper.pdf",) * 2
    assert stored.page_url == ""
    moltbook.posts[post].score, moltbook.comments[comment].score = 7, -2
    moltbook.add_comment(post, "nightjar", "And which figure?")
    look(account)
    assert Message.objects.get(remote_id=post).score == 7
    assert Message.objects.get(remote_id=comment).score == -2
    assert Message.objects.get(remote_id=comment).edited_at is None
