"""The brief of an exploration: who the agent is, what it cares about, and numbered posts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from dialogue.activations.models import Activation, ActivationItem
from dialogue.budgets import remaining
from dialogue.exploration import sources
from dialogue.exploration.candidates import Interests
from dialogue.exploration.offer import Candidate
from dialogue.voice import briefs
from dialogue.voice.base import Brief, ThreadMessage
from dialogue.voice.output_checks import OutputContext


def explore_brief(
    activation: Activation, item: ActivationItem, candidates: Sequence[Candidate], *, now: datetime
) -> tuple[Brief, OutputContext]:
    presence, agent = activation.presence, activation.agent
    about = " ".join(f"{one.title} {one.text}" for one in candidates)
    brief = Brief(
        purpose="explore",
        candidates=tuple(_said(one) for one in candidates),
        interests=tuple(_in_words(sources.interests_of(presence))),
        memories=briefs.memories_about(agent, about, now=now),
        seed=activation.pk * 1_000 + item.position,
        **briefs.who(presence, remaining.left_to_spend(agent, now=now), activation),
    )
    context = briefs.context_of(presence, brief, [])
    authors = frozenset(one.author for one in candidates if one.author)
    return brief, replace(context, people=context.people | authors)


def _said(candidate: Candidate) -> ThreadMessage:
    return ThreadMessage(
        author=candidate.author, text=candidate.text, title=candidate.title, link=candidate.link,
        number=candidate.message, written_at=candidate.written_at,
    )  # fmt: skip


def _in_words(interests: Interests) -> Iterator[str]:
    """English: it stands in the prompt."""
    for name, words in (
        ("Topics", interests.topics),
        ("Keywords", interests.keywords),
        ("Communities", interests.communities),
        ("People you follow", interests.follows),
    ):
        if words:
            yield f"{name}: {', '.join(words)}"
