"""What we mean to say, on its way out; a message only once the surface has it.

Only `Draft.advance` moves a draft, by compare-and-set:

    composed ──> waiting ──> approved ──> sending ──> sent
        │          │  ^        │  │ ^        ├──> unknown ──> sent | approved | failed
        │          v  └─lapsed─┤  │ └─later──┤
        └──────> withdrawn <───┘  │          ├──> failed ──> approved | withdrawn
                                  v          │
                               shadowed <────┘

Undo, while the world allows it: approved ──> waiting | failed | unknown,
withdrawn ──> waiting | failed.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Q

from surfaces.errors import IllegalMove, StaleState
from surfaces.models.account import Account
from surfaces.models.message import Message, MessageQuerySet


class State(models.TextChoices):
    COMPOSED = "composed"
    WAITING = "waiting"
    APPROVED = "approved"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    SHADOWED = "shadowed"


# The whole lifecycle. A step that is not listed here does not exist.
STEPS: dict[str, set[str]] = {
    State.COMPOSED: {State.WAITING, State.APPROVED, State.WITHDRAWN, State.SHADOWED},
    State.WAITING: {State.APPROVED, State.WITHDRAWN},
    State.APPROVED: {State.SENDING, State.WAITING, State.WITHDRAWN, State.SHADOWED, State.FAILED,
                     State.UNKNOWN},
    State.SENDING: {State.SENT, State.UNKNOWN, State.APPROVED, State.FAILED, State.WAITING,
                    State.SHADOWED},
    State.UNKNOWN: {State.SENT, State.APPROVED, State.FAILED},
    State.FAILED: {State.APPROVED, State.WITHDRAWN},
    State.WITHDRAWN: {State.WAITING, State.FAILED},  # only by undo
}  # fmt: skip
DEAD = [State.FAILED, State.WITHDRAWN, State.SHADOWED]
UNDECIDED = [State.COMPOSED, State.WAITING]
UNDER_WAY = [State.APPROVED, State.SENDING, State.UNKNOWN]


class Judged(models.TextChoices):
    """What a person thought of a voice's words."""

    AS_WRITTEN = "as_written", "Approved as written"
    EDITED = "edited", "Approved with edits"
    REJECTED = "rejected", "Rejected"
    SENT_BACK = "sent_back", "Sent back with a note"


class What(models.TextChoices):
    REPLY = "reply", "Reply to a comment"
    COMMENT = "comment", "Comment on a post"
    POST = "post", "New post"


class DraftQuerySet(models.QuerySet["Draft"]):
    """The words we use about drafts."""

    def waiting(self) -> Self:
        return self.filter(state=State.WAITING)

    def alive(self) -> Self:
        return self.exclude(state__in=DEAD)

    def under_way(self) -> Self:
        return self.filter(state__in=UNDER_WAY)

    def due(self, now: datetime) -> Self:
        """Approved, and its time has come."""
        return self.filter(state=State.APPROVED, not_before__lte=now)

    def abandoned(self, now: datetime) -> Self:
        """Sending, by a worker that is dead or asleep."""
        return self.filter(state=State.SENDING, lease_until__lte=now)

    def held_by(self, sender: str) -> Self:
        return self.filter(state=State.SENDING, claimed_by=sender)

    def to_look_for(self, now: datetime) -> Self:
        """Unknown, and it is time to look at the surface."""
        return self.filter(state=State.UNKNOWN, needs_person=False, look_at__lte=now)

    def needing_person(self) -> Self:
        return self.filter(state=State.UNKNOWN, needs_person=True)

    def stale(self) -> Self:
        """Waiting, while what they answer moved on."""
        return self.waiting().exclude(stale_why="")

    def expired(self, now: datetime) -> Self:
        """Waiting, and nobody decided in time."""
        return self.waiting().filter(expires_at__lte=now)

    def by_agent(self, slug: str) -> Self:
        return self.filter(agent=slug)

    def failed(self) -> Self:
        """Given up; a person may try again or withdraw."""
        return self.filter(state=State.FAILED)

    def answering(self, message: Message) -> Self:
        return self.filter(target=message)


