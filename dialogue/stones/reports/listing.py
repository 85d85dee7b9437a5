"""List stones with their engagement, and the presences that post.

Engagement is the number of comments by others that are not spam, and of their authors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext as _

from dialogue.models import Kernel, Presence, Stone
from dialogue.stones.engagement import strangers_comments
from surfaces.audit.models import name_of
from surfaces.messages.models import beginning
from surfaces.models import AuditEvent
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web.pagination import KeysetPage, paginate

HEAVY = ["presence__agent__persona", "presence__account__sealed_credential",
         "presence__account__cursor"]  # fmt: skip
GREW_FROM = Coalesce(
    NullIf("thread__title", Value("")),
    beginning("thread__content", 200),
    "kernel__words",
    output_field=TextField(),
)


@dataclass(frozen=True, slots=True)
class StoneEngagement:
    comments: int = 0
    commenters: int = 0


@dataclass(frozen=True, slots=True)
class StoneRow:
    stone: Stone
    earned: StoneEngagement


def list_stones(
    agent: str, given: Mapping[str, str], reach: Scope = UNRESTRICTED
) -> KeysetPage[StoneRow]:
    """List stones, newest first, of one agent or all. Two queries."""
    found = of(agent, reach).select_related("presence__agent", "presence__account", "draft")
    found = found.defer(*HEAVY, "table", "draft__text").annotate(grew_from=GREW_FROM)
    part = paginate(found, given, keep={"agent": agent})
    gains = earned(part.rows)
    return part.map(lambda stone: StoneRow(stone, gains.get(stone.pk, StoneEngagement())))


def within(rows: QuerySet[Stone], reach: Scope) -> QuerySet[Stone]:
    return reach.narrow(rows, account="presence__account", agent="presence__agent__slug")


def of(agent: str, reach: Scope = UNRESTRICTED) -> QuerySet[Stone]:
    rows = within(Stone.objects.all(), reach)
    return rows.filter(presence__agent__slug=agent) if agent else rows


def earned(stones: Sequence[Stone] | QuerySet[Stone]) -> dict[int, StoneEngagement]:
    """Engagement per stone; stones without comments are missing. One query."""
    who = Coalesce(NullIf("author_id", Value("")), F("author"))
    rows = (
        strangers_comments()
        .filter(post__draft__stone__in=stones)
        .order_by()
        .values_list("post__draft__stone")
        .annotate(comments=Count("pk"), commenters=Count(who, distinct=True))
    )
    return {pk: StoneEngagement(comments, commenters) for pk, comments, commenters in rows}


@dataclass(slots=True)
class PostingPresence:
    """A presence whose agent writes posts, and what blocks its next stone."""

    presence: Presence
    kernels: int
    nothing: str = ""  # why nothing could be chosen since its last stone

    @property
    def obstacle(self) -> str:
        agent = self.presence.agent
        if not agent.settings.is_autonomous:
            return _("The agent’s automatic replies are off, so it writes no posts either.")
        if agent.lives != "here":
            return _("An external agent writes the posts.")
        if self.presence.account.mode == "off":
            return _("The mode is off.")
        if not self.presence.stones_per_day:
            return _("The number of stones a day is set to 0.")
        return self.nothing


def posting_presences(agent: str, reach: Scope = UNRESTRICTED) -> list[PostingPresence]:
    """List presences that write posts. Two queries."""
    kernels = Kernel.objects.filter(agent=OuterRef("agent"), is_on=True).order_by()
    last = Stone.objects.filter(presence=OuterRef("pk")).values("chosen_at")[:1]
    rows = Presence.objects.live().filter(agent__settings__lays_stones=True)
    rows = reach.narrow(rows, agent="agent__slug")
    rows = rows.filter(agent__slug=agent) if agent else rows
    found: list[Any] = list(
        rows.select_related("agent__settings", "account")
        .defer("agent__persona", "account__sealed_credential", "account__cursor")
        .annotate(
            kernels_on=Subquery(kernels.values("agent").annotate(n=Count("pk")).values("n")),
            last=Subquery(last),
        )
        .order_by("agent__slug", "account__name")
    )
    # The latest audit entries that say nothing could be chosen.
    subjects = [name_of(row.account) for row in found]
    lines = AuditEvent.objects.called("stone.nothing").filter(subject__in=subjects)
    latest = {line.subject: line for line in lines.order_by("subject", "-id").distinct("subject")}
    posting = [PostingPresence(row, row.kernels_on or 0) for row in found]
    for one, row in zip(posting, found, strict=True):
        line = latest.get(name_of(row.account))
        if line and (row.last is None or line.at > row.last):
            one.nothing = str(line.why)
    return posting
