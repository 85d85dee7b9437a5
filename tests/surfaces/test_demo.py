"""The demo: a believable community in an empty database, and nothing left of it afterwards."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from surfaces import demo
from surfaces.delivery import sender
from surfaces.drafts import services as draft_services
from surfaces.errors import BadInput
from surfaces.hub import services as hub_services
from surfaces.models import (
    Account,
    AuditEvent,
    Draft,
    HubAuthor,
    HubComment,
    HubCommunity,
    HubPost,
    Message,
    SpamDecision,
    SpamToken,
    Surface,
    WatchRound,
)
from surfaces.spam import feedback
from surfaces.spam.rules import MessageFacts
from surfaces.spam.scoring import score_message
from surfaces.spam.tokenizer import domains
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_account

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = (Account, Surface, Message, Draft, WatchRound, SpamDecision, SpamToken)
HUB_TABLES = (HubAuthor, HubComment, HubCommunity, HubPost)


def run_demo(*args: str) -> str:
    out = StringIO()
    call_command("demo", *args, stdout=out)
    return out.getvalue().strip()


def contents() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in (*TABLES, *HUB_TABLES)}


def notes() -> list[tuple[str, dict[str, Any]]]:
    told = demo.talk()["post"]
    return [(c["note"], c) for post in told for c in post["comment"] if "note" in c]


# ── what it tells ─────────────────────────────────────────────────────────


def test_the_talk_is_of_the_promised_size():
    kinds = [note for note, _ in notes()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "spam": 6,
        "suspect": 4,
        "question": 14,
    }
    assert len(demo.talk()["post"]) == 9
    assert 60 <= sum(len(post["comment"]) for post in demo.talk()["post"]) <= 70


def test_the_spam_filter_sees_in_it_what_a_person_sees():
    for post in demo.talk()["post"]:
        for said in post["comment"]:
            verdict = score_message(MessageFacts(text=said["text"], author=said["by"]))
            expected = said.get("note") if said.get("note") in {"spam", "suspect"} else None
            assert verdict.status == expected, said["text"]


def test_no_link_in_it_leads_anywhere():
    for _, said in notes():
        for domain in domains(said["text"]):
            assert domain.endswith((".example", "203.0.113.77")), domain


def test_everything_is_said_in_the_last_two_days_and_in_order():
    demo.make(now=NOON)
    rows = [*HubPost.objects.all(), *HubComment.objects.select_related("parent", "post")]
    for row in rows:
        assert 0 < (NOON - row.made_at).total_seconds() <= 48 * 3600
    for comment in HubComment.objects.select_related("parent", "post"):
        assert comment.made_at > (comment.parent or comment.post).made_at
    for post in HubPost.objects.all():
        numbers = post.comments.order_by("made_at").values_list("number", flat=True)
        assert list(numbers) == list(range(1, post.comment_count + 1))


def test_two_demos_say_the_same_at_the_same_moments():
    def said() -> list[tuple[Any, ...]]:
        return list(HubComment.objects.values_list("content", "made_at", "author__name", "depth"))

    demo.make(now=NOON)
    first = said()
    demo.clear()
    demo.make(now=NOON)
    assert said() == first


# ── making it ─────────────────────────────────────────────────────────────


def test_the_command_leaves_messages_to_judge_and_drafts_to_approve():
    run_demo()
    for name in ("gabriel", "iris"):
        account = Account.objects.get(handle=name)
        assert (account.name, account.mode) == (f"{name}@hub-demo", "review")
        assert (account.state, account.surface.slug) == ("ok", "hub-demo")
        assert str(WatchRound.objects.get(account=account).outcome) == ""
    assert Account.objects.count() == 2
    assert Message.objects.stones().count() == 4
    assert Message.objects.spam().count() == 6
    assert Message.objects.suspect().count() == 4
    questions = [said["text"] for note, said in notes() if note == "question"]
    asked = Message.objects.awaiting_reply().filter(content__in=questions)
    assert asked.count() == 14
    assert {draft.what for draft in Draft.objects.waiting()} == {"reply"}
    assert Draft.objects.waiting().count() == 3


def test_a_draft_of_the_demo_is_sent_into_its_hub():
    run_demo()
    draft = Draft.objects.waiting().select_related("target").first()
    assert draft
    assert draft.target
    draft_services.approve(draft, digest=draft.digest(), by="operator:mira", now=timezone.now())
    sender.deliver_due(WorkerLock(), clock=timezone.now)
    said = HubComment.objects.get(content=draft.text)
    assert (said.author.name, said.parent.name) == ("gabriel", draft.target.remote_id)
    draft.refresh_from_db()
    assert draft.state == "sent"


def test_twice_is_once():
    run_demo()
    before = contents()
    assert run_demo() == "The demo exists already."
    assert contents() == before


def test_if_empty_does_nothing_beside_an_account_and_says_so():
    make_account()
    before = contents()
    assert run_demo("--if-empty") == "An account exists already; no demo was created."
    assert contents() == before


def test_a_database_in_use_is_refused_with_one_sentence_and_status_2():
    account = make_account()
    before = contents()
    with pytest.raises(CommandError, match=f"in use .the account {account.name}.") as error:
        run_demo()
    assert error.value.returncode == 2
    assert contents() == before


def test_a_hub_in_use_is_refused_too():
    hub_services.join(name="odile", now=NOON)
    with pytest.raises(CommandError, match="odile in the hub"):
        run_demo()
    assert not HubPost.objects.exists()


# ── taking it away ────────────────────────────────────────────────────────


def test_clearing_leaves_nothing_but_the_ledger():
    before = contents()
    run_demo()
    message = Message.objects.incoming().comments().first()
    assert message
    feedback.mark(message, is_spam=True, by="operator:mira", now=NOON)
    lines = AuditEvent.objects.count()
    run_demo("--clear")
    assert contents() == before
    assert AuditEvent.objects.count() > lines
    assert run_demo("--clear") == "There is no demo to remove."


def test_clearing_leaves_what_came_besides():
    run_demo()
    account = make_account()
    author, _ = hub_services.join(name="real", now=NOON)
    real = hub_services.post(author=author, title="Real", content="This stays.", now=NOON)
    gabriel = HubAuthor.objects.get(name="gabriel")
    hub_services.comment(author=gabriel, post=real, content="So it does.", now=NOON)
    answered = hub_services.comment(author=author, post=real, content="It does.", now=NOON)
    other = make_account(surface=Surface.objects.get(slug="hub-demo"), handle="real")
    run_demo("--clear")
    assert set(Account.objects.all()) == {account, other}
    assert Surface.objects.filter(slug="hub-demo").exists(), "another account lives there"
    assert list(HubPost.objects.all()) == [real]
    (kept,) = HubComment.objects.all()
    assert (kept, kept.number, kept.post.comment_count) == (answered, 1, 1)
    assert HubCommunity.objects.get().slug == "commons"


def test_words_of_somebody_real_in_the_demos_threads_keep_it():
    run_demo()
    author, _ = hub_services.join(name="real", now=NOON)
    post = HubPost.objects.filter(author__name="gabriel").first()
    assert post
    comment = hub_services.comment(author=author, post=post, content="Hello.", now=NOON)
    before = contents()
    with pytest.raises(CommandError, match=f"real, .* wrote c{comment.pk}") as error:
        run_demo("--clear")
    assert error.value.returncode == 2
    assert contents() == before
    hub_services.delete(comment, author=author, now=NOON)
    run_demo("--clear")
    assert not HubPost.objects.exists()


def test_a_demo_that_fails_half_way_leaves_nothing():
    demo.make(now=NOON)
    before = contents()
    with pytest.raises(BadInput, match="The name gabriel is taken"):
        demo.make(now=NOON)
    assert contents() == before
