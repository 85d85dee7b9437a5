"""Message: a post or comment on a surface, read or written by us.

Column for column the table of the audit queries (docs/glossary.md). An incoming
row is a fact: later rounds may mark it edited or deleted, never change who said it.

A plain INSERT may leave out our own columns: a trigger fills account, remote id and post.
"""

from datetime import datetime
from typing import Self
from urllib.parse import urlsplit

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVector, SearchVectorField
from django.db import models
from django.db.models import CheckConstraint, Exists, F, Index, OuterRef, Q, UniqueConstraint, Value
from django.db.models.functions import Coalesce, Left, Now
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.audit.models import Owner
from surfaces.model_fields import NullableCharField, NullableTextField
from surfaces.text.fields import ReasonField
from surfaces.text.reasons import FORMATS, render

MAX_ATTEMPTS = 10  # to answer one comment
NEWEST = ["-created_at", "-id"]
EMPTY_OBJECT = Value({}, models.JSONField())
EMPTY_LIST = Value([], models.JSONField())


class MessageKind(models.TextChoices):
    POST = "post"
    COMMENT = "comment"


class Direction(models.TextChoices):
    INCOMING = "incoming"
    OUTGOING = "outgoing"


class ReplyStatus(models.TextChoices):
    PENDING = "pending", _lazy("Pending")
    SENT = "sent", _lazy("Sent")
    FAILED = "failed", _lazy("Failed")


class SpamStatus(models.TextChoices):
    SPAM = "spam", _lazy("Spam")
    CLEAN = "clean", _lazy("Clean")  # a person looked and said so
    SUSPECT = "suspect", _lazy("Suspect")  # waits for a person


UNJUDGED = Q(spam_status=None)
OPEN = Q(reply_status=None) | Q(reply_status=ReplyStatus.PENDING)
INCOMING_COMMENT = Q(kind=MessageKind.COMMENT, direction=Direction.INCOMING)
AWAITING = INCOMING_COMMENT & OPEN & UNJUDGED


def excerpt(words: str) -> Q:
    """All of `words` stand in title, text or author."""
    return Q(search=SearchQuery(words, config="simple", search_type="websearch"))


def beginning(column: str, length: int) -> Coalesce:
    """The first characters of a text; none of a text that is NULL."""
    return Coalesce(Left(column, length), Value(""))


class MessageQuerySet(models.QuerySet["Message"]):
    def incoming(self) -> Self:
        return self.filter(direction=Direction.INCOMING)

    def outgoing(self) -> Self:
        return self.filter(direction=Direction.OUTGOING)

    def posts(self) -> Self:
        return self.filter(kind=MessageKind.POST)

    def comments(self) -> Self:
        return self.filter(kind=MessageKind.COMMENT)

    def stones(self) -> Self:
        return self.posts().outgoing()

    def spam(self) -> Self:
        return self.filter(spam_status=SpamStatus.SPAM)

    def not_spam(self) -> Self:
        return self.filter(UNJUDGED | ~Q(spam_status=SpamStatus.SPAM))

    def suspect(self) -> Self:
        return self.filter(spam_status=SpamStatus.SUSPECT)

    def unanswered(self) -> Self:
        ours = Message.objects.outgoing().filter(parent=OuterRef("pk"))
        return self.filter(~Exists(ours))

    def answered(self) -> Self:
        ours = Message.objects.outgoing().filter(parent=OuterRef("pk"))
        return self.filter(Exists(ours))

    def awaiting_reply(self) -> Self:
        """The second audit query, word for word."""
        return self.incoming().comments().filter(OPEN, UNJUDGED).unanswered()

    def cleared(self) -> Self:
        """Comments that an operator called clean, still to be answered."""
        clean = Q(spam_status=SpamStatus.CLEAN)
        return self.incoming().comments().filter(OPEN, clean).unanswered()

    def failed_replies(self) -> Self:
        """The third audit query."""
        return self.incoming().comments().filter(reply_status=ReplyStatus.FAILED)

    def alive(self) -> Self:
        return self.filter(deleted_at=None)

    def written_since(self, moment: datetime) -> Self:
        return self.filter(created_at__gte=moment)

    def matching(self, words: str) -> Self:
        """Full-text: all of `words`, in title, text or author."""
        return self.filter(excerpt(words))


