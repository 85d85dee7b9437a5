from datetime import timedelta

import pytest

from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationItem
from dialogue.memory import services as memory_services
from dialogue.models import Activation, Memory
from dialogue.voice import briefs, prompts
from surfaces.drafts import services as draft_services
from surfaces.models import Message
from tests.factories import (
    NOON,
    make_draft,
    make_message,
    make_notification,
    make_post,
    make_presence,
)

pytestmark = [pytest.mark.django_db]


def brief_for(comment, presence, **settings):
    notification = make_notification(presence=presence, message=comment)
    for name, value in settings.items():
        setattr(presence.agent.settings, name, value)
    return briefs.reply_brief(notification, now=NOON)


def test_a_voice_is_told_the_thread_from_its_root_and_the_comment_apart():
    presence = make_presence()
    post = make_post(account=presence.account, title="On tides")
    first = make_message(post=post, author="ana", content="the first")
    comment = make_message(post=post, author="ben", content="the second")
    brief, _ = brief_for(comment, presence)
    assert [said.title or said.text for said in brief.thread] == ["On tides", "the first"]
    assert (brief.comment.author, brief.comment.text) == ("ben", "the second")
    assert brief.thread[1].number == first.pk


@pytest.mark.parametrize("given", [{"spam_status": "spam"}, {"spam_status": "suspect"},
                                   {"deleted_at": NOON}])  # fmt: skip
def test_spam_and_what_was_deleted_is_not_shown_to_a_voice(given):
    presence = make_presence()
    post = make_post(account=presence.account)
    make_message(post=post, content="buy this", **given)
    comment = make_message(post=post)
    brief, _ = brief_for(comment, presence)
    assert len(brief.thread) == 1


def test_what_leads_to_the_comment_is_never_dropped_for_what_is_merely_newer():
    presence = make_presence()
    post = make_post(account=presence.account)
    above = make_message(post=post, content="the way here", created_at=NOON - timedelta(days=9))
    for number in range(60):
        make_message(post=post, content=f"newer {number} " + "x" * 1500, author=f"n{number}")
    comment = make_message(post=post, parent=above, content="and now?")
    brief, _ = brief_for(comment, presence)
    prompt = prompts.build_prompt(brief)
    assert "the way here" in prompt.user
    assert "older texts were left out here" in prompt.user
    assert "the way here" in prompts.build_prompt(prompts.shortened(brief)).user


def test_a_note_of_a_person_and_the_words_sent_back_are_told():
    presence = make_presence()
    comment = make_message(account=presence.account)
    draft = make_draft(target=comment, origin="scripted", text="Too long a text.")
    draft_services.send_back(draft, note="Half as long.", by="operator:mira", now=NOON)
    brief, _ = brief_for(Message.objects.get(pk=comment.pk), presence)
    assert brief.notes == ("A person sent the last draft back: Half as long.",)
    assert brief.before == "Too long a text."


def test_a_run_is_told_only_where_one_answer_speaks_to_all_of_it():
    presence = make_presence()
    post = make_post(account=presence.account)
    make_message(post=post, author="ana", content="one")
    last = make_message(post=post, author="ana", content="two")
    brief, _ = brief_for(last, presence)
    assert brief.run == ()
    presence.agent.settings.answers_runs_once = True
    told = briefs.run_of(last, presence.agent.settings)
    assert [row.content for row in told] == ["one"]


def test_a_run_leaves_out_what_another_draft_of_ours_speaks_to():
    presence = make_presence()
    presence.agent.settings.answers_runs_once = True
    post = make_post(account=presence.account)
    first = make_message(post=post, author="ana", content="one")
    last = make_message(post=post, author="ana", content="two")
    draft = make_draft(target=first)
    assert briefs.run_of(last, presence.agent.settings) == []
    draft_services.withdraw(draft, why="Off topic", by="operator:mira", now=NOON)
    assert briefs.run_of(last, presence.agent.settings) == [first]


def test_words_are_checked_against_the_people_of_the_thread_and_our_secrets():
    presence = make_presence()
    post = make_post(account=presence.account)
    make_message(post=post, author="ana")
    comment = make_message(post=post, author="ben")
    make_message(post=post, direction="outgoing", author="iris", content="said before")
    _, context = brief_for(comment, presence)
    assert {"ana", "ben", presence.account.handle} <= context.people
    assert context.secrets == ("moltbook_test",)
    assert "said before" in context.last_texts


# Posts that name us, tasks, memories, limits


def test_a_post_that_names_us_is_what_the_comment_answers():
    presence = make_presence()
    post = make_post(account=presence.account, author="ana", content="@iris, what is a tide?")
    make_message(post=post, author="ana", content="I mean it.")
    brief, context = brief_for(post, presence)
    assert (brief.purpose, brief.comment, brief.run) == ("comment", None, ())
    assert brief.answered.text == "@iris, what is a tide?"
    assert [said.text for said in brief.thread] == ["@iris, what is a tide?", "I mean it."]
    assert "ana" in context.people
    assert "your comment on the post" in prompts.build_prompt(brief).user


def started(presence, **given) -> tuple[Activation, ActivationItem]:
    activation = activation_services.start(
        presence, purpose="task", why="activation.running", worker="w", now=NOON
    )
    activation.note(**given)
    return activation, activation.items.get()


def test_a_task_is_the_words_of_an_operator_and_may_end_in_a_post():
    presence = make_presence()
    brief, context = briefs.task_brief(*started(presence, task="Look around."), now=NOON)
    assert (brief.purpose, brief.task, brief.thread) == ("task", "Look around.", ())
    assert brief.longest_title == presence.account.surface.traits.title_limit
    assert context.is_post
    assert "Look around." in prompts.build_prompt(brief).system


def test_a_brief_says_what_is_left_of_the_activation_to_a_model_with_tools():
    presence = make_presence(settings={"voice": "model", "grants": ["hub:read"]})
    activation, item = started(presence, requests=4, calls=40, task="Look around.")
    brief, _ = briefs.task_brief(activation, item, now=NOON)
    told = "\n".join(brief.house_rules)
    assert "6 turns" in told
    assert "0 tool calls" in told
    presence.agent.settings.grants = []
    assert "turns" not in "".join(briefs.left_of_limits(presence.agent, activation))


@pytest.mark.parametrize("has_memory", [True, False])
def test_memories_are_told_only_where_the_agent_has_a_memory(monkeypatch, has_memory):
    presence = make_presence()
    kept = [
        Memory(words="Ana keeps a tide table.", trust=0, made_at=NOON, topic="ana",
               sources=[{"kind": "message", "author": "ana"}, {"kind": "message"}]),
        Memory(words="I prefer short answers.", trust=1, made_at=NOON),
    ]  # fmt: skip
    monkeypatch.setattr(memory_services, "relevant", lambda agent, text, now: kept)
    comment = make_message(account=presence.account)
    brief, _ = brief_for(comment, presence, has_memory=has_memory)
    told = [(said.author, said.text, said.is_ours) for said in brief.memories]
    wanted = [("ana", "Ana keeps a tide table.", False), ("", "I prefer short answers.", True)]
    assert told == (wanted if has_memory else [])
