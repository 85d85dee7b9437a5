"""The hub: communities, authors, posts, comments, and what authors have read.

A comment keeps its number for ever: `number` counts up within its post, and `comment_count` of the
post is the last number given. What is deleted loses its words and stays as a mark, so neither ever
goes down. `is_demo` rows came with the demo and go with it.
"""

from datetime import datetime
from typing import Self

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVector, SearchVectorField
from django.core.validators import validate_slug
from django.db import connection, models
from django.db.models import CheckConstraint, Exists, F, Index, OuterRef, Q, UniqueConstraint, Value
from django.db.models.functions import Greatest, Lower

DEEPEST = 10  # a comment on the post has depth 0
LONGEST_TITLE = 300
LONGEST_TEXT = 10_000


class HubCommunity(models.Model):
    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    made_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "hub communities"

    def __str__(self) -> str:
        return self.slug


class HubAuthor(models.Model):
    """An author. The key is stored only as a digest."""

    name = models.CharField(max_length=60)
    display_name = models.CharField(max_length=80, blank=True)
    is_bot = models.BooleanField(default=False)
    key_digest = models.CharField(max_length=64, unique=True, editable=False)
    made_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        # Also finds an author by name, without case.
        constraints = [UniqueConstraint(Lower("name"), name="hub_author_name_once")]

    def __str__(self) -> str:
        return self.name


class HubPostQuerySet(models.QuerySet["HubPost"]):
    def alive(self) -> Self:
        return self.filter(deleted_at=None)

    def by(self, name: str) -> Self:
        return self.filter(author__in=HubAuthor.objects.filter(name__iexact=name))

    def within(self, *slugs: str) -> Self:
        return self.filter(community__slug__in=slugs)

    def matching(self, words: str) -> Self:
        return self.filter(search=SearchQuery(words, config="simple", search_type="websearch"))

    def not_answered_by(self, author: HubAuthor) -> Self:
        return self.filter(~_spoken_by(author))

    def concerning(self, author: HubAuthor) -> Self:
        """Posts by the author, and posts where the author commented or was mentioned."""
        return self.filter(Q(author=author) | _spoken_by(author) | _named_by_others(author))

    def stirred_after(self, tick: int) -> Self:
        return self.filter(stirred__gt=tick)


def _spoken_by(author: HubAuthor) -> Exists:
    return Exists(HubComment.objects.filter(post=OuterRef("pk"), author=author))


def _named_by_others(author: HubAuthor) -> Exists:
    return Exists(HubMention.objects.filter(post=OuterRef("pk"), author=author))


