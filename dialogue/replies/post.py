"""Write a new post, because an operator asked for it."""

from datetime import datetime

from dialogue.activations.drafting import DraftWords, put_down
from dialogue.replies.item_work import ItemWork
from dialogue.stones.writer import community_of
from dialogue.voice import briefs
from dialogue.voice.base import Brief, Reply
from dialogue.voice.output_checks import OutputContext
from surfaces.drafts.models import DraftKind
from surfaces.models import Draft


class TaskWork(ItemWork):
    """The text becomes a post. Nobody waits for it: one that failed is shown, not repeated."""

    def brief(self) -> tuple[Brief, OutputContext]:
        return briefs.task_brief(self.activation, self.item, now=self.clock())

    def put_down(self, reply: Reply, voice: str, *, now: datetime) -> Draft:
        words = DraftWords(
            what=DraftKind.POST, title=reply.title, text=reply.text, origin=voice,
            community=community_of(self.activation.presence),
            parts=(reply.terms, reply.pointer, reply.exit),
            written_for=f"activation:{self.activation.pk}",
        )  # fmt: skip
        return put_down(self.activation, words, now=now)
