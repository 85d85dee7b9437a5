"""Put words down: the one way from what an agent says to a draft.

Everything that allowed the words is asked again in the transaction that writes the draft, because
writing takes minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation
from dialogue.agents import limits
from dialogue.models import Agent, Presence
from surfaces.drafts import services as draft_services
from surfaces.drafts.models import DraftKind
from surfaces.models import Draft, Message
from surfaces.text.reasons import StoredReason, reason

LONGEST_ORIGIN = Draft._meta.get_field("origin").max_length


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftWords:
    """What an agent says and where."""

    what: str  # `DraftKind`
    target: Message | None = None
    text: str
    title: str = ""
    community: str = ""
    parts: tuple[str, str, str] = ("", "", "")  # terms, pointer, exit
    origin: str  # the voice, or the tool
    written_for: str = ""  # one live draft for each, e.g. notification:5
    # It was decided on before: the attempt on a comment is counted, and the limits were asked.
    is_begun: bool = False


def put_down(
    activation: Activation,
    words: DraftWords,
    *,
    now: datetime,
    also: Sequence[tuple[bool, StoredReason | str]] = (),
) -> Draft:
    """Write a draft by the mode of the account. Call it inside a transaction.

    Raises `LeaseLost` if another worker took the activation over, `NotAllowed` if a setting or one
    of `also` forbids it now, `StaleState` if something was written for the same cause meanwhile.
    """
    account = activation_services.account_to_speak_from(activation)
    full = () if words.is_begun else _limits_reached(activation, words, now=now)
    activation_services.check_still_allowed(activation, *also, *full)
    agent = activation.agent
    draft = draft_services.compose(
        account=account, what=words.what, target=words.target, title=words.title, text=words.text,
        community=words.community, by=agent.ledger_name, now=now, agent=agent.slug,
        origin=words.origin[:LONGEST_ORIGIN], parts=words.parts, is_begun=words.is_begun,
        read_at=activation.started_at, because=activation.why, written_for=words.written_for,
    )  # fmt: skip
    activation.mine().update(posts=F("posts") + 1)
    return draft


def _limits_reached(
    activation: Activation, words: DraftWords, *, now: datetime
) -> list[tuple[bool, StoredReason | str]]:
    """Limits of amount, for what no decision allowed before: words of tools, explorations.

    A comment counts as a reply; every post counts for its account and for the agent.
    """
    presence = Presence.objects.select_related("agent__settings").get(pk=activation.presence_id)
    agent, settings = presence.agent, presence.agent.settings
    # Of two at once the second counts the first.
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    if words.what == DraftKind.POST:
        mine = limits.posts_of([agent.slug])
        today = limits.said_today(mine, agent, now=now)
        here = limits.said_today(mine.filter(account=presence.account_id), agent, now=now)
        return [
            _full("activation.posts_full", today, settings.posts_per_day),
            _full("activation.posts_full_here", here, presence.stones_per_day),
        ]
    mine = limits.replies_of([agent.slug])
    today = limits.said_today(mine, agent, now=now)
    post = words.target.post_id if words.target else 0
    in_thread = limits.in_threads(mine, [post])[agent.slug, post]
    return [
        _full("activation.replies_full", today, settings.replies_per_day),
        _full("activation.thread_full", in_thread, settings.replies_per_thread),
    ]


def _full(code: str, used: int, most: int) -> tuple[bool, StoredReason]:
    return used >= most, reason(code, used=used, most=most)
