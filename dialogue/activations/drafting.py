"""Put words down: the one way from what an agent says to a draft.

Everything that allowed the words is asked again in the transaction that writes the draft, because
writing takes minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation, Purpose
from surfaces.drafts import services as draft_services
from surfaces.models import Draft, Message
from surfaces.text.reasons import StoredReason

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
    is_begun: bool = False  # the attempt on a comment was counted before


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
    has_contributed = activation.purpose == Purpose.EXPLORE and _wrote(activation)
    activation_services.check_still_allowed(
        activation, *also, (has_contributed, "exploration.once")
    )
    agent = activation.agent
    draft = draft_services.compose(
        account=account, what=words.what, target=words.target, title=words.title, text=words.text,
        community=words.community, by=agent.ledger_name, now=now, agent=agent.slug,
        origin=words.origin[:LONGEST_ORIGIN], parts=words.parts, is_begun=words.is_begun,
        read_at=activation.started_at, because=activation.why, written_for=words.written_for,
    )  # fmt: skip
    activation.mine().update(posts=F("posts") + 1)
    return draft


def _wrote(activation: Activation) -> bool:
    """Whether this activation wrote something, by its answer or by a tool."""
    return activation.mine().filter(posts__gte=1).exists()
