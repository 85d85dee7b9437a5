"""Write a new post, because an operator asked for it."""

from datetime import datetime, timedelta

from dialogue.activations.drafting import DraftWords, put_down
from dialogue.agents import presences
from dialogue.replies.item_work import NO_WAIT, ItemWork
from dialogue.voice import briefs
from dialogue.voice.base import Brief, Reply
from dialogue.voice.output_checks import OutputContext
from surfaces.drafts.models import DraftKind
from surfaces.models import Draft
from surfaces.text.reasons import StoredReason


class TaskWork(ItemWork):
    """The text becomes a post. Nobody waits for it: one that failed is shown, not repeated."""

    def leave(
        self, why: StoredReason, *, wait: timedelta = NO_WAIT, is_untried: bool = False
    ) -> None:
        self.fail(why)  # for later would be never

    def brief(self) -> tuple[Brief, OutputContext]:
        return briefs.task_brief(self.activation, self.item, now=self.clock())

    def put_down(self, reply: Reply, voice: str, *, now: datetime) -> Draft:
        words = DraftWords(
            what=DraftKind.POST, title=reply.title, text=reply.text, origin=voice,
            community=presences.community_of(self.activation.presence),
            parts=(reply.terms, reply.pointer, reply.exit),
            written_for=f"activation:{self.activation.pk}",
        )  # fmt: skip
        return put_down(self.activation, words, now=now)
