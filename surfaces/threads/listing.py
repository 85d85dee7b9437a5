"""What the list of threads reads."""

from collections.abc import Sequence

from django.db.models import Count, Q

from surfaces.drafts.models import Draft
from surfaces.messages.models import Direction, Message, SpamStatus
from surfaces.operators.scope import UNRESTRICTED, Scope


def news_of(posts: Sequence[Message], reach: Scope = UNRESTRICTED) -> dict[int, dict[str, int]]:
    """What stands under these posts: ours, spam, and drafts that wait. Two grouped queries."""
    ids = [post.pk for post in posts]
    nothing = {"stored": 0, "ours": 0, "spam": 0, "waiting": 0}
    news: dict[int, dict[str, int]] = {pk: nothing.copy() for pk in ids}
    under = Message.objects.filter(post__in=ids).comments()
    counts = under.order_by().values("post").annotate(
        stored=Count("pk"),
        ours=Count("pk", filter=Q(direction=Direction.OUTGOING)),
        spam=Count("pk", filter=Q(spam_status=SpamStatus.SPAM)),
    )  # fmt: skip
    for pk, stored, ours, spam in counts.values_list("post", "stored", "ours", "spam"):
        news[pk] |= {"stored": stored, "ours": ours, "spam": spam}
    waiting = reach.narrow(Draft.objects.waiting()).filter(target__post__in=ids).order_by()
    for pk, count in waiting.values_list("target__post").annotate(Count("pk")):
        news[pk]["waiting"] = count
    return news
