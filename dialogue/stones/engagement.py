"""Read comments by others under our posts: the input of the choice and the result of stones."""

from collections import defaultdict
from datetime import datetime

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from dialogue.models import Kernel, Presence
from dialogue.stones import choice
from dialogue.stones.choice import ChoiceFacts, CommentFacts, KernelFacts, PostFacts
from surfaces.messages.models import Direction, MessageQuerySet, SpamStatus, beginning
from surfaces.models import Account, Message
from surfaces.text.format import one_line

LONGEST_TITLE = 80


def by_us() -> Q:
    """True for a message that one of our accounts on that surface wrote."""
    ours = Account.objects.filter(surface=OuterRef("account__surface"))
    is_id = ~Q(remote_id="") & Q(remote_id=OuterRef("author_id"))
    is_name = ~Q(handle="") & Q(name_there=Lower(OuterRef("author")))
    named = ours.annotate(name_there=Lower("handle")).filter(is_id | is_name)
    return Q(direction=Direction.OUTGOING) | Q(Exists(named))


def strangers_comments() -> MessageQuerySet:
    """Comments that count: by others, not deleted, not spam."""
    return Message.objects.comments().alive().not_spam().exclude(by_us())


def facts_of(presence: Presence, slot: str, *, now: datetime) -> ChoiceFacts:
    """Posts of the last 14 days with their comments, and the agent's kernels."""
    posts = Message.objects.stones().alive().filter(account=presence.account_id)
    posts = posts.written_since(now - choice.WINDOW)
    said = _comments(posts)
    shown = posts.values_list("pk", "title", beginning("content", 4 * LONGEST_TITLE), "created_at")
    kernels = Kernel.objects.filter(agent=presence.agent_id, is_on=True)
    used = kernels.values_list("pk", "last_used_at")
    return ChoiceFacts(
        presence=presence.pk,
        slot=slot,
        share=presence.explore_share,
        posts=[
            PostFacts(id=pk, title=titled(title, begin), created_at=at, comments=said[pk])
            for pk, title, begin, at in shown
        ],
        kernels=[KernelFacts(id=pk, last_used_at=at) for pk, at in used],
    )


def titled(title: str, content: str) -> str:
    """A name for a post; not every service gives posts a title."""
    return one_line(title or content, LONGEST_TITLE) or "a post without words"


def _comments(posts: QuerySet[Message]) -> dict[int, list[CommentFacts]]:
    """Comments per post; of the text only whether it is a question."""
    rows = Message.objects.comments().alive().filter(post__in=posts.values("pk"))
    rows = rows.annotate(
        is_ours_too=ExpressionWrapper(by_us(), output_field=BooleanField()),
        words=beginning("content", choice.LONGEST),
    )
    wanted = ("post_id", "author_id", "author", "words", "is_ours_too", "spam_status")
    found: dict[int, list[CommentFacts]] = defaultdict(list)
    for post, author_id, author, words, is_ours, spam in rows.values_list(*wanted).iterator():
        asks, is_spam = choice.is_question(words), spam == SpamStatus.SPAM
        facts = {"is_question": asks, "is_ours": is_ours, "is_spam": is_spam}
        found[post].append(CommentFacts(author=author_id or author, **facts))
    return found