class Message(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="messages")
    remote_id = models.CharField(max_length=500)
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="children"
    )
    post = models.ForeignKey("self", models.CASCADE, related_name="thread", db_index=False)
    created_at = models.DateTimeField(help_text="The surface's time.")
    kind = models.CharField(max_length=8, choices=MessageKind)
    author = NullableCharField(max_length=200, blank=True, null=True)
    direction = models.CharField(max_length=8, choices=Direction)
    title = NullableTextField(blank=True, null=True)
    content = NullableTextField(blank=True, null=True)
    url = NullableTextField(blank=True, null=True)
    submolt = NullableCharField("community", max_length=200, blank=True, null=True)
    raw_json = models.JSONField(default=dict, db_default=EMPTY_OBJECT, blank=True)
    reply_status = models.CharField(max_length=8, choices=ReplyStatus, null=True, blank=True)
    reply_attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    spam_status = models.CharField(max_length=8, choices=SpamStatus, null=True, blank=True)

    author_id = models.CharField(max_length=200, blank=True, default="", db_default="")
    author_is_bot = models.BooleanField(null=True, blank=True)
    seen_at = models.DateTimeField(db_default=Now())
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    reply_why = ReasonField(db_default=EMPTY_OBJECT, help_text="Why it failed, or was passed.")
    spam_score = models.FloatField(null=True, blank=True)
    # [[sign, reason], …]
    spam_reasons = models.JSONField(default=list, db_default=EMPTY_LIST, blank=True)
    # Of the normalised text.
    fingerprint = models.CharField(max_length=32, blank=True, default="", db_default="")

    # Posts only: what the surface said of the thread when it was last read.
    score = models.IntegerField(null=True, blank=True)  # votes, as the service last said

    # Posts only: what the surface said of the thread when it was last read.
    comment_count = models.PositiveIntegerField(null=True, blank=True)
    thread_read_at = models.DateTimeField(null=True, blank=True)
    thread_checked_at = models.DateTimeField(null=True, blank=True)  # its count, at least
    thread_is_whole = models.BooleanField(null=True, blank=True)

    search = models.GeneratedField(
        expression=SearchVector("title", "content", "author", config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = MessageQuerySet.as_manager()

    class Meta:
        db_table = "messages"
        constraints = [
            UniqueConstraint(name="message_stored_once", fields=["account", "remote_id"]),
            CheckConstraint(name="message_kind_is_known", condition=Q(kind__in=MessageKind.values)),
            CheckConstraint(
                name="message_direction_is_known", condition=Q(direction__in=Direction.values)
            ),
            CheckConstraint(
                name="message_reply_status_is_known",
                condition=Q(reply_status=None) | Q(reply_status__in=ReplyStatus.values),
            ),
            CheckConstraint(
                name="message_spam_status_is_known",
                condition=Q(spam_status=None) | Q(spam_status__in=SpamStatus.values),
            ),
            CheckConstraint(
                name="message_tried_at_most_10_times", condition=Q(reply_attempts__lte=MAX_ATTEMPTS)
            ),
            CheckConstraint(
                name="message_post_is_its_own_root",
                condition=~Q(kind="post") | Q(post=F("id"), parent=None),
            ),
            CheckConstraint(
                name="message_is_not_its_own_parent", condition=Q(parent=None) | ~Q(parent=F("id"))
            ),
        ]
        indexes = [
            # For the messages page, any page of it.
            Index(name="message_newest", fields=NEWEST),
            # For the messages page of one account.
            Index(name="message_of_account", fields=["account", *NEWEST]),
            # For one thread as a tree.
            Index(name="message_thread", fields=["post", "created_at", "id"]),
            # For `awaiting_reply`: only what still waits.
            Index(name="message_awaiting", fields=NEWEST, condition=AWAITING),
            # For the suspects, the failed and the spam: few among many.
            Index(
                name="message_judged",
                fields=["spam_status", *NEWEST],
                condition=Q(spam_status__isnull=False),
            ),
            Index(
                name="message_reply_state",
                fields=["reply_status", *NEWEST],
                condition=Q(reply_status__isnull=False),
            ),
            # For "nothing of ours stands under it", and for our own words.
            Index(
                name="message_ours",
                fields=["direction", *NEWEST],
                condition=Q(direction="outgoing"),
            ),
            # For the threads page and the watcher: posts by account.
            Index(name="message_posts", fields=["account", *NEWEST], condition=Q(kind="post")),
            # For the threads page over all accounts.
            Index(name="message_posts_newest", fields=NEWEST, condition=Q(kind="post")),
            # For the messages page of one community.
            Index(
                name="message_community",
                fields=["submolt", *NEWEST],
                condition=~Q(submolt=""),
            ),
            # For the author's page filter, and for who is known.
            Index(name="message_author", fields=["author", *NEWEST]),
            # For "the same text by others", lately.
            Index(
                name="message_fingerprint",
                fields=["fingerprint", "seen_at"],
                condition=~Q(fingerprint=""),
            ),
            # For what other thresholds would make of what was read lately (`spam.LEAST`).
            Index(name="message_scored", fields=["-seen_at"], condition=Q(spam_score__gte=0.1)),
            # For search.
            GinIndex(name="message_search", fields=["search"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} by {self.author}"

    @property
    def audit_owner(self) -> Owner:
        return self.account_id, ""

    @property
    def spam_whys(self) -> list[str]:
        """Why the filter held it, each in the reader's language."""
        return [render(pair[-1]) for pair in self.spam_reasons if pair]

    @property
    def spam_why(self) -> str:
        return FORMATS["clauses"](self.spam_whys)

    @property
    def link(self) -> str:
        """Where a link post points; "" for everything else."""
        return self.url if self.is_post and not self._names_its_page else ""

    @property
    def page_url(self) -> str:
        """Its page on the surface, "" if unknown."""
        return self.url if self._names_its_page else ""

    @property
    def _names_its_page(self) -> bool:
        surface = self.account.surface
        host = urlsplit(surface.base_url or surface.traits.base_url).hostname
        try:
            return bool(self.url) and urlsplit(self.url).hostname == host
        except ValueError:  # a stranger's link
            return False

    @property
    def is_ours(self) -> bool:
        return self.direction == Direction.OUTGOING

    @property
    def is_post(self) -> bool:
        return self.kind == MessageKind.POST
