from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.budgets import rules as budget_rules
from dialogue.errors import OutOfBudget, VoiceDown
from dialogue.models import Activation, Agent, ModelEndpoint, Reservation, Spending
from dialogue.voice import generate, samples
from dialogue.voice.base import Brief, Reply, UsageRecorder
from dialogue.voice.samples import Sample
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import (
    NOON,
    make_agent,
    make_message,
    make_notification,
    make_presence,
)

pytestmark = pytest.mark.django_db
ADA = "operator:ada"


class Pricey:
    """A voice that asks a model once, and is answered or not."""

    name = "test:pricey"

    def __init__(self, *, cost: Decimal | None = Decimal("0.02"), breaks: str = "") -> None:
        self.cost, self.breaks = cost, breaks

    def write(self, brief: Brief, watch: UsageRecorder) -> Reply:
        ticket = watch.asking(self.name, tokens_in=1_000, tokens_out=500, facts={})
        if self.breaks:
            watch.failed(ticket, "broke", took_ms=5, may_have_cost=self.breaks == "late")
            raise VoiceDown("It broke.")
        watch.answered(ticket, tokens_in=900, tokens_out=100, cost=self.cost, words="…",
                       facts={}, took_ms=5)  # fmt: skip
        return Reply(terms="T.", pointer="P.", text="T.\n\nP.")


def sample(agent: Agent, voice: Any = None, *, at: datetime = NOON) -> Sample:
    if voice:
        return samples.sample(agent, by=ADA, clock=lambda: at, opened=lambda _: voice)
    return samples.sample(agent, by=ADA, clock=lambda: at)


def spent(owner: str) -> tuple[int, Decimal]:
    row = Spending.objects.get(owner=owner, period="day")
    return row.tokens, row.money


def test_a_sample_answers_the_newest_comment_and_leaves_nothing_behind():
    presence = make_presence()
    for words in ("The table was right.", "But what does the table leave out on a windy day?"):
        make_notification(presence=presence, message=make_message(
            account=presence.account, author="odile", content=words))  # fmt: skip
    made = sample(presence.agent)
    assert made.about.text.endswith("windy day?")
    assert made.words
    assert made.words.terms
    assert made.words.pointer
    assert made.voice == "scripted"
    assert not Draft.objects.exists()
    assert not Activation.objects.exists()
    assert not Message.objects.exclude(reply_attempts=0).exists()


@pytest.mark.parametrize("facts", [{"spam_status": "spam"}, {"spam_status": "suspect"},
                                   {"deleted_at": NOON}])  # fmt: skip
def test_what_nobody_would_answer_is_no_sample(facts: Any):
    presence = make_presence()
    message = make_message(account=presence.account, **facts)
    make_notification(presence=presence, message=message)
    assert sample(presence.agent).is_built_in


def test_what_it_cost_is_in_the_books_and_in_the_ledger():
    agent = make_agent()
    made = sample(agent, Pricey())
    assert spent(f"agent:{agent.slug}") == (1_000, Decimal("0.02"))
    assert spent("house") == (1_000, Decimal("0.02"))
    assert (made.tokens_in, made.tokens_out, made.cost_is_guess) == (900, 100, False)
    line = AuditEvent.objects.called("voice.tried").get()
    assert (line.actor, line.facts["cost"], line.facts["tokens"]) == (ADA, "$0.0200", 1_000)
    assert not Reservation.objects.exists()


def test_an_unknown_price_is_the_fallback_and_said_to_be_a_guess():
    agent = make_agent(settings={"price_in": Decimal(10), "price_out": Decimal(100)})
    made = sample(agent, Pricey(cost=None))
    assert (made.cost, made.cost_is_guess) == (Decimal("0.019"), True)
    assert spent("house")[1] == Decimal("0.019")


@pytest.mark.parametrize(("breaks", "tokens"), [("early", 0), ("late", 1_500)])
def test_what_broke_costs_only_if_it_had_reached_the_provider(breaks: str, tokens: int):
    agent = make_agent()
    made = sample(agent, Pricey(breaks=breaks))
    assert (made.words, str(made.trouble)) == (None, "It broke.")
    assert spent("house")[0] == tokens


@pytest.mark.parametrize("owner", ["agent", "house"])
def test_without_money_nothing_is_asked(owner: str):
    agent = make_agent()
    name, money = ("house", "4.999") if owner == "house" else (f"agent:{agent.slug}", "0.999")
    today = budget_rules.periods(NOON)["day"]
    Spending.objects.create(owner=name, period="day", starts=today, money=Decimal(money))
    made = sample(agent, Pricey())
    assert made.words is None
    assert "is too low" in str(made.trouble)
    assert sum(row.tokens for row in Spending.objects.all()) == 0


def test_a_model_voice_without_a_model_says_so(admin: Client):
    agent = make_agent(settings={"voice": "model"})
    page = admin.post(reverse("dialogue:try_voice", args=[agent.slug])).content.decode()
    assert "No model is set" in page


@pytest.mark.parametrize("has_comment", [True, False])
def test_a_key_we_lost_is_said_in_a_sentence(has_comment: bool):
    agent = make_agent(settings={"voice": "model"})
    ModelEndpoint.objects.create(agent=agent, model="openai:small", sealed_key=b"not ours")
    if has_comment:
        make_notification(presence=make_presence(agent=agent))
    assert "cannot be decrypted" in str(sample(agent).trouble)


def test_the_page_shows_the_parts_escaped(admin: Client):
    presence = make_presence()
    message = make_message(
        account=presence.account, content="Does <script>alert(1)</script> belong in a tide table?"
    )
    make_notification(presence=presence, message=message)
    page = admin.post(reverse("dialogue:try_voice", args=[presence.agent.slug])).content.decode()
    assert ">Terms</dt>" in page
    assert "<script>alert(1)" not in page
    assert "scripted" in page


def test_out_of_budget_is_what_the_books_say():
    with pytest.raises(OutOfBudget):
        samples.book(make_agent(settings={"tokens_per_day": 10}),
                      samples.SampleCost(11, Decimal(0), NOON))  # fmt: skip


def test_the_voice_that_is_tried_is_the_one_that_would_write():
    agent = make_agent()
    assert sample(agent).voice == generate.voice_of(agent).name
