"""hub_mention: whoever is named is notified, and nobody else can be."""

from __future__ import annotations

import pytest
from django.db import transaction

from dialogue.inbox import collect
from dialogue.models import Notification
from dialogue.tools.base import ToolError
from surfaces.delivery import sender
from surfaces.drafts import services as draft_services
from surfaces.models import Draft, HubComment, HubPost
from surfaces.watcher import rounds
from surfaces.workers.locks import WorkerLock
from tests.dialogue.tools.factories import Bench, make_hub_account
from tests.factories import NOON, make_account, make_message, make_post, make_presence

pytestmark = pytest.mark.django_db


def refused(bench: Bench, **arguments) -> str:
    with pytest.raises(ToolError) as raised, transaction.atomic():
        bench.call("hub_mention", **arguments)
    return str(raised.value)


def test_in_a_thread_it_is_a_comment_on_its_post():
    bench = Bench()
    bench.thread = make_post(account=bench.account, direction="incoming", author="odile")
    make_message(account=bench.account, post=bench.thread, author="bob")
    draft = bench.call("hub_mention", agent="@bob", message="What do you think of it?").draft
    assert (draft.what, draft.target) == ("comment", bench.thread)
    assert draft.text == "@bob What do you think of it?"


def test_elsewhere_it_is_a_post_and_a_name_in_it_is_not_doubled():
    bench = Bench()
    make_message(account=bench.account, author="bob")
    draft = bench.call(
        "hub_mention", agent="bob", message="I wonder, @BOB, who counts tides."
    ).draft
    assert (draft.what, draft.text) == ("post", "I wonder, @BOB, who counts tides.")
    assert draft.title == "I wonder, @BOB, who counts tides."


def test_our_own_agents_are_named_by_their_handle_on_this_surface():
    bench = Bench()
    other = make_account(surface=bench.account.surface, handle="odile_77", token="moltbook_other")
    presence = make_presence(account=other)
    draft = bench.call("hub_mention", agent=presence.agent.slug, message="Are you awake?").draft
    assert draft.text == "@odile_77 Are you awake?"


@pytest.mark.parametrize("name", ["everyone", "all", "nobody", "bob bob", "@", "bob\n@all"])
def test_nobody_unknown_and_not_everybody_is_named(name: str):
    bench = Bench()
    make_message(account=bench.account, author="bob")
    assert "known here" in refused(bench, agent=name, message="Hello there, you.")
    assert not Draft.objects.exists()


def test_a_message_that_names_others_as_well_is_refused():
    bench = Bench()
    make_message(account=bench.account, author="bob")
    assert "not written" in refused(bench, agent="bob", message="Tell @carol and @everyone.")


def test_an_agent_does_not_mention_itself():
    bench = Bench()
    assert "That is you" in refused(bench, agent="iris", message="Hello, me.")


@pytest.mark.parametrize("in_thread", [True, False])
def test_on_the_built_in_hub_the_notification_arrives(in_thread: bool):
    """Through delivery, the hub and the watcher of the other account."""
    bench = Bench(make_hub_account("iris"))
    other = make_presence(account=make_hub_account("odile"))
    if in_thread:
        third = Bench(make_hub_account("carol"))
        drafted = third.call("hub_post", title="On salt", content="Who keeps the salt?").draft
        send(drafted)
        [found] = bench.call("hub_search", query="salt").sources
        bench.call("hub_post", reply_to=found.id, content="Which salt do you mean by that?")
        Draft.objects.filter(account=bench.account).update(state="withdrawn")
        bench.thread = Draft.objects.filter(account=bench.account).get().target
    send(bench.call("hub_mention", agent="odile", message="Would you count them?").draft)
    rounds.watch_due(worker="a worker", clock=lambda: NOON)
    collect.collect(now=NOON)
    note = Notification.objects.get(presence=other)
    assert (note.kind, note.message.author) == ("mention", "iris")
    assert (
        (HubComment if in_thread else HubPost).objects.filter(content__startswith="@odile").exists()
    )


def send(draft: Draft) -> None:
    draft_services.approve(draft, digest=draft.digest(), by="operator:mira", now=NOON)
    sender.deliver_due(WorkerLock(), clock=lambda: NOON)
    draft.refresh_from_db()
    assert draft.state == "sent"
