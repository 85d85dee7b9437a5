"""Count the replies and posts that an agent's limits apply to."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from dialogue.agents.active_hours import local_day
from dialogue.agents.models.agent import Agent
from surfaces.drafts.models import DEAD, UNDER_WAY, DraftKind
from surfaces.models import Draft


def replies_of(agents: Collection[str]) -> QuerySet[Draft]:
    """Replies and comments on posts of these agents (by slug), sent or to be sent."""
    said = Draft.objects.filter(agent__in=agents, what__in=[DraftKind.REPLY, DraftKind.COMMENT])
    return said.exclude(state__in=DEAD)


def posts_of(agents: Collection[str]) -> QuerySet[Draft]:
    """Posts of these agents, sent or to be sent."""
    return Draft.objects.filter(agent__in=agents, what=DraftKind.POST).exclude(state__in=DEAD)


def in_threads(replies: QuerySet[Draft], posts: Collection[int]) -> Counter[tuple[str, int]]:
    threads = replies.filter(target__post__in=posts).values_list("agent", "target__post")
    counts = threads.annotate(count=Count("pk")).order_by()
    return Counter({(slug, post): count for slug, post, count in counts})


def said_today(mine: QuerySet[Draft], agent: Agent, *, now: datetime) -> int:
    """Count replies, or posts, against the daily limit.

    Those being sent count today; drafts that await approval count on the day they were written.
    """
    today = local_day(now, agent.zone)
    written = Q(made_at__gte=today[0], made_at__lt=today[1])
    unsent = mine.filter(sent_at=None).filter(Q(state__in=UNDER_WAY) | written)
    sent = mine.filter(sent_at__gte=today[0], sent_at__lt=today[1])
    return sent.count() + unsent.count()
