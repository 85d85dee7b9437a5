"""What an exploration offers to the agent: chosen from what was found, recorded, read again.

Every post that was considered is kept in one step of the transcript, with the reason why it was
offered or was not. A conversation that waited for an operator goes on with the posts of that step,
under the same numbers.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation, ActivationItem
from dialogue.exploration import sources
from dialogue.exploration.candidates import CandidateVerdict, judge, ranked
from dialogue.exploration.sources import FoundPost, Transport
from surfaces.adapters.types import Item
from surfaces.text.format import one_line
from surfaces.text.reasons import StoredReason, reason

STEP = "offered"
MOST_KEPT = 60  # posts in the step; the offered ones are always among them
LONGEST_TITLE = 160
KEPT = ("number", "remote_id", "message", "author", "title", "text", "link", "written_at")


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A post that the agent may answer, as it is shown."""

    number: int  # from 1
    remote_id: str
    message: int = 0  # 0: it was looked at and is not stored
    author: str = ""
    title: str = ""
    text: str = ""
    link: str = ""
    written_at: str = ""
    item: Item | None = None


def offer(
    activation: Activation,
    item: ActivationItem,
    *,
    clock: Callable[[], datetime],
    transport: Transport = None,
) -> list[Candidate]:
    """Find posts, judge each, and record what came of it. Hold no transaction."""
    presence = activation.presence
    interests = sources.interests_of(presence)
    found = sources.find(presence, interests, clock=clock, transport=transport)
    now = clock()
    verdicts = [judge(post.facts, interests, now) for post in found.posts]
    order = ranked(verdicts, [post.facts.created_at for post in found.posts])
    candidates = [_candidate(found.posts[at], number) for number, at in enumerate(order, 1)]
    rows = [_kept(one, verdicts[at]) for one, at in zip(candidates, order, strict=True)]
    others = [at for at in range(len(verdicts)) if at not in order]
    rows += [_kept(_candidate(found.posts[at], 0), _not_offered(verdicts[at])) for at in others]
    activation_services.record_step(
        activation, STEP, item=item, now=now,
        why=reason("exploration.considered", seen=len(verdicts), offered=len(order)),
        facts={"posts": rows[:MOST_KEPT]} | ({"feed": found.feed_why} if found.feed_why else {}),
    )  # fmt: skip
    return candidates


def offered(item: ActivationItem) -> list[Candidate]:
    """What was offered when the conversation began."""
    step = item.steps.filter(kind=STEP).order_by("number").last()
    rows = step.facts.get("posts", []) if step else []
    shown = [row for row in rows if row["number"]]
    return [Candidate(**{name: row[name] for name in KEPT}) for row in shown]


def _candidate(post: FoundPost, number: int) -> Candidate:
    facts = post.facts
    return Candidate(
        number=number, remote_id=facts.remote_id, message=post.message, author=facts.author,
        title=facts.title, text=facts.text[: sources.LONGEST], link=post.link, item=post.item,
        written_at=facts.created_at.isoformat(),
    )  # fmt: skip


def _not_offered(verdict: CandidateVerdict) -> CandidateVerdict:
    return replace(verdict, why=reason("exploration.beyond")) if verdict.is_offered else verdict


def _kept(candidate: Candidate, verdict: CandidateVerdict) -> dict[str, Any]:
    """For the step: of a post that was not offered, no text."""
    facts = asdict(replace(candidate, item=None))
    if not candidate.number:
        facts |= {"title": one_line(candidate.title, LONGEST_TITLE), "text": "", "link": ""}
    why: StoredReason = verdict.why
    return {name: facts[name] for name in KEPT} | {"score": round(verdict.score, 2), "why": why}
