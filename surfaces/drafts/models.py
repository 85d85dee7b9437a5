"""Draft: a reply, comment or post of ours until the surface has stored it.

Only `Draft.advance` moves a draft, by compare-and-set, along `STEPS`.
"""

import hashlib
import json
import uuid
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import models, transaction
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.audit.models import Owner
from surfaces.errors import IllegalMove, StaleState
from surfaces.extension_points import end_waits
from surfaces.messages.models import Message, MessageQuerySet
from surfaces.text.fields import ReasonField
from surfaces.text.reasons import StoredReason, reason


class DraftState(models.TextChoices):
    COMPOSED = "composed", _lazy("composed")
    WAITING = "waiting", _lazy("waiting")
    APPROVED = "approved", _lazy("approved")
    SENDING = "sending", _lazy("sending")
    SENT = "sent", _lazy("sent")
    UNKNOWN = "unknown", _lazy("unconfirmed")
    FAILED = "failed", _lazy("failed")
    WITHDRAWN = "withdrawn", _lazy("withdrawn")
    SHADOWED = "shadowed", _lazy("shadowed")


STEPS: dict[str, set[str]] = {
    "composed": {"waiting", "approved", "withdrawn", "shadowed"},
    "waiting": {"approved", "withdrawn"},
    "approved": {"sending", "waiting", "withdrawn", "shadowed", "failed", "unknown"},
    "sending": {"sent", "unknown", "approved", "failed", "waiting", "shadowed"},
    "unknown": {"sent", "approved", "failed"},
    "failed": {"approved", "withdrawn"},
    "withdrawn": {"waiting", "failed"},  # only by undo
}
DEAD = [DraftState.FAILED, DraftState.WITHDRAWN, DraftState.SHADOWED]
UNDECIDED = [DraftState.COMPOSED, DraftState.WAITING]
UNDER_WAY = [DraftState.APPROVED, DraftState.SENDING, DraftState.UNKNOWN]


class DraftWait(models.TextChoices):
    """What an approved draft waits for, besides its time."""

    LIMIT = "limit", _lazy("A rate limit")
    SERVICE = "service", _lazy("The service")
    RETRY = "retry", _lazy("The next attempt")
    HOLD = "hold", _lazy("A pause, a switch or the state of the account")


class Feedback(models.TextChoices):
    AS_WRITTEN = "as_written", _lazy("Approved as written")
    EDITED = "edited", _lazy("Approved with edits")
    REJECTED = "rejected", _lazy("Rejected")
    SENT_BACK = "sent_back", _lazy("Sent back with a note")


class RejectionReason(models.TextChoices):
    OFF_TOPIC = "rejected.off_topic", _lazy("Off topic")
    REPEATS_US = "rejected.repeats_us", _lazy("Repeats us")
    WRONG_FACT = "rejected.wrong_fact", _lazy("Wrong fact")
    TONE = "rejected.tone", _lazy("Tone")


class DraftKind(models.TextChoices):
    REPLY = "reply", _lazy("Reply to a comment")
    COMMENT = "comment", _lazy("Comment on a post")
    POST = "post", _lazy("New post")


class DraftQuerySet(models.QuerySet["Draft"]):
    def waiting(self) -> Self:
        return self.filter(state=DraftState.WAITING)

    def alive(self) -> Self:
        return self.exclude(state__in=DEAD)

    def under_way(self) -> Self:
        return self.filter(state__in=UNDER_WAY)

    def due(self, now: datetime) -> Self:
        return self.filter(state=DraftState.APPROVED, not_before__lte=now)

    def sending(self) -> Self:
        return self.filter(state=DraftState.SENDING)

    def to_look_for(self, now: datetime) -> Self:
        return self.filter(state=DraftState.UNKNOWN, needs_person=False, look_at__lte=now)

    def stale(self) -> Self:
        """Waiting, but their context has changed."""
        return self.waiting().exclude(stale_why={})

    def expired(self, now: datetime) -> Self:
        """Waiting past the time limit."""
        return self.waiting().filter(expires_at__lte=now)

    def by_agent(self, slug: str) -> Self:
        return self.filter(agent=slug)

    def failed(self) -> Self:
        return self.filter(state=DraftState.FAILED)

    def answering(self, message: Message) -> Self:
        return self.filter(target=message)

    def for_page(self) -> Self:
        """With what a page of one draft shows, without the long columns of messages."""
        rows = ("target", "target__post", "message")
        heavy = [f"{row}__{column}" for row in rows for column in ("raw_json", "search")]
        return self.select_related("account__surface", "target__post", "message").defer(*heavy)


