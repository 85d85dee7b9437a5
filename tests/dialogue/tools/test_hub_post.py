"""hub_post: words become a draft by the mode, once, within every limit and check."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from dialogue.errors import LeaseLost
from dialogue.models import Activation, AgentSettings, Presence
from dialogue.tools.base import ToolError
from surfaces.models import Account, Draft, Message
from tests.dialogue.tools.factories import Bench, make_hub_account
from tests.factories import (
    make_draft,
    make_message,
    make_notification,
    make_post,
    make_presence,
)

pytestmark = pytest.mark.django_db
SAID = {
    "reply": "Which of the two would you miss first?", "comment": "Who keeps the count of it?",
    "post": "A promise that nobody made is still kept by somebody.",
}  # fmt: skip
WORDS = "A table leaves out the people who wait for the water."


@pytest.fixture
def bench() -> Bench:
    return Bench()


def comment(bench: Bench, **given) -> Message:
    return make_message(account=bench.account, **given)


def refused(bench: Bench, **arguments) -> str:
    before = Draft.objects.count()
    with pytest.raises(ToolError) as raised, transaction.atomic():
        bench.call("hub_post", **arguments)
    assert Draft.objects.count() == before
    return str(raised.value)


def test_what_is_written_follows_from_what_it_answers(bench: Bench):
    said = comment(bench)
    post = make_post(account=bench.account, direction="incoming", author="odile")
    for ref, kind, target in ((str(said.pk), "reply", said), (str(post.pk), "comment", post),
                              ("", "post", None)):  # fmt: skip
        result = bench.call("hub_post", content=SAID[kind], reply_to=ref, title="On waiting")
        draft = result.draft
        assert (draft.what, draft.target, draft.state) == (kind, target, "waiting")
        assert (draft.origin, draft.agent) == ("tool:hub_post", bench.agent.slug)
        assert draft.title == ("On waiting" if kind == "post" else "")
        assert str(draft.pk) in result.text
        assert "waits for an operator" in result.text


def test_the_mode_of_the_account_decides_and_the_model_is_told(bench: Bench):
    Account.objects.filter(pk=bench.account.pk).update(mode="shadow")
    result = bench.call("hub_post", content=WORDS, reply_to=str(comment(bench).pk))
    assert result.draft.state == "shadowed"
    assert "never sent" in result.text
    Account.objects.filter(pk=bench.account.pk).update(mode="auto")
    result = bench.call("hub_post", content=f"{WORDS} Again.", reply_to=str(comment(bench).pk))
    assert result.draft.state == "approved"
    assert "will be sent" in result.text
    Account.objects.filter(pk=bench.account.pk).update(mode="off")
    assert "not written" in refused(bench, content="More words.", title="On more")


def test_the_same_call_again_returns_the_draft_that_it_wrote(bench: Bench):
    ref = str(comment(bench).pk)
    first = bench.call("hub_post", "call:7", content=WORDS, reply_to=ref)
    again = bench.call("hub_post", "call:7", content=WORDS, reply_to=ref)
    assert first.draft.pk == again.draft.pk
    assert Draft.objects.count() == 1


def test_a_second_reply_to_one_comment_is_a_clear_error(bench: Bench):
    said = comment(bench)
    make_draft(account=bench.account, target=said)
    assert "not written" in refused(bench, content=WORDS, reply_to=str(said.pk))


def test_the_message_at_hand_is_left_to_the_final_answer(bench: Bench):
    note = make_notification(presence=bench.presence)
    Activation.objects.all().delete()
    bench.wake(notification=note)
    assert "final answer" in refused(bench, content=WORDS, reply_to=str(note.message_id))


def test_own_words_are_not_answered(bench: Bench):
    post = make_post(account=bench.account)
    assert "yourself" in refused(bench, content=WORDS, reply_to=str(post.pk))


@pytest.mark.parametrize(
    "facts",
    [{"spam_status": "spam"}, {"spam_status": "suspect"}, {"deleted_at": "2026-11-21T11:00Z"}],
)
def test_what_was_held_or_deleted_is_unknown(bench: Bench, facts: dict):
    assert "no message" in refused(bench, content=WORDS, reply_to=str(comment(bench, **facts).pk))


def test_messages_of_other_accounts_are_unknown(bench: Bench):
    assert "no message" in refused(bench, content=WORDS, reply_to=str(make_message().pk))


@pytest.mark.parametrize(
    "ref",
    ["999999999999", "abc", "-1", "5; DROP TABLE", "message", "²", "item:", "item:a:b:c", "item::",
     "item:%00"],
)  # fmt: skip
def test_an_id_that_is_none_is_refused_in_words(bench: Bench, ref: str):
    assert "There is no message" in refused(bench, content=WORDS, reply_to=ref)


# ── limits ────────────────────────────────────────────────────────────────


def change(bench: Bench, **facts) -> None:
    AgentSettings.objects.filter(agent=bench.agent).update(**facts)
    bench.agent.settings.refresh_from_db()


def test_replies_per_day_and_per_thread_hold_for_comments_too(bench: Bench):
    post = make_post(account=bench.account, direction="incoming", author="odile")
    first = make_message(account=bench.account, post=post)
    change(bench, replies_per_thread=1)
    bench.call("hub_post", content=WORDS, reply_to=str(post.pk))
    assert "this thread" in refused(bench, content="More of it.", reply_to=str(first.pk))
    change(bench, replies_per_thread=5, replies_per_day=1)
    assert "replies today" in refused(bench, content="More.", reply_to=str(comment(bench).pk))


def test_spacing_names_how_long_to_wait(bench: Bench):
    change(bench, spacing_seconds=90)
    bench.call("hub_post", content=WORDS, reply_to=str(comment(bench).pk))
    bench.at(timedelta(seconds=30))
    assert "61 s" in refused(bench, content="More of it.", reply_to=str(comment(bench).pk))
    bench.at(timedelta(seconds=61))
    bench.call("hub_post", content="More of it.", reply_to=str(comment(bench).pk))


def test_posts_per_day_hold_for_the_agent_and_for_the_presence(bench: Bench):
    Presence.objects.update(stones_per_day=1)
    bench.call("hub_post", content=WORDS, title="On waiting")
    assert "posts here today" in refused(bench, content="Other words.", title="On more")
    Presence.objects.update(stones_per_day=9)
    change(bench, posts_per_day=1)
    assert "posts today" in refused(bench, content="Other words.", title="On more")
    bench.at(timedelta(days=1))
    bench.call("hub_post", content="Other words.", title="On more")


def test_settings_that_changed_meanwhile_forbid_it(bench: Bench):
    change(bench, is_autonomous=False)
    assert "not written" in refused(bench, content=WORDS, reply_to=str(comment(bench).pk))


def test_a_worker_that_lost_its_lease_writes_nothing(bench: Bench):
    ref = str(comment(bench).pk)
    Activation.objects.update(
        state="abandoned", outcome="activation.worker_died", ended_at=bench.now
    )
    with pytest.raises(LeaseLost):
        bench.call("hub_post", content=WORDS, reply_to=ref)
    assert not Draft.objects.exists()


def test_grants_hold_for_the_community_it_goes_to(bench: Bench):
    news = make_post(account=bench.account, direction="incoming", submolt="news")
    commons = make_post(account=bench.account, direction="incoming", submolt="commons")
    change(bench, grants=["moltbook:write:commons"])
    assert "no grant" in refused(bench, content=WORDS, reply_to=str(news.pk))
    assert "no grant" in refused(bench, content=WORDS, title="On", community="news")
    assert "no grant" in refused(bench, content=WORDS, title="On")
    bench.call("hub_post", content=WORDS, reply_to=str(commons.pk))
    bench.call("hub_post", content=SAID["post"], title="On", community="commons")


# ── text ──────────────────────────────────────────────────────────────────


def test_secrets_private_texts_strangers_and_repeats_are_refused(bench: Bench):
    ref = str(comment(bench).pk)
    history = "She keeps a long and private history of every tide that fishers told her about."
    bench.agent.note(persona=f"You are Iris, who came from the sea. {history} Nobody reads it.")
    secret = bench.account.credential
    for words in (
        f"My key is {secret}, keep it.", f"It is {secret[::-1]}, read backwards.",
        "sk-" + "a" * 40, bench.agent.persona, "Thanks @somebody_else for this.",
        "Hello @everyone, look.", "Nothing\u200bhidden\u200bhere.", "x" * 5_000,
    ):  # fmt: skip
        said = refused(bench, content=words, reply_to=ref)
        assert secret not in said
    make_message(account=bench.account, direction="outgoing", content=WORDS, author="iris")
    assert "repeat" in refused(bench, content=WORDS, reply_to=ref)


def test_a_post_needs_a_title(bench: Bench):
    assert "title" in refused(bench, content=WORDS)


def test_the_number_of_queries_does_not_grow_with_the_thread(
    bench: Bench, django_assert_max_num_queries
):
    post = make_post(account=bench.account, direction="incoming")
    for _ in range(30):
        make_message(account=bench.account, post=post)
    with django_assert_max_num_queries(45):
        bench.call("hub_post", content=WORDS, reply_to=str(post.pk))


# ── community ─────────────────────────────────────────────────────────────


def posted(bench: Bench, **given) -> Draft:
    draft = bench.call("hub_post", content=WORDS, title="On tables", **given).draft
    assert draft is not None
    return draft


def post_in(account: Account, *communities: str) -> None:
    for community in communities:
        make_post(account=account, submolt=community)


def test_a_post_that_names_no_community_goes_to_the_one_that_is_set():
    bench = Bench(community="tides")
    post_in(bench.account, "general", "general")
    assert posted(bench).community == "tides"


def test_without_one_it_goes_where_the_account_usually_posts():
    bench = Bench(community="")
    post_in(bench.account, "general", "tides", "tides")
    post_in(make_presence().account, *["elsewhere"] * 5)
    make_post(account=bench.account, direction="incoming", author="odile", submolt="news")
    assert posted(bench).community == "tides"


def test_the_community_that_is_named_wins():
    bench = Bench(community="tides")
    post_in(bench.account, "general")
    assert posted(bench, community="news").community == "news"


def test_where_none_is_known_the_model_is_told_to_name_one_and_nothing_is_written():
    bench = Bench(community="")
    post_in(make_presence().account, "elsewhere")
    said = refused(bench, content=WORDS, title="On tables")
    assert said == "A post here needs a community. Name one that fits it, with hub_post."
    assert posted(bench, community="tides").community == "tides"


def test_an_answer_needs_no_community():
    bench = Bench(community="")
    draft = bench.call("hub_post", content=WORDS, reply_to=str(comment(bench).pk)).draft
    assert draft is not None
    assert draft.community == ""


def test_a_service_that_needs_none_posts_without():
    assert posted(Bench(make_hub_account("iris"), community="")).community == ""


def test_a_community_that_is_denied_is_refused_when_it_is_the_usual_one():
    for bench in (Bench(community="general"), Bench(community="")):
        change(bench, grants=["moltbook:write", "!moltbook:write:general"])
        post_in(bench.account, "general")
        said = refused(bench, content=WORDS, title="On tables")
        assert said == "You have no grant to write in general."
        assert "no grant to write in General" in refused(
            bench, content=WORDS, title="On tables", community="General"
        )
        assert posted(bench, community="tides").community == "tides"


def test_where_a_community_is_denied_no_post_goes_where_the_service_chooses():
    bench = Bench(make_hub_account("iris"), community="")
    change(bench, grants=["hub:write", "!hub:write:general"])
    assert "no grant to write in no community in particular" in refused(
        bench, content=WORDS, title="On tables"
    )
    assert posted(bench, community="tides").community == "tides"


@pytest.mark.parametrize("ref", ["item:..", "item:.", "item:%2e%2e:c1", "item:p1:..."])
def test_dots_are_no_id_at_a_service(bench, ref: str):
    with pytest.raises(ToolError, match="no message"):
        bench.call("hub_get_thread", post_id=ref)
