"""Tool calls of agents, and the rules that approve some of them.

proposed ──policy allows──────────────────────────────> running ──> done | failed
   ├──policy denies──> denied                  ┌──────────^  └─ worker died, out of time ─> unknown
   └──> waiting ──> approved (an operator, or a rule) ───┘               │
           │   └──undo──┘                                 <──run again───┴──it ran──> done
           └──> denied | expired | stale                         └─ did not run ─> failed

Only `ToolCall.advance` moves a call, by compare-and-set, along `STEPS`.
"""

from typing import Any, Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.models import Activation, ActivationItem
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import ToolRisk
from dialogue.memory.models import Trust
from surfaces.audit.models import Owner
from surfaces.errors import IllegalMove, StaleState
from surfaces.models import Draft, Message
from surfaces.text.fields import ReasonField
from surfaces.text.reasons import StoredReason, reason


class ToolCallState(models.TextChoices):
    PROPOSED = "proposed", _lazy("proposed")
    WAITING = "waiting", _lazy("waiting")
    APPROVED = "approved", _lazy("approved")
    RUNNING = "running", _lazy("running")
    DONE = "done", _lazy("done")
    FAILED = "failed", _lazy("failed")
    DENIED = "denied", _lazy("denied")
    EXPIRED = "expired", _lazy("expired")
    STALE = "stale", _lazy("stale")
    UNKNOWN = "unknown", _lazy("unconfirmed")


STEPS: dict[str, set[str]] = {
    "proposed": {"waiting", "running", "denied", "failed"},
    "waiting": {"approved", "denied", "expired", "stale"},
    "approved": {"running", "waiting", "expired", "stale"},  # waiting: undo, or edited again
    "running": {"done", "failed", "unknown"},
    "denied": {"waiting"},  # only by undo
    "unknown": {"approved", "done", "failed"},  # a person says what happened
}
ENDED = [
    ToolCallState.DONE, ToolCallState.FAILED, ToolCallState.DENIED, ToolCallState.EXPIRED,
    ToolCallState.STALE,
]  # fmt: skip


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    def waiting(self) -> Self:
        return self.filter(state=ToolCallState.WAITING)

    def open(self) -> Self:
        """Not ended: its item cannot go on."""
        return self.exclude(state__in=ENDED)