class Draft(models.Model):
    account = models.ForeignKey(Account, models.PROTECT, related_name="drafts")
    what = models.CharField(max_length=8, choices=DraftKind)
    target = models.ForeignKey(
        Message, models.PROTECT, null=True, blank=True, related_name="drafts"
    )
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    community = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=64, blank=True, help_text="Slug of who speaks, if any.")
    origin = models.CharField(max_length=40, default="hand", help_text="hand, or a voice's name.")
    # Parts of a reply: common ground, passage referred to, how to continue or stop.
    terms = models.TextField(blank=True)
    pointer = models.TextField(blank=True)
    exit = models.TextField(blank=True)

    state = models.CharField(max_length=10, choices=DraftState, default=DraftState.COMPOSED)
    made_by = models.CharField(max_length=120)
    made_at = models.DateTimeField()
    decided_by = models.CharField(max_length=120, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    approved_digest = models.CharField(max_length=64, blank=True)
    why = ReasonField(help_text="Why it is in this state, for people.")
    judged = models.CharField(max_length=10, choices=Feedback, blank=True)
    was_edited = models.BooleanField(default=False)
    # What changed while it waited. Approving then requires another look.
    stale_why = ReasonField()
    stale_at = models.DateTimeField(null=True, blank=True)

    # If nobody decided by then, it is withdrawn and its comment passed.
    expires_at = models.DateTimeField(null=True, blank=True)

    not_before = models.DateTimeField(null=True, blank=True)
    # Why `not_before` was set or sending was held back: what ends the cause ends the wait.
    waits_for = models.CharField(max_length=8, choices=DraftWait, blank=True)
    sendings = models.PositiveSmallIntegerField(default=0)  # requests that may have reached it
    claim_number = models.PositiveIntegerField(default=0)  # fencing: grows with every claim
    claimed_by = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    # What it was written for, such as a notification or a tool call: one live draft for each.
    written_for = models.CharField(max_length=80, blank=True)

    # Facts of a delivery before it is recorded as sent.
    remote_id = models.CharField(max_length=500, blank=True)
    challenge = models.JSONField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True)
    looks = models.PositiveSmallIntegerField(default=0)
    absences = models.PositiveSmallIntegerField(default=0)  # searches without a result, in a row
    needs_person = models.BooleanField(default=False)
    sender_died = models.BooleanField(default=False)  # our uncertainty, no failure of the service
    # The requests of which nobody knows whether they are stored were made between these two.
    unconfirmed_since = models.DateTimeField(null=True, blank=True)
    unconfirmed_until = models.DateTimeField(null=True, blank=True)
    settled_absent = models.BooleanField(default=False)  # an operator looked and did not find it

    message = models.OneToOneField(
        Message, models.SET_NULL, null=True, blank=True, related_name="draft"
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    retracted_at = models.DateTimeField(null=True, blank=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            # A guard against two replies to one comment.
            UniqueConstraint(
                name="draft_one_live_reply_per_comment_and_account",
                fields=["account", "target"],
                condition=Q(what="reply") & ~Q(state__in=DEAD),
            ),
            UniqueConstraint(
                name="draft_one_live_per_cause",
                fields=["written_for"],
                condition=~Q(written_for="") & ~Q(state__in=DEAD),
            ),
            CheckConstraint(name="draft_state_is_known", condition=Q(state__in=DraftState.values)),
            CheckConstraint(
                name="draft_judged_is_known", condition=Q(judged="") | Q(judged__in=Feedback.values)
            ),
            CheckConstraint(
                name="draft_target_fits_what",
                condition=Q(what="post", target=None)
                | Q(what__in=["reply", "comment"], target__isnull=False),
            ),
            CheckConstraint(
                name="draft_sent_has_its_message",
                condition=~Q(state="sent") | Q(sent_at__isnull=False),
            ),
            CheckConstraint(
                name="draft_approved_has_digest_and_time",
                condition=~Q(state__in=["approved", "sending"])
                | (~Q(approved_digest="") & Q(not_before__isnull=False)),
            ),
            CheckConstraint(
                name="draft_sending_has_lease",
                condition=~Q(state="sending") | Q(lease_until__isnull=False),
            ),
        ]
        indexes = [
            # For `due`: only the few rows that wait to be sent.
            Index(name="draft_due", fields=["not_before", "id"], condition=Q(state="approved")),
            # For `sending`.
            Index(name="draft_sending", fields=["lease_until"], condition=Q(state="sending")),
            # For `to_look_for`.
            Index(name="draft_unknown", fields=["look_at"], condition=Q(state="unknown")),
            # For one agent's limits and its last verdicts.
            Index(name="draft_of_agent", fields=["agent", "-id"], condition=~Q(agent="")),
            Index(name="draft_agent_sent", fields=["agent", "sent_at"], condition=~Q(agent="")),
            # For `expired`: few, and asked for again and again.
            Index(
                name="draft_expiring",
                fields=["expires_at"],
                condition=Q(state="waiting", expires_at__isnull=False),
            ),
            # For the drafts page, by state.
            Index(name="draft_by_state", fields=["state", "-id"]),
            # For home: what was sent and what was held since midnight, by hour.
            Index(
                name="draft_sent_at",
                fields=["sent_at"],
                include=["agent", "account"],
                condition=Q(state="sent"),
            ),
            # For reports of agents.
            Index(name="draft_agent_made", fields=["made_at"], condition=~Q(agent="")),
            Index(name="draft_shadowed", fields=["made_at"], condition=Q(state="shadowed")),
        ]

    def __str__(self) -> str:
        return f"draft {self.pk}"

    @property
    def audit_owner(self) -> Owner:
        return self.account_id, self.agent

    @property
    def state_name(self) -> StoredReason:
        return reason(f"draft_state.{self.state}")

    @property
    def repeat_from(self) -> datetime | None:
        """When a request in doubt can no longer be stored; None if a repeat is safe at once."""
        surface = self.account.surface
        if self.unconfirmed_until is None or surface.traits.honours_key:
            return None
        return self.unconfirmed_until + timedelta(seconds=surface.longest_delay_seconds)

    @property
    def actor(self) -> str:
        return f"agent:{self.agent}" if self.agent else self.made_by

    def digest(self) -> str:
        """Of text, account and target: an edit of the comment invalidates an approval, too."""
        target = self.target
        parts = [
            self.account_id, self.what, self.title, self.text, self.community,
            target.pk if target else None, target.content if target else None,
            bool(target and target.deleted_at),
        ]  # fmt: skip
        packed = json.dumps(parts, ensure_ascii=True).encode()
        return hashlib.sha256(packed).hexdigest()

    def comment(self) -> MessageQuerySet:
        """The comment this replies to, as a query to update; empty where it replies to none."""
        if self.what != DraftKind.REPLY or self.target_id is None:
            return Message.objects.none()
        return Message.objects.filter(pk=self.target_id)

    def advance(self, to: DraftState, **facts: Any) -> None:
        """Move to another state, or raise `StaleState` if the row moved or was claimed anew."""
        if to not in STEPS.get(self.state, set()):
            raise IllegalMove(
                "draft.no_such_step", state=self.state_name, to=reason(f"draft_state.{to}")
            )
        if self.state == DraftState.APPROVED or to == DraftState.APPROVED:
            facts.setdefault("waits_for", "")  # it belongs to one stay in the state
        if to not in DEAD:
            return self.note(state=to, **facts)
        with transaction.atomic():
            self.note(state=to, **facts)
            end_waits(self, "ended")  # it no longer counts against the limits of its agent

    def note(self, **facts: Any) -> None:
        """Update columns without a transition, under the same comparison."""
        unmoved = Draft.objects.filter(pk=self.pk, state=self.state, claim_number=self.claim_number)
        if not unmoved.update(**facts):
            raise StaleState("draft.moved", pk=str(self.pk), state=self.state_name)
        for name, value in facts.items():
            setattr(self, name, value)
