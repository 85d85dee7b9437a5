"""What agents decided, wrote and spent."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.reasons import register

register(
    {
        "activation.comment": _lazy("Comment by %(author)s in “%(title)s”: %(why)s."),
        "activation.comment_edited": _lazy("The comment was edited."),
        "activation.meanwhile_answer": _lazy(
            "%(why)s This happened while the reply was being written."
        ),
        "activation.meanwhile_post": _lazy(
            "%(why)s This happened while the post was being written."
        ),
        "activation.mention": _lazy("Mention by %(author)s in “%(title)s”: %(why)s."),
        "activation.moved": _lazy("Replies are now written by an external agent."),
        "activation.no_answers": _lazy("Automatic replies were switched off."),
        "activation.no_posts": _lazy("Automatic replies were switched off."),
        "activation.no_stones": _lazy("“Write posts” was switched off."),
        "activation.other": _lazy("Notification by %(author)s in “%(title)s”: %(why)s."),
        "activation.presence_ended": _lazy("The account was unassigned from the agent."),
        "activation.program_failed": _lazy("Internal error: %(name)s. See the log for details."),
        "activation.reply": _lazy("Reply by %(author)s in “%(title)s”: %(why)s."),
        "activation.running": _lazy("%(agent)s already has a running activation."),
        "activation.suspect": _lazy("The spam filter marked the comment as suspect."),
        "activation.thread_deleted": _lazy("The thread was deleted on the surface."),
        "activation.try_lost": _lazy("The last attempt ended because its worker process died."),
        "activation.worker_died": _lazy(
            "The worker process died. The notification will be processed again."
        ),
        "activation.wrote_draft": _lazy("Wrote draft %(pk)s."),
        "agent.imported_from": _lazy("Imported from %(file)s."),
        "budget.money_short_day": _lazy(
            "The money budget for today is too low: %(used)s of %(allowed)s is spent or reserved, "
            "and one request may cost %(wanted)s."
        ),
        "budget.money_short_month": _lazy(
            "The money budget for this month is too low: %(used)s of %(allowed)s is spent or "
            "reserved, and one request may cost %(wanted)s."
        ),
        "budget.money_short_shared": _lazy(
            "The shared money budget for %(period)s is too low: %(used)s of %(allowed)s is spent "
            "or reserved, and one request may cost %(wanted)s."
        ),
        "budget.money_spent_day": _lazy(
            "The money budget for today is used up: %(used)s of %(allowed)s."
        ),
        "budget.money_spent_month": _lazy(
            "The money budget for this month is used up: %(used)s of %(allowed)s."
        ),
        "budget.money_spent_shared": _lazy(
            "The shared money budget for %(period)s is used up: %(used)s of %(allowed)s."
        ),
        "budget.of_agent": _lazy("%(name)s: %(why)s"),
        "budget.period_day": _lazy("today"),
        "budget.period_month": _lazy("this month"),
        "budget.tokens_short_day": _lazy(
            "The token limit for today is too low: %(used)s of %(allowed)s are used or reserved, "
            "and one request may use %(wanted)s."
        ),
        "budget.tokens_short_month": _lazy(
            "The token limit for this month is too low: %(used)s of %(allowed)s are used or "
            "reserved, and one request may use %(wanted)s."
        ),
        "budget.tokens_short_shared": _lazy(
            "The shared token limit for %(period)s is too low: %(used)s of %(allowed)s are used or "
            "reserved, and one request may use %(wanted)s."
        ),
        "budget.tokens_spent_day": _lazy(
            "The token limit for today is used up: %(used)s of %(allowed)s."
        ),
        "budget.tokens_spent_month": _lazy(
            "The token limit for this month is used up: %(used)s of %(allowed)s."
        ),
        "budget.tokens_spent_shared": _lazy(
            "The shared token limit for %(period)s is used up: %(used)s of %(allowed)s."
        ),
        "reply.account_off": _lazy("the account is switched off"),
        "reply.account_sign_in": _lazy("the account cannot sign in: %(state_why)s"),
        "reply.account_suspended": _lazy("the account is suspended: %(state_why)s"),
        "reply.day_full_of": _lazy(
            "%(replies_today)s of %(per_day)s replies allowed per day are used"
        ),
        "reply.in_run_of": _lazy(
            "the reply to a newer comment by %(author)s in this thread covers it"
        ),
        "reply.paused": _lazy("%(what)s is paused by %(by)s: %(why)s"),
        "reply.paused_by": _lazy("%(what)s is paused by %(by)s"),
        "reply.rejected": _lazy("%(by)s: %(why)s"),
        "reply.thread_full_of": _lazy(
            "%(replies_in_thread)s of %(per_thread)s replies allowed per thread are used"
        ),
        "reply.too_deep": _lazy("it is at depth %(deepest)s, where %(label)s allows no replies"),
        "reply.tried_out_last": _lazy(
            "Failed after %(reply_attempts)s attempts. Last error: %(why)s"
        ),
        "reply.try_failed": _lazy("Attempt %(reply_attempts)s failed: %(why)s"),
        "reply.waits": _lazy("Waiting: %(error)s"),
        "stone.draft_state": _lazy("The state of its draft is “%(state)s”."),
        "stone.exploit": _lazy("%(draw)s is above the share %(share)s: exploit"),
        "stone.exploit_anyway": _lazy("%(lead)s, but there are no topic seeds, so exploit"),
        "stone.explore": _lazy("%(draw)s is below the share %(share)s: explore"),
        "stone.explore_anyway": _lazy("%(lead)s, but no thread has comments, so explore"),
        "stone.kernel": _lazy("%(lead)s. %(turn)s"),
        "stone.kernel_rested": _lazy("The topic seed is the least recently used, since %(day)s."),
        "stone.kernel_unused": _lazy("The topic seed was never used."),
        "stone.nothing": _lazy(
            "%(lead)s, but there are no topic seeds and no post of the last 14 days has a comment. "
            "No stone."
        ),
        "stone.parent_deleted": _lazy("The source was deleted."),
        "stone.parent_gone": _lazy("The source was deleted."),
        "stone.presence_ended": _lazy("The account is no longer assigned to the agent."),
        "stone.thread": _lazy(
            "%(lead)s. The remainder, %(rest)s, selects “%(title)s”, which has %(share)s %% of the "
            "scores."
        ),
        "stone.too_late": _lazy("Not written within one day."),
        "stone.tried_out": _lazy("Failed after %(most_tries)s attempts. Last error: %(why)s"),
        "stone.worker_died": _lazy(
            "Failed after %(most_tries)s attempts. The last worker process died."
        ),
        "verdict.account_off": _lazy("the account cannot send"),
        "verdict.answered": _lazy("it already has a reply"),
        "verdict.awake": _lazy("the agent has another running activation"),
        "verdict.backed_off": _lazy("the agent is backing off after several failures"),
        "verdict.because": _lazy("%(what)s: %(why)s"),
        "verdict.between_tries": _lazy("the last attempt failed; waiting before the next"),
        "verdict.day_full": _lazy("the limit of replies per day is reached"),
        "verdict.deleted": _lazy("it was deleted on the surface"),
        "verdict.drafted": _lazy("its reply is written but not sent yet"),
        "verdict.elsewhere": _lazy("an external agent writes the replies"),
        "verdict.forbidden": _lazy("the surface does not allow a reply here"),
        "verdict.hours": _lazy("outside the active hours of the agent"),
        "verdict.in_run": _lazy("the reply to another comment by the same author covers it"),
        "verdict.mode_off": _lazy("the mode is off"),
        "verdict.no_thread": _lazy("its thread is unknown"),
        "verdict.our_agent": _lazy(
            "it was written by another agent of this instance; agents do not reply to each other "
            "automatically"
        ),
        "verdict.ours": _lazy("it was written by an account of this instance"),
        "verdict.paused": _lazy("sending is paused"),
        "verdict.presence_ended": _lazy("the account is no longer assigned to the agent"),
        "verdict.ready": _lazy("no rule prevents a reply"),
        "verdict.refused": _lazy("the surface refused the reply permanently"),
        "verdict.rejected": _lazy("an operator rejected the draft"),
        "verdict.shadowed": _lazy("shadow mode: the draft is kept and not sent"),
        "verdict.spam": _lazy("it is marked as spam"),
        "verdict.spent": _lazy("the budget is used up"),
        "verdict.suspect": _lazy("the spam filter is unsure; an operator decides first"),
        "verdict.switched_off": _lazy("automatic replies are off"),
        "verdict.thread_full": _lazy("the limit of replies per thread is reached"),
        "verdict.thread_gone": _lazy("its thread was deleted on the surface"),
        "verdict.too_old": _lazy("it is older than the maximum comment age"),
        "verdict.too_soon": _lazy("the minimum interval since the last reply has not passed"),
        "verdict.tried_out": _lazy("all attempts failed"),
    }
)
