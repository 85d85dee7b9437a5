"""Decide what becomes of a tool call: it runs, a person is asked, or it is refused. Pure.

    allow  it runs now
    ask    the conversation is suspended until an operator decides
    deny   it does not run, and the model is told so
    skip   like deny, because nobody is to be asked: it goes on without

The order is the defence. What denies is asked first, so no rule overrides it. Then the policy of
the risk says allow or ask; words of strangers turn an allow into an ask; and only then may a rule
of an operator answer in the operator's place. What ran in an earlier activation about the same
comment is not run again; where nobody knows whether it did, only a person says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

READ, WRITE, PUBLISH = "read", "write", "publish"
DRAFT_WAITS = {"review", "shadow"}  # modes in which what is published waits for a person


class CallAction(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    SKIP = "skip"


class CallReason(Enum):
    """Reasons of a decision, by the code of their sentence."""

    POLICY_ALLOWS = "approval.policy_allows"
    RULE_ALLOWS = "approval.rule_allows"
    NOT_GRANTED = "approval.not_granted"
    RAN_BEFORE = "approval.ran_before"
    MAY_HAVE_RUN = "approval.may_have_run"
    POLICY_DENIES = "approval.policy_denies"
    MODE_IS_OFF = "approval.mode_is_off"
    POLICY_ASKS = "approval.policy_asks"
    WORDS_OF_STRANGERS = "approval.words_of_strangers"
    ASKED_ALREADY = "approval.asked_already"
    DENIED_BEFORE = "approval.denied_before"
    RULES_ONLY = "approval.rules_only"
    SKIPPED = "approval.skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchingRule:
    """A live rule of an operator whose patterns fit the arguments."""

    pk: int
    asks_when_untrusted: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class CallFacts:
    """All facts that the decision depends on."""

    risk: str  # `ToolRisk`
    policy: str  # of that risk: allow, ask, deny; of publish: mode, ask, deny
    account_mode: str = "review"  # `ReplyMode`
    approval_mode: str = "ask"  # `ApprovalMode`: ask, skip, policy
    is_granted: bool = True
    is_untrusted: bool = False  # words of strangers went into its arguments
    # What it writes keeps whose words it rests on, as a memory does.
    keeps_trust: bool = False
    is_waiting: bool = False  # the same call waits already
    was_denied: bool = False  # an operator denied the same call
    # In an earlier activation about the same comment, which was killed or failed later.
    has_run: bool = False
    may_have_run: bool = False  # its worker died while it ran, and nobody said yet what happened
    rules: Sequence[MatchingRule] = ()


@dataclass(frozen=True, slots=True)
class CallVerdict:
    answer: CallAction
    why: CallReason
    rule: int | None = None  # that allows it


def decide(call: CallFacts) -> CallVerdict:
    for applies, why in (
        (not call.is_granted, CallReason.NOT_GRANTED),
        (call.policy == "deny", CallReason.POLICY_DENIES),
        (call.risk == PUBLISH and call.account_mode == "off", CallReason.MODE_IS_OFF),
        (call.has_run, CallReason.RAN_BEFORE),
    ):
        if applies:
            return CallVerdict(CallAction.DENY, why)
    is_asked_for = _asks(call)
    if is_asked_for is None:
        return CallVerdict(CallAction.ALLOW, CallReason.POLICY_ALLOWS)
    for rule in () if call.may_have_run else call.rules:
        if not (call.is_untrusted and rule.asks_when_untrusted):
            return CallVerdict(CallAction.ALLOW, CallReason.RULE_ALLOWS, rule.pk)
    for applies, answer, why in (
        (call.was_denied, CallAction.DENY, CallReason.DENIED_BEFORE),
        (call.is_waiting, CallAction.DENY, CallReason.ASKED_ALREADY),
        (call.approval_mode == "skip", CallAction.SKIP, CallReason.SKIPPED),
        (call.approval_mode == "ask", CallAction.ASK, is_asked_for),
    ):
        if applies:
            return CallVerdict(answer, why)
    return CallVerdict(CallAction.DENY, CallReason.RULES_ONLY)


def _asks(call: CallFacts) -> CallReason | None:
    """Why a person is asked, or None if the policy allows it."""
    if call.may_have_run and call.risk != READ:
        return CallReason.MAY_HAVE_RUN
    if not _is_allowed(call):
        return CallReason.POLICY_ASKS
    if call.is_untrusted and not (call.risk == READ or call.keeps_trust or _is_draft(call)):
        return CallReason.WORDS_OF_STRANGERS
    return None


def _is_allowed(call: CallFacts) -> bool:
    """Whether the policy allows it, whatever its arguments. What is unknown is asked."""
    return call.policy == ("mode" if call.risk == PUBLISH else "allow")


def _is_draft(call: CallFacts) -> bool:
    """Whether it writes a draft that nobody sends before a person read it."""
    return call.risk == PUBLISH and call.account_mode in DRAFT_WAITS