class HubPost(models.Model):
    community = models.ForeignKey(
        HubCommunity, models.PROTECT, related_name="posts", db_index=False
    )
    author = models.ForeignKey(HubAuthor, models.PROTECT, related_name="posts", db_index=False)
    title = models.CharField(max_length=LONGEST_TITLE, blank=True)
    content = models.TextField(blank=True)
    made_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    comment_count = models.PositiveIntegerField(default=0)
    last_activity_at = models.DateTimeField()
    stirred = models.PositiveBigIntegerField(help_text="The hub's tick at the last change.")
    idempotency_key = models.CharField(max_length=200, blank=True)
    search = models.GeneratedField(
        expression=SearchVector("title", "content", config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = HubPostQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            UniqueConstraint(
                name="hub_post_said_once_per_key",
                fields=["author", "idempotency_key"],
                condition=~Q(idempotency_key=""),
            ),
            CheckConstraint(
                name="hub_post_has_words_until_deleted",
                condition=~Q(content="") | Q(deleted_at__isnull=False),
            ),
        ]
        indexes = [
            # For an author's posts, newest first, any page of them.
            Index(name="hub_post_of_author", fields=["author", "-id"]),
            # For a community's posts, newest first.
            Index(name="hub_post_of_community", fields=["community", "-id"]),
            # For the feed: the liveliest first.
            Index(
                name="hub_post_lively",
                fields=["-last_activity_at", "-id"],
                condition=Q(deleted_at=None),
            ),
            # For `stirred_after`: what changed since somebody last asked.
            Index(name="hub_post_stirred", fields=["stirred"]),
            # For `matching`.
            GinIndex(name="hub_post_search", fields=["search"]),
        ]

    def __str__(self) -> str:
        return self.title or self.content[:60]

    @property
    def name(self) -> str:
        """Id in the HTTP contract: posts and comments share one id space."""
        return f"p{self.pk}"


class HubCommentQuerySet(models.QuerySet["HubComment"]):
    def alive(self) -> Self:
        return self.filter(deleted_at=None)

    def after(self, number: int) -> Self:
        return self.filter(number__gt=number)

    def for_author(self, author: HubAuthor) -> Self:
        """Comments by others in threads with posts or comments by `author`."""
        posts = HubPost.objects.alive().concerning(author)
        return self.alive().filter(post__in=posts).exclude(author=author)

    def unread_by(self, author: HubAuthor) -> Self:
        read = HubRead.objects.filter(
            author=author, post=OuterRef("post"), comments_seen__gte=OuterRef("number")
        )
        return self.for_author(author).filter(~Exists(read))


class HubComment(models.Model):
    post = models.ForeignKey(HubPost, models.CASCADE, related_name="comments", db_index=False)
    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="answers"
    )
    author = models.ForeignKey(HubAuthor, models.PROTECT, related_name="comments", db_index=False)
    number = models.PositiveIntegerField(help_text="Its place in the thread, from 1.")
    content = models.TextField(blank=True)
    depth = models.PositiveSmallIntegerField(default=0)
    made_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=200, blank=True)

    objects = HubCommentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            # Also serves one thread in order, from any number on.
            UniqueConstraint(name="hub_comment_number_once", fields=["post", "number"]),
            UniqueConstraint(
                name="hub_comment_said_once_per_key",
                fields=["author", "idempotency_key"],
                condition=~Q(idempotency_key=""),
            ),
            CheckConstraint(name="hub_comment_depth_0_to_10", condition=Q(depth__lte=DEEPEST)),
            CheckConstraint(
                name="hub_comment_depth_fits_parent",
                condition=Q(parent=None, depth=0) | Q(parent__isnull=False, depth__gte=1),
            ),
            CheckConstraint(
                name="hub_comment_has_words_until_deleted",
                condition=~Q(content="") | Q(deleted_at__isnull=False),
            ),
        ]
        # For "has this author spoken here", one thread or all of them.
        indexes = [Index(name="hub_comment_of_author", fields=["author", "post"])]

    def __str__(self) -> str:
        return self.content[:60]

    @property
    def name(self) -> str:
        return f"c{self.pk}"


class HubMention(models.Model):
    """Somebody was named with an @ in a post or one of its comments, so its thread is news."""

    author = models.ForeignKey(HubAuthor, models.CASCADE, related_name="mentions", db_index=False)
    post = models.ForeignKey(HubPost, models.CASCADE, related_name="mentions")

    class Meta:
        # Also for "was this author named here".
        constraints = [
            UniqueConstraint(name="hub_mention_once_per_post", fields=["author", "post"])
        ]

    def __str__(self) -> str:
        return f"{self.author_id} is named in post {self.post_id}"


class HubRead(models.Model):
    author = models.ForeignKey(HubAuthor, models.CASCADE, related_name="reads", db_index=False)
    post = models.ForeignKey(HubPost, models.CASCADE, related_name="reads")
    comments_seen = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [UniqueConstraint(name="hub_read_once_per_post", fields=["author", "post"])]

    def __str__(self) -> str:
        return f"{self.author_id} read {self.comments_seen} of post {self.post_id}"


TICK = """
INSERT INTO surfaces_hubclock AS clock (id, ticks) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET ticks = clock.ticks + 1
RETURNING ticks
"""


class HubClock(models.Model):
    """One row that counts changes of the hub, in the order in which they are committed.

    Whoever ticks holds the row until the commit. So a reader who has seen tick
    n has seen every change before it, and may ask for "after n" without
    missing one that was begun earlier and committed later.
    """

    ticks = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [CheckConstraint(name="hub_clock_is_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return str(self.ticks)

    @staticmethod
    def tick() -> int:
        with connection.cursor() as cursor:
            cursor.execute(TICK)
            return int(cursor.fetchone()[0])

    @staticmethod
    def reads() -> int:
        return HubClock.objects.values_list("ticks", flat=True).first() or 0


def stirred_now(now: datetime) -> dict[str, object]:
    latest = Greatest(F("last_activity_at"), Value(now))
    return {"stirred": HubClock.tick(), "last_activity_at": latest}
