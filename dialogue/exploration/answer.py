"""From the answer of an exploration to a draft: a comment on the post that the agent chose.

A post that was only looked at is stored now, its thread is read once more where the limit allows
it, and everything that allowed the post is asked again in the transaction that writes the draft.
"""

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime

from dialogue.activations.drafting import DraftWords, put_down
from dialogue.activations.models import Activation, ActivationItem
from dialogue.agents.limits import replies_of
from dialogue.errors import VoiceBroken
from dialogue.exploration import sources
from dialogue.exploration.candidates import CandidateFacts, objection
from dialogue.exploration.offer import Candidate
from dialogue.exploration.sources import LONGEST, Transport
from dialogue.models import Agent
from dialogue.tools import looked_at
from dialogue.voice.base import Reply
from surfaces.accounts.clients import open_reader
from surfaces.accounts.services import stop_account
from surfaces.adapters.types import Item
from surfaces.drafts.models import DraftKind
from surfaces.errors import AuthFailed, NotAllowed, PaymentRequired, Suspended, TryLater
from surfaces.models import Account, Draft, Message
from surfaces.text.reasons import reason
from surfaces.watcher import reread
from surfaces.watcher.rounds import identify

Clock = Callable[[], datetime]
RECENT = 20  # newest drafts searched for the agent's last words


def chosen_by(reply: Reply, candidates: Sequence[Candidate]) -> Candidate:
    """The post that the agent answers, or `VoiceBroken`: it named none of those it was shown."""
    for candidate in candidates:
        if candidate.number == reply.target:
            return candidate
    raise VoiceBroken(reason("exploration.no_such_post", number=str(reply.target)))


def fetch(
    account: Account, candidate: Candidate, *, clock: Clock, transport: Transport = None
) -> Message:
    """The post as a stored message, with its thread as it is now. Hold no transaction.

    Where the service does not answer now, what is stored counts.
    """
    rows = Message.objects.select_related("post", "account__surface")
    try:
        post = rows.filter(account=account, remote_id=candidate.remote_id).first()
        if post is None:
            item = candidate.item or _root(account, candidate, clock, transport)
            post = looked_at.keep(account, item, now=clock())
        with suppress(TryLater):
            reread.read_again(post, clock=clock, transport=transport)
    except (AuthFailed, Suspended, PaymentRequired) as error:
        stop_account(account, error, now=clock())
        raise
    return post


def _root(account: Account, candidate: Candidate, clock: Clock, transport: Transport) -> Item:
    """What was only looked at, before the conversation was interrupted."""
    with closing(open_reader(account, clock=clock, transport=transport)) as reader:
        identify(account, reader)
        root = reader.thread(candidate.remote_id).root
    if root is None:
        raise NotAllowed("exploration.deleted")
    return root


def comment_on(
    activation: Activation,
    item: ActivationItem,
    post: Message,
    candidate: Candidate,
    reply: Reply,
    voice: str,
    *,
    now: datetime,
) -> Draft:
    """Write the draft, or raise `NotAllowed`. Call it in the transaction that ends the item."""
    presence = activation.presence
    post = Message.objects.select_related("post", "account__surface").get(pk=post.pk)
    facts = sources.facts_of(presence, post, now=now)
    why = objection(facts, now)
    words = DraftWords(
        what=DraftKind.COMMENT, target=post, text=reply.text, origin=voice,
        parts=(reply.terms, reply.pointer, reply.exit), written_for=f"item:{item.pk}",
    )  # fmt: skip
    also = (
        (why is not None, why or ""),
        (_was_edited(candidate, facts), "exploration.edited"),
        (_is_too_soon(presence.agent, now=now), "exploration.too_soon"),
    )
    return put_down(activation, words, now=now, also=also)


def _was_edited(candidate: Candidate, facts: CandidateFacts) -> bool:
    """A feed may show a text cut; what was stored is shown as it is."""
    if candidate.message:
        return (candidate.title, candidate.text) != (facts.title, facts.text[:LONGEST])
    return not facts.text.startswith(candidate.text.rstrip("….\n ")[: LONGEST // 2])


def _is_too_soon(agent: Agent, *, now: datetime) -> bool:
    """Within the spacing after its last reply. A retry that is sent much later does not count."""
    newest = replies_of([agent.slug]).order_by("-id")
    times = newest.values_list("sent_at", "not_before", "made_at")[:RECENT]
    spacing = agent.settings.spacing
    said = [sent or soonest or made for sent, soonest, made in times]
    return any(now - spacing < at <= now + spacing for at in said)
