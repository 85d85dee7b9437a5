"""Explore: look at posts, comment on one of them, or find nothing to engage with."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from dialogue.activations.models import Conversation, ItemState
from dialogue.approvals.models import ToolCall
from dialogue.exploration import answer
from dialogue.exploration.brief import explore_brief
from dialogue.exploration.offer import Candidate, offer, offered
from dialogue.replies.item_work import ItemWork
from dialogue.voice.base import Brief, Ending, NothingToSay, Reply
from dialogue.voice.output_checks import OutputContext
from dialogue.voice.prompts import NOTHING
from surfaces.models import Draft, Message
from surfaces.text.format import one_line
from surfaces.text.reasons import reason

LONGEST_WORDS = 400  # characters of why there was nothing


class ExplorationWork(ItemWork):
    """One that failed is not repeated: the next exploration looks anew."""

    candidates: Sequence[Candidate] = ()
    chosen: tuple[Candidate, Message] | None = None

    def brief(self) -> tuple[Brief, OutputContext] | None:
        """Find posts, unless a conversation about some goes on."""
        if Conversation.objects.filter(item=self.item).exists():
            self.candidates = offered(self.item)
        else:
            self.candidates = offer(self.activation, self.item, clock=self.clock)
        if not self.candidates:
            with transaction.atomic():
                self.end(ItemState.NOTHING, "exploration.no_candidate", now=self.clock())
            return None
        return explore_brief(self.activation, self.item, self.candidates, now=self.clock())

    def store(self, ending: Ending, voice: str) -> None:
        """The post is fetched before the transaction that writes the draft."""
        if isinstance(ending, Reply) and self._said() is None:
            candidate = answer.chosen_by(ending, self.candidates)
            account = self.activation.presence.account
            self.chosen = candidate, answer.fetch(account, candidate, clock=self.clock)
        super().store(ending, voice)

    def put_down(self, reply: Reply, voice: str, *, now: datetime) -> Draft:
        if self.chosen is None:  # a tool has said it: an exploration contributes once
            return Draft.objects.get(pk=self._said() or 0)
        candidate, post = self.chosen
        return answer.comment_on(self.activation, self.item, post, candidate, reply, voice, now=now)

    def _said(self) -> int | None:
        """The draft that a tool of this item wrote."""
        calls = ToolCall.objects.filter(item=self.item, draft__isnull=False).order_by("pk")
        return calls.values_list("draft", flat=True).first()

    def end_silent(self, ending: NothingToSay, *, now: datetime) -> None:
        if said := self._said():
            wrote = reason("activation.wrote_draft", pk=str(said))
            self.end(ItemState.DRAFTED, wrote, now=now, draft_id=said)
            return
        words = one_line(ending.words, LONGEST_WORDS)
        because = reason("exploration.nothing_because", words=words)
        is_plain = not words or words.rstrip(".") == NOTHING.rstrip(".")
        why = reason("exploration.nothing") if is_plain else because
        self.end(ItemState.NOTHING, why, now=now)
