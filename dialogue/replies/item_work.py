"""Work on one item of an activation: what is the same whatever it is about."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from dialogue import errors
from dialogue.activations import items
from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation, ActivationItem, Conversation, ItemState
from dialogue.activations.suspended import digest
from dialogue.replies.verdicts import ReplyCounts
from dialogue.tools.belt import belt_of
from dialogue.voice import generate
from dialogue.voice.base import Brief, NothingToSay, Reply, SuspendedConversation
from dialogue.voice.output_checks import OutputContext
from surfaces.models import Draft
from surfaces.text.reasons import StoredReason, reason

Clock = Callable[[], datetime]
LONGEST_CONVERSATION = 2_000_000  # bytes
NO_WAIT = timedelta()


class ItemWork:
    """How an item is taken up, written and ended. A kind of item says what differs."""

    def __init__(
        self, activation: Activation, item: ActivationItem, counts: ReplyCounts, clock: Clock
    ) -> None:
        self.activation, self.item, self.counts, self.clock = activation, item, counts, clock

    def brief(self) -> tuple[Brief, OutputContext] | None:
        """What the voice may know, or None: nothing is to be written now, which is recorded."""
        raise NotImplementedError

    def put_down(self, reply: Reply, voice: str, *, now: datetime) -> Draft:
        """Write the draft, in the transaction that ends the item."""
        raise NotImplementedError

    def take_up(self) -> bool:
        """Begin, or say why not and return False."""
        with transaction.atomic(durable=True):
            items.begin(self.activation, self.item, now=self.clock())
        return True

    def write(self, is_ending: Callable[[], bool]) -> None:
        """Ask the voice and store what came of it, or raise a `VoiceError`."""
        found = self.brief()
        if found is None:
            return
        kept = Conversation.objects.filter(item=self.item).first()
        suspended = (
            SuspendedConversation(model=kept.model, messages=kept.messages) if kept else None
        )
        ending, voice = generate.generate(
            self.activation, *found, clock=self.clock, is_ending=is_ending, item=self.item,
            tools=belt_of(self.item, clock=self.clock),
            suspended=suspended,
        )  # fmt: skip
        self.store(ending, voice)

    @transaction.atomic
    def store(self, ending: Reply | SuspendedConversation | NothingToSay, voice: str) -> None:
        now = self.clock()
        if isinstance(ending, SuspendedConversation):
            self.suspend(ending, now=now)
        elif isinstance(ending, NothingToSay):
            self.end_silent(ending, now=now)
        else:
            draft = self.put_down(ending, voice, now=now)
            wrote = reason("activation.wrote_draft", pk=str(draft.pk))
            self.end(ItemState.DRAFTED, wrote, now=now, draft_id=draft.pk)
            self.counts.drafted += 1

    def suspend(self, ending: SuspendedConversation, *, now: datetime) -> None:
        size = len(ending.messages.encode())
        if size > LONGEST_CONVERSATION:
            facts = {"size": size, "most": LONGEST_CONVERSATION}
            raise errors.VoiceError(reason("activation.conversation_too_long", **facts))
        why = "activation.suspended"
        items.suspend(
            self.activation, self.item, model=ending.model, messages=ending.messages,
            read_digest=digest(self.read()), why=why, now=now,
        )  # fmt: skip
        activation_services.record_step(
            self.activation, "suspended", why=why, now=now, item=self.item
        )

    def read(self) -> str:
        """The text that is answered, as the voice saw it."""
        return ""

    def end_silent(self, ending: NothingToSay, *, now: datetime) -> None:
        said = reason("activation.nothing_said", words=ending.words)
        self.end(ItemState.NOTHING, said, now=now)

    def end(
        self,
        state: ItemState,
        why: StoredReason | str,
        *,
        now: datetime,
        draft_id: int | None = None,
    ) -> None:
        items.end(self.activation, self.item, state, why, now=now, draft_id=draft_id)

    # ── without a text ─────────────────────────────────────────────────────

    @transaction.atomic
    def fail(self, why: StoredReason, *, wait: timedelta | None = None) -> None:
        """A failed attempt."""
        self.counts.failed += 1
        self.end(ItemState.FAILED, why, now=self.clock())

    @transaction.atomic
    def leave(
        self, why: StoredReason, *, wait: timedelta = NO_WAIT, is_untried: bool = False
    ) -> None:
        """Leave it for later, because we stop or it changed. `is_untried`: no voice was asked."""
        self.counts.given_back += 1
        self.end(ItemState.RELEASED, why, now=self.clock())

    @transaction.atomic
    def wait_for_money(self, error: errors.OutOfBudget, *, was_asked: bool) -> None:
        """Wait for the budget. Without a request to the voice, this counts as no attempt."""
        self.counts.waits += 1
        self.end(ItemState.RELEASED, error.reason, now=self.clock())