class ToolCall(models.Model):
    """What an agent wants to do besides writing its answer."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="tool_calls", db_index=False)
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="+")
    activation = models.ForeignKey(Activation, models.CASCADE, related_name="tool_calls")
    item = models.ForeignKey(
        ActivationItem, models.CASCADE, related_name="tool_calls", db_index=False
    )
    call_id = models.CharField(max_length=100)  # ours, unique in its item; the model's is a claim
    tool = models.CharField(max_length=80)
    risk = models.CharField(max_length=8, choices=ToolRisk)
    arguments = models.JSONField(default=dict)  # validated; what runs
    asked_arguments = models.JSONField(default=dict)  # validated, before an operator's edit
    # Of each argument, whose words went into it: {"text": [{"kind": "message", "id": 5, …}]}
    sources = models.JSONField(default=dict, blank=True)
    # What its result showed the model, with the words: later arguments are compared with them.
    shown = models.JSONField(default=list, blank=True)
    digest = models.CharField(max_length=64)
    approved_digest = models.CharField(max_length=64, blank=True)
    thread = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")

    state = models.CharField(max_length=8, choices=ToolCallState, default=ToolCallState.PROPOSED)
    why = ReasonField(help_text="Why it is in this state, for people.")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=120, blank=True)  # operator:NAME, rule:ID, policy
    decided_at = models.DateTimeField(null=True, blank=True)
    said = models.TextField(blank=True, help_text="What the operator says to the model.")
    rule = models.ForeignKey(
        "ApprovalRule", models.SET_NULL, null=True, blank=True, related_name="calls"
    )
    not_before = models.DateTimeField(null=True, blank=True, help_text="The end of the undo time.")

    worker = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    took_ms = models.PositiveIntegerField(default=0)
    result = models.TextField(blank=True)  # what the model is told, masked and capped
    draft = models.ForeignKey(Draft, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            UniqueConstraint(name="tool_call_once_per_item", fields=["item", "call_id"]),
            CheckConstraint(
                name="tool_call_state_is_known", condition=Q(state__in=ToolCallState.values)
            ),
            CheckConstraint(name="tool_call_risk_is_known", condition=Q(risk__in=ToolRisk.values)),
            CheckConstraint(
                name="tool_call_waiting_expires",
                condition=~Q(state="waiting") | Q(expires_at__isnull=False),
            ),
            CheckConstraint(
                name="tool_call_approved_has_digest_and_time",
                condition=~Q(state="approved")
                | (~Q(approved_digest="") & ~Q(decided_by="") & Q(not_before__isnull=False)),
            ),
            CheckConstraint(
                name="tool_call_running_has_worker",
                condition=~Q(state="running") | (Q(started_at__isnull=False) & ~Q(worker="")),
            ),
            CheckConstraint(
                name="tool_call_ended_says_when",
                condition=~Q(state__in=["done", "failed", "denied", "expired", "stale"])
                | Q(ended_at__isnull=False),
            ),
        ]
        indexes = [
            # For what expires.
            Index(name="tool_call_expiring", fields=["expires_at"], condition=Q(state="waiting")),
            # For what was approved and runs next.
            Index(name="tool_call_due", fields=["not_before"], condition=Q(state="approved")),
            # For calls of dead workers.
            Index(name="tool_call_running", fields=["id"], condition=Q(state="running")),
            # For calls whose activation ended before they began.
            Index(name="tool_call_proposed", fields=["id"], condition=Q(state="proposed")),
            # For the list of one agent.
            Index(name="tool_call_of_agent", fields=["agent", "-id"]),
            # For the same call, made again.
            Index(name="tool_call_digest", fields=["digest"]),
        ]

    def __str__(self) -> str:
        return f"tool call {self.pk}"

    @property
    def ledger_name(self) -> str:
        return f"tool_call:{self.pk}"

    @property
    def audit_owner(self) -> Owner:
        return self.presence.account_id, self.agent.slug

    @property
    def state_name(self) -> StoredReason:
        return reason(f"tool_call_state.{self.state}")

    @property
    def is_untrusted(self) -> bool:
        """Whether words of strangers went into its arguments."""
        return any(one["trust"] == Trust.STRANGER for by in self.sources.values() for one in by)

    def advance(self, to: ToolCallState, **facts: Any) -> None:
        """Move to another state, or raise `StaleState` if the row moved meanwhile."""
        if to not in STEPS.get(self.state, set()):
            raise IllegalMove(
                "tool_call.no_such_step",
                state=self.state_name,
                to=reason(f"tool_call_state.{to}"),
            )
        unmoved = ToolCall.objects.filter(pk=self.pk, state=self.state, digest=self.digest)
        if not unmoved.update(state=to, **facts):
            raise StaleState("tool_call.moved", pk=str(self.pk), state=self.state_name)
        for name, value in {"state": to, **facts}.items():
            setattr(self, name, value)


class ApprovalRuleQuerySet(models.QuerySet["ApprovalRule"]):
    def live(self, now: Any) -> Self:
        return self.filter(Q(until=None) | Q(until__gt=now), revoked_at=None)


class ApprovalRule(models.Model):
    """Always allow this tool with arguments like these, for this agent, until then."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="approval_rules", db_index=False)
    tool = models.CharField(max_length=80)
    # Of each argument a pattern with * for any text; an argument not named here must be absent.
    patterns = models.JSONField(default=dict, blank=True)
    asks_when_untrusted = models.BooleanField(
        "ask for words of strangers",
        default=True,
        help_text="A call whose arguments rest on text by other people still needs approval.",
    )
    until = models.DateTimeField(null=True, blank=True)
    made_by = models.CharField(max_length=120)
    made_at = models.DateTimeField()
    hits = models.PositiveIntegerField(default=0)
    last_hit_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=120, blank=True)

    objects = ApprovalRuleQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            # For the rules of one agent, asked at each call.
            Index(name="approval_rule_of_agent", fields=["agent", "tool"])
        ]

    def __str__(self) -> str:
        return f"{self.tool} of {self.agent}"

    @property
    def ledger_name(self) -> str:
        return f"approval_rule:{self.pk}"

    @property
    def audit_owner(self) -> Owner:
        return None, self.agent.slug