class Draft(models.Model):
    account = models.ForeignKey(Account, models.PROTECT, related_name="drafts")
    what = models.CharField(max_length=8, choices=What)
    target = models.ForeignKey(
        Message, models.PROTECT, null=True, blank=True, related_name="drafts"
    )
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    community = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=64, blank=True, help_text="Slug of who speaks, if any.")
    origin = models.CharField(max_length=40, default="hand", help_text="hand, or a voice's name.")
    # What a voice meant: which game we are in, what it touches, how to go on or stop.
    terms = models.TextField(blank=True)
    pointer = models.TextField(blank=True)
    exit = models.TextField(blank=True)

    state = models.CharField(max_length=10, choices=State, default=State.COMPOSED)
    made_by = models.CharField(max_length=120)
    made_at = models.DateTimeField()
    decided_by = models.CharField(max_length=120, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    approved_digest = models.CharField(max_length=64, blank=True)
    why = models.TextField(blank=True, help_text="Why it is in this state, for people.")
    judged = models.CharField(max_length=10, choices=Judged, blank=True)
    was_edited = models.BooleanField(default=False)
    # What moved around it while it waited. Approving then asks to look again.
    stale_why = models.TextField(blank=True)
    stale_at = models.DateTimeField(null=True, blank=True)

    # Nobody decided by then: it is withdrawn by itself, and its comment passed.
    expires_at = models.DateTimeField(null=True, blank=True)

    not_before = models.DateTimeField(null=True, blank=True)
    sendings = models.PositiveSmallIntegerField(default=0)  # requests that may have reached it
    claim_number = models.PositiveIntegerField(default=0)  # fencing: grows with every claim
    claimed_by = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    # What is known of a sending before it is recorded as sent.
    remote_id = models.CharField(max_length=500, blank=True)
    challenge = models.JSONField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True)
    looks = models.PositiveSmallIntegerField(default=0)
    absences = models.PositiveSmallIntegerField(default=0)  # looks that found nothing, in a row
    needs_person = models.BooleanField(default=False)
    sender_died = models.BooleanField(default=False)  # it is our doubt, not the service's failure

    message = models.OneToOneField(
        Message, models.SET_NULL, null=True, blank=True, related_name="draft"
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    retracted_at = models.DateTimeField(null=True, blank=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            # Whatever the code gets wrong, nobody is answered twice.
            models.UniqueConstraint(
                name="draft_one_live_reply_per_comment_and_account",
                fields=["account", "target"],
                condition=Q(what="reply") & ~Q(state__in=DEAD),
            ),
            models.CheckConstraint(
                name="draft_state_is_known", condition=Q(state__in=State.values)
            ),
            models.CheckConstraint(
                name="draft_judged_is_known",
                condition=Q(judged="") | Q(judged__in=Judged.values),
            ),
            models.CheckConstraint(
                name="draft_target_fits_what",
                condition=Q(what="post", target=None)
                | Q(what__in=["reply", "comment"], target__isnull=False),
            ),
            models.CheckConstraint(
                name="draft_sent_has_its_message",
                condition=~Q(state="sent") | Q(sent_at__isnull=False),
            ),
            models.CheckConstraint(
                name="draft_approved_has_digest_and_time",
                condition=~Q(state__in=["approved", "sending"])
                | (~Q(approved_digest="") & Q(not_before__isnull=False)),
            ),
            models.CheckConstraint(
                name="draft_sending_has_lease",
                condition=~Q(state="sending") | Q(lease_until__isnull=False),
            ),
        ]
        indexes = [
            # For `due`: only the few rows that wait to be sent.
            models.Index(
                name="draft_due", fields=["not_before", "id"], condition=Q(state="approved")
            ),
            # For `abandoned`.
            models.Index(
                name="draft_sending", fields=["lease_until"], condition=Q(state="sending")
            ),
            # For `to_look_for`.
            models.Index(name="draft_unknown", fields=["look_at"], condition=Q(state="unknown")),
            # For one agent's limits and its last verdicts.
            models.Index(name="draft_of_agent", fields=["agent", "-id"], condition=~Q(agent="")),
            models.Index(
                name="draft_agent_sent", fields=["agent", "sent_at"], condition=~Q(agent="")
            ),
            # For `expired`: few, and asked for again and again.
            models.Index(
                name="draft_expiring",
                fields=["expires_at"],
                condition=Q(state="waiting", expires_at__isnull=False),
            ),
            # For the drafts page, by state.
            models.Index(name="draft_by_state", fields=["state", "-id"]),
            # For home: what was sent and what was held since midnight, by hour.
            models.Index(
                name="draft_sent_at",
                fields=["sent_at"],
                include=["agent", "account"],
                condition=Q(state="sent"),
            ),
            models.Index(name="draft_shadowed", fields=["made_at"], condition=Q(state="shadowed")),
        ]

    def __str__(self) -> str:
        return f"draft {self.pk}"

    @property
    def actor(self) -> str:
        return f"agent:{self.agent}" if self.agent else self.made_by

    def digest(self) -> str:
        """Name exactly what would be said, as whom, and to what.

        The words answered to are part of it: an edited comment lapses an approval.
        """
        target = self.target
        parts = [
            self.account_id,
            self.what,
            self.title,
            self.text,
            self.community,
            target.pk if target else None,
            target.content if target else None,
            bool(target and target.deleted_at),
        ]
        packed = json.dumps(parts, ensure_ascii=True).encode()
        return hashlib.sha256(packed).hexdigest()

    def comment(self) -> MessageQuerySet:
        """The comment this replies to, as a query to update; empty where it replies to none."""
        if self.what != What.REPLY or self.target_id is None:
            return Message.objects.none()
        return Message.objects.filter(pk=self.target_id)

    def advance(self, to: State, **facts: Any) -> None:
        """Take one step, or raise `StaleState` if somebody took one before us.

        Also compares the claim number, so a late worker cannot move a draft
        that was taken from it.
        """
        if to not in STEPS.get(self.state, set()):
            raise IllegalMove(f"A {self.state} draft cannot become {to}.")
        unmoved = Draft.objects.filter(pk=self.pk, state=self.state, claim_number=self.claim_number)
        if not unmoved.update(state=to, **facts):
            raise StaleState(f"Draft {self.pk} is no longer {self.state}.")
        for name, value in {"state": to, **facts}.items():
            setattr(self, name, value)

    def note(self, **facts: Any) -> None:
        """Write facts down without moving, under the same comparison."""
        unmoved = Draft.objects.filter(pk=self.pk, state=self.state, claim_number=self.claim_number)
        if not unmoved.update(**facts):
            raise StaleState(f"Draft {self.pk} is no longer {self.state}.")
        for name, value in facts.items():
            setattr(self, name, value)
