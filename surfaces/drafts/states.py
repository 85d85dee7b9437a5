"""States of drafts, all transitions between them, and the other choices of their columns."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _lazy


class DraftState(models.TextChoices):
    COMPOSED = "composed", _lazy("composed")
    WAITING = "waiting", _lazy("waiting")
    APPROVED = "approved", _lazy("approved")
    SENDING = "sending", _lazy("sending")
    SENT = "sent", _lazy("sent")
    UNKNOWN = "unknown", _lazy("unknown")
    FAILED = "failed", _lazy("failed")
    WITHDRAWN = "withdrawn", _lazy("withdrawn")
    SHADOWED = "shadowed", _lazy("shadowed")


# All transitions of the lifecycle.
STEPS: dict[str, set[str]] = {
    DraftState.COMPOSED: {
        DraftState.WAITING,
        DraftState.APPROVED,
        DraftState.WITHDRAWN,
        DraftState.SHADOWED,
    },
    DraftState.WAITING: {DraftState.APPROVED, DraftState.WITHDRAWN},
    DraftState.APPROVED: {
        DraftState.SENDING,
        DraftState.WAITING,
        DraftState.WITHDRAWN,
        DraftState.SHADOWED,
        DraftState.FAILED,
        DraftState.UNKNOWN,
    },
    DraftState.SENDING: {
        DraftState.SENT,
        DraftState.UNKNOWN,
        DraftState.APPROVED,
        DraftState.FAILED,
        DraftState.WAITING,
        DraftState.SHADOWED,
    },
    DraftState.UNKNOWN: {DraftState.SENT, DraftState.APPROVED, DraftState.FAILED},
    DraftState.FAILED: {DraftState.APPROVED, DraftState.WITHDRAWN},
    DraftState.WITHDRAWN: {DraftState.WAITING, DraftState.FAILED},  # only by undo
}
DEAD = [DraftState.FAILED, DraftState.WITHDRAWN, DraftState.SHADOWED]
UNDECIDED = [DraftState.COMPOSED, DraftState.WAITING]
UNDER_WAY = [DraftState.APPROVED, DraftState.SENDING, DraftState.UNKNOWN]


class Feedback(models.TextChoices):
    """Review decisions of operators."""

    AS_WRITTEN = "as_written", _lazy("Approved as written")
    EDITED = "edited", _lazy("Approved with edits")
    REJECTED = "rejected", _lazy("Rejected")
    SENT_BACK = "sent_back", _lazy("Sent back with a note")


class RejectionReason(models.TextChoices):
    """Reasons that an operator can choose instead of typing one, by code."""

    OFF_TOPIC = "rejected.off_topic", _lazy("Off topic")
    REPEATS_US = "rejected.repeats_us", _lazy("Repeats us")
    WRONG_FACT = "rejected.wrong_fact", _lazy("Wrong fact")
    TONE = "rejected.tone", _lazy("Tone")


class DraftKind(models.TextChoices):
    REPLY = "reply", _lazy("Reply to a comment")
    COMMENT = "comment", _lazy("Comment on a post")
    POST = "post", _lazy("New post")
