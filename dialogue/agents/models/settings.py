"""Settings of an agent: behavior, voice and budgets. The defaults are cautious."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from dialogue.agents.models.agent import Agent
from surfaces.accounts.models.account import ReplyMode
from surfaces.model_fields import between, check


class VoiceKind(models.TextChoices):
    SCRIPTED = "scripted", _("Scripted: a template, no model")
    MODEL = "model", _("Model: a language model writes")


class OutputStyle(models.TextChoices):
    TOOL = "tool", _("Tool call")
    NATIVE = "native", _("JSON schema")
    PROMPTED = "prompted", _("Prompted")


class ToolRisk(models.TextChoices):
    """What a tool call can do (activations, 5)."""

    READ = "read", _("Reads")
    WRITE = "write", _("Writes in the agent's own store")
    PUBLISH = "publish", _("Publishes")
    EXECUTE = "execute", _("Runs a program")
    EXTERNAL = "external", _("Reaches another program")


class Policy(models.TextChoices):
    ALLOW = "allow", _("Allow")
    ASK = "ask", _("Ask an operator")
    DENY = "deny", _("Deny")


class PublishPolicy(models.TextChoices):
    MODE = "mode", _("By the mode: a draft")
    ASK = "ask", _("Ask an operator")
    DENY = "deny", _("Deny")


class ApprovalMode(models.TextChoices):
    ASK = "ask", _("Ask and wait")
    SKIP = "skip", _("Skip the call and go on")
    POLICY = "policy", _("Rules only")


class MemoryStrategy(models.TextChoices):
    KEYWORD = "keyword", _("By words in common")
    RECENT = "recent", _("The newest")
    EMBEDDING = "embedding_search", _("By words in common (imported as embedding search)")


class Frequency(models.TextChoices):
    STALENESS = "staleness", _("When it was idle for a time")
    HOURLY = "hourly", _("Once an hour")
    DAILY = "daily", _("Once a day")


def dollars(usual: int, *, most: int) -> models.DecimalField[Any, Any]:
    return models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal(usual), validators=between(0, most)
    )


def _words() -> ArrayField[Any, Any]:
    return ArrayField(models.CharField(max_length=120), default=list, blank=True, size=100)


DAY_WITHIN_MONTH = Q(money_per_day__lte=F("money_per_month")) & Q(
    tokens_per_day__lte=F("tokens_per_month")
)


POLICY_BY_RISK = (ToolRisk.READ, ToolRisk.WRITE, ToolRisk.EXECUTE, ToolRisk.EXTERNAL)


class AgentSettings(models.Model):
    agent = models.OneToOneField(Agent, models.CASCADE, related_name="settings")

    # Replies
    is_autonomous = models.BooleanField(
        "answers by itself", default=False, help_text="Off: it writes nothing unasked."
    )
    mode = models.CharField(max_length=8, choices=ReplyMode, default=ReplyMode.REVIEW)
    replies_per_day = models.PositiveSmallIntegerField(default=20, validators=between(0, 500))
    replies_per_thread = models.PositiveSmallIntegerField(default=3, validators=between(1, 50))
    spacing_seconds = models.PositiveIntegerField(default=60, validators=between(0, 86_400))
    tries = models.PositiveSmallIntegerField(
        "tries per comment", default=10, validators=between(1, 10)
    )
    longest_reply = models.PositiveIntegerField(default=1_200, validators=between(80, 10_000))
    oldest_days = models.PositiveSmallIntegerField(
        "oldest comment answered",
        default=0,
        validators=between(0, 3650),
        help_text="Older ones are passed. 0: whatever their age.",
    )
    answers_runs_once = models.BooleanField(
        "one answer to a run",
        default=False,
        help_text="A run of comments by one author under one parent gets one answer.",
    )
    lays_stones = models.BooleanField(default=False, help_text="It writes posts by itself.")

    # Voice
    voice = models.CharField(max_length=10, choices=VoiceKind, default=VoiceKind.SCRIPTED)
    temperature = models.FloatField(default=0.7, validators=between(0, 2))
    output_tokens = models.PositiveIntegerField(default=1_000, validators=between(64, 16_000))
    timeout_seconds = models.PositiveSmallIntegerField(default=60, validators=between(5, 120))

    # Budgets in tokens and US dollars, per UTC day and month
    tokens_per_day = models.PositiveIntegerField(
        default=200_000, validators=between(0, 100_000_000)
    )
    tokens_per_month = models.PositiveBigIntegerField(
        default=3_000_000, validators=between(0, 2_000_000_000)
    )
    money_per_day = dollars(1, most=10_000)
    money_per_month = dollars(10, most=100_000)
    # Fallback prices per million tokens, for models without a known price.
    price_in = dollars(5, most=1_000)
    price_out = dollars(20, most=1_000)

    # Activations
    notifications_per_run = models.PositiveSmallIntegerField(default=5, validators=between(1, 25))
    max_iterations = models.PositiveSmallIntegerField(default=10, validators=between(1, 100))
    max_tool_calls = models.PositiveSmallIntegerField(default=30, validators=between(0, 500))
    tokens_per_run = models.PositiveIntegerField(
        default=100_000, validators=between(1_000, 10_000_000)
    )
    money_per_run = dollars(1, most=1_000)
    seconds_per_run = models.PositiveSmallIntegerField(default=300, validators=between(10, 3_600))
    responds_to_mentions = models.BooleanField(default=True)
    responds_to_replies = models.BooleanField(default=True)
    responds_to_dms = models.BooleanField(default=True)
    posts_per_day = models.PositiveSmallIntegerField(default=5, validators=between(0, 100))

    # Tools: service:scope[:resource]; a first ! denies. None: no tool is offered.
    grants = _words()
    approval_mode = models.CharField(max_length=8, choices=ApprovalMode, default=ApprovalMode.ASK)
    on_read = models.CharField(max_length=8, choices=Policy, default=Policy.ALLOW)
    on_write = models.CharField(max_length=8, choices=Policy, default=Policy.ALLOW)
    on_publish = models.CharField(max_length=8, choices=PublishPolicy, default=PublishPolicy.MODE)
    on_execute = models.CharField(max_length=8, choices=Policy, default=Policy.ASK)
    on_external = models.CharField(max_length=8, choices=Policy, default=Policy.ASK)
    approval_hours = models.PositiveSmallIntegerField(default=24, validators=between(1, 720))

    # Memory
    has_memory = models.BooleanField(default=False)
    memory_kilobytes = models.PositiveIntegerField(default=256, validators=between(1, 102_400))
    memory_items = models.PositiveSmallIntegerField(default=10, validators=between(0, 50))
    memory_strategy = models.CharField(
        max_length=16, choices=MemoryStrategy, default=MemoryStrategy.KEYWORD
    )

    # Exploration
    explores = models.BooleanField(default=False)
    explore_frequency = models.CharField(
        max_length=10, choices=Frequency, default=Frequency.STALENESS
    )
    stale_minutes = models.PositiveSmallIntegerField(default=15, validators=between(5, 10_080))
    explores_questions = models.BooleanField(default=True)
    explores_discussions = models.BooleanField(default=True)
    min_confidence = models.FloatField(default=0.7, validators=between(0, 1))

    # Interests, for exploration
    topics = _words()
    communities = _words()
    keywords = _words()
    follows = _words()

    class Meta:
        verbose_name_plural = "agent settings"
        constraints = [
            check("agent_settings_mode_is_known", mode__in=ReplyMode.values),
            check("agent_settings_tries_1_to_10", tries__range=(1, 10)),
            check("agent_settings_voice_is_known", voice__in=VoiceKind.values),
            check("agent_settings_approval_is_known", approval_mode__in=ApprovalMode.values),
            check("agent_settings_publish_is_known", on_publish__in=PublishPolicy.values),
            check(
                "agent_settings_policies_are_known",
                **{f"on_{risk}__in": Policy.values for risk in POLICY_BY_RISK},
            ),
            check("agent_settings_strategy_is_known", memory_strategy__in=MemoryStrategy.values),
            check("agent_settings_frequency_is_known", explore_frequency__in=Frequency.values),
            models.CheckConstraint(
                name="agent_settings_day_within_month",
                condition=DAY_WITHIN_MONTH,
                violation_error_message=_("The daily budget is larger than the monthly budget."),
            ),
        ]

    def __str__(self) -> str:
        return f"settings of {self.agent}"

    @property
    def spacing(self) -> timedelta:
        return timedelta(seconds=self.spacing_seconds)
