"""Sentences of approvals: why a tool call runs, waits, was refused or ended."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "approval.activation_ended": _("The activation that made this call has ended."),
    "approval.approved": _("Approved. It runs as soon as a worker is free."),
    "approval.approved_waits": _("Approved. It does not run yet: %(why)s"),
    "approval.asked_already": _("The same call waits for an operator already."),
    "approval.bad_arguments": _("The arguments of %(tool)s are not valid: %(problems)s"),
    "approval.changed": _("This is not the call that was approved."),
    "approval.comment_answered": _("The comment was answered meanwhile."),
    "approval.comment_deleted": _("The comment was deleted on the surface."),
    "approval.comment_edited": _("The comment was edited meanwhile."),
    "approval.comment_spam": _("The comment was marked as spam."),
    "approval.denied": _("Denied by %(by)s."),
    "approval.denied_before": _("An operator denied the same call before. Do not repeat it."),
    "approval.did_not_run": _("It did not run, as %(by)s found."),
    "approval.expired": _("Nobody decided in time."),
    "approval.expired_approved": _("It was approved, but could not run within a day."),
    "approval.failed": _("%(tool)s failed: %(error)s"),
    "approval.failed_for_good": _("%(tool)s failed, and will fail again: %(error)s"),
    "approval.may_have_run": _(
        "Nobody knows whether this call ran before. Settle that one first, or decide here."
    ),
    "approval.mode_is_off": _("The mode of the account is off: nothing is published."),
    "approval.not_needed": _("The agent ended without it."),
    "approval.not_allowed_now": _("The settings of the agent no longer allow this tool."),
    "approval.not_begun": _("The activation ended before the call began."),
    "approval.not_granted": _("The agent has no grant for this call of %(tool)s."),
    "approval.policy_allows": _("The policy of the agent allows it."),
    "approval.policy_asks": _("The policy of the agent asks an operator."),
    "approval.policy_denies": _("The policy of the agent denies it."),
    "approval.ran": _("It ran."),
    "approval.ran_before": _(
        "It ran in an earlier activation for the same comment. It is not repeated."
    ),
    "approval.rule_allows": _("Rule %(pk)s allows it."),
    "approval.rules_only": _(
        "It needs approval, and this agent may only do what its policy or a rule allows."
    ),
    "approval.run_again": _("An operator lets it run again."),
    "approval.schema_changed": _("The tool takes other arguments now."),
    "approval.settled": _("It ran, as %(by)s found."),
    "approval.skipped": _("It needs approval, and this agent goes on without. It was skipped."),
    "approval.stopped": _("The worker stopped while it ran. It only reads."),
    "approval.thread_deleted": _("The thread was deleted on the surface."),
    "approval.tool_gone": _("This tool does not exist any more."),
    "approval.undone": _("The decision was undone. It waits again."),
    "approval.answer_lost": _("Its answer was lost. It may have happened, or not: %(error)s"),
    "approval.timed_out": _(
        "It took longer than %(seconds)s s and was abandoned. It may have happened, or not."
    ),
    "approval.unknown": _("The worker stopped while it ran. It may have happened, or not."),
    "approval.unknown_tool": _("There is no tool %(tool)s."),
    "approval.words_of_strangers": _(
        "Words of other people are in its arguments, so an operator is asked."
    ),
    "tool_call.moved": _("%(pk)s is no longer %(state)s: somebody was faster."),
    "tool_call.no_such_step": _("A tool call that is %(state)s cannot become %(to)s."),
    "tool_call_state.approved": _("approved"),
    "tool_call_state.denied": _("denied"),
    "tool_call_state.done": _("done"),
    "tool_call_state.expired": _("expired"),
    "tool_call_state.failed": _("failed"),
    "tool_call_state.proposed": _("proposed"),
    "tool_call_state.running": _("running"),
    "tool_call_state.stale": _("stale"),
    "tool_call_state.unknown": _("unconfirmed"),
    "tool_call_state.waiting": _("waiting"),
}
