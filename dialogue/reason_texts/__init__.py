"""The sentences behind the codes that the first floor stores: of replies, stones, voices, hooks.

Importing this registers them; `dialogue.models` does, so they are there with the first row.
"""

from django.utils.translation import gettext_lazy as _

from dialogue.reason_texts import approvals, exploration, loop, reports, runs, settings, tools
from surfaces.text.reasons import register

TEXTS = {
    "activation.comment": _("Comment by %(author)s in “%(title)s”: %(why)s."),
    "activation.comment_edited": _("The comment was edited."),
    "activation.decides": _("The comments that are due are being decided on."),
    "activation.meanwhile_answer": _("%(why)s This happened while the reply was being written."),
    "activation.meanwhile_post": _("%(why)s This happened while the post was being written."),
    "activation.mention": _("Mention by %(author)s in “%(title)s”: %(why)s."),
    "activation.moved": _("Replies are now written by an external agent."),
    "activation.no_answers": _("Automatic replies were switched off."),
    "activation.no_posts": _("Automatic replies were switched off."),
    "activation.no_stones": _("“Write posts” was switched off."),
    "activation.other": _("Notification by %(author)s in “%(title)s”: %(why)s."),
    "activation.presence_ended": _("The account was unassigned from the agent."),
    "activation.program_failed": _("Internal error: %(name)s. See the log for details."),
    "activation.reply": _("Reply by %(author)s in “%(title)s”: %(why)s."),
    "activation.running": _("%(agent)s already has a running activation."),
    "activation.suspect": _("The spam filter marked the comment as suspect."),
    "activation.thread_deleted": _("The thread was deleted on the surface."),
    "activation.try_lost": _("The last attempt ended because its worker process died."),
    "activation.worker_died": _(
        "The worker process died. The notification will be processed again."
    ),
    "activation.wrote_draft": _("Wrote draft %(pk)s."),
    "agent.left_demo": _(
        "It was made by the demo and is connected to an account outside it. It is kept as an agent"
        " of its own; persona, topic seeds and automatic posts of the demo were removed."
    ),
    "agent.imported_from": _("Imported from %(file)s."),
    "budget.money_short_day": _(
        "The money budget for today is too low: %(used)s of %(allowed)s is spent or reserved, and "
        "one request may cost %(wanted)s."
    ),
    "budget.money_short_month": _(
        "The money budget for this month is too low: %(used)s of %(allowed)s is spent or reserved, "
        "and one request may cost %(wanted)s."
    ),
    "budget.money_short_shared": _(
        "The shared money budget for %(period)s is too low: %(used)s of %(allowed)s is spent or "
        "reserved, and one request may cost %(wanted)s."
    ),
    "budget.money_spent_day": _("The money budget for today is used up: %(used)s of %(allowed)s."),
    "budget.money_spent_month": _(
        "The money budget for this month is used up: %(used)s of %(allowed)s."
    ),
    "budget.money_spent_shared": _(
        "The shared money budget for %(period)s is used up: %(used)s of %(allowed)s."
    ),
    "budget.of_agent": _("%(name)s: %(why)s"),
    "budget.period_day": _("today"),
    "budget.period_month": _("this month"),
    "budget.tokens_short_day": _(
        "The token limit for today is too low: %(used)s of %(allowed)s are used or reserved, and "
        "one request may use %(wanted)s."
    ),
    "budget.tokens_short_month": _(
        "The token limit for this month is too low: %(used)s of %(allowed)s are used or reserved, "
        "and one request may use %(wanted)s."
    ),
    "budget.tokens_short_shared": _(
        "The shared token limit for %(period)s is too low: %(used)s of %(allowed)s are used or "
        "reserved, and one request may use %(wanted)s."
    ),
    "budget.tokens_spent_day": _("The token limit for today is used up: %(used)s of %(allowed)s."),
    "budget.tokens_spent_month": _(
        "The token limit for this month is used up: %(used)s of %(allowed)s."
    ),
    "budget.tokens_spent_shared": _(
        "The shared token limit for %(period)s is used up: %(used)s of %(allowed)s."
    ),
    "decision.due_again": _("What it waited for has changed. It is checked again now."),
    "sending.demo_only": _("An agent of the demo can send through accounts of the demo only."),
    "reply.account_off": _("the account is switched off"),
    "reply.account_sign_in": _("the account cannot sign in: %(state_why)s"),
    "reply.account_suspended": _("the account is suspended: %(state_why)s"),
    "reply.comment_changed": _("The comment was deleted or edited before the reply was written."),
    "reply.day_full_of": _("%(replies_today)s of %(per_day)s replies allowed per day are used"),
    "reply.in_run_of": _("the reply to a newer comment by %(author)s in this thread covers it"),
    "reply.thread_unread": _("the thread could not be read again before the reply: %(error)s"),
    "reply.paused": _("%(what)s is paused by %(by)s: %(why)s"),
    "reply.paused_by": _("%(what)s is paused by %(by)s"),
    "reply.rejected": _("%(by)s: %(why)s"),
    "reply.thread_full_of": _(
        "%(replies_in_thread)s of %(per_thread)s replies allowed per thread are used"
    ),
    "reply.too_deep": _("it is at depth %(deepest)s, where %(label)s allows no replies"),
    "reply.tried_out_last": _("Failed after %(reply_attempts)s attempts. Last error: %(why)s"),
    "reply.try_failed": _("Attempt %(reply_attempts)s failed: %(why)s"),
    "reply.waits": _("Waiting: %(error)s"),
    "stone.draft_state": _("The state of its draft is “%(state)s”."),
    "stone.exploit": _(
        "Exploit: the random number %(draw)s is not below the exploration setting %(share)s"
    ),
    "stone.exploit_anyway": _(
        "%(lead)s. There are no topic seeds, so a thread is continued instead"
    ),
    "stone.explore": _(
        "Explore: the random number %(draw)s is below the exploration setting %(share)s"
    ),
    "stone.explore_anyway": _("%(lead)s. No thread has comments, so a topic seed is used instead"),
    "stone.kernel": _("%(lead)s. %(turn)s"),
    "stone.kernel_rested": _("The topic seed is the least recently used, since %(day)s."),
    "stone.kernel_unused": _("The topic seed was never used."),
    "stone.nothing": _(
        "%(lead)s. There are no topic seeds, and no post of the last 14 days has a comment. No "
        "stone is written."
    ),
    "stone.parent_deleted": _("The source was deleted."),
    "stone.parent_gone": _("The source was deleted."),
    "stone.presence_ended": _("The account is no longer assigned to the agent."),
    "stone.thread": _("%(lead)s. Chosen post: “%(title)s” (%(share)s %% of the scores)."),
    "stone.too_late": _("Not written within one day."),
    "stone.tried_out": _("Failed after %(most_tries)s attempts. Last error: %(why)s"),
    "stone.worker_died": _("Failed after %(most_tries)s attempts. The last worker process died."),
    "verdict.account_off": _("the account cannot send"),
    "verdict.answered": _("it already has a reply"),
    "verdict.awake": _("the agent has another running activation"),
    "verdict.backed_off": _("the agent is backing off after several failures"),
    "verdict.because": _("%(what)s: %(why)s"),
    "verdict.between_tries": _("the last attempt failed; waiting before the next"),
    "verdict.day_full": _("the limit of replies per day is reached"),
    "verdict.deleted": _("it was deleted on the surface"),
    "verdict.drafted": _("its reply is written but not sent yet"),
    "verdict.elsewhere": _("an external agent writes the replies"),
    "verdict.forbidden": _("the surface does not allow a reply here"),
    "verdict.hours": _("outside the active hours of the agent"),
    "verdict.in_run": _("the reply to another comment by the same author covers it"),
    "verdict.mode_off": _("the mode is off"),
    "verdict.no_thread": _("its thread is unknown"),
    "verdict.our_agent": _(
        "it was written by another agent of this instance; agents do not reply to each other "
        "automatically"
    ),
    "verdict.ours": _("it was written by an account of this instance"),
    "verdict.paused": _("sending is paused"),
    "verdict.presence_ended": _("the account is no longer assigned to the agent"),
    "verdict.ready": _("no rule prevents a reply"),
    "verdict.refused": _("the surface refused the reply permanently"),
    "verdict.rejected": _("an operator rejected the draft"),
    "verdict.shadowed": _("shadow mode: the draft is kept and not sent"),
    "verdict.spam": _("it is marked as spam"),
    "verdict.spent": _("the budget is used up"),
    "verdict.suspect": _("the spam filter is unsure; an operator decides first"),
    "verdict.switched_off": _("automatic replies are off"),
    "verdict.thread_full": _("the limit of replies per thread is reached"),
    "verdict.thread_gone": _("its thread was deleted on the surface"),
    "verdict.too_old": _("it is older than the maximum comment age"),
    "verdict.too_soon": _("minimum interval between replies"),
    "verdict.tried_out": _("all attempts failed"),
    "brain.key_lost": _("The key of %(model)s cannot be decrypted. Enter it again."),
    "check.invisible": _("The text holds characters that nobody can see. Write it without them."),
    "check.mention": _(
        "The text mentions %(who)s: nobody of this thread. Leave the @ or the name out."
    ),
    "check.no_pointer": _("The pointer is empty. Point at one concrete behaviour or passage."),
    "check.no_terms": _("The terms are empty. Say which game we are in."),
    "check.prompt_mark": _("The text holds a mark of the prompt. Quote only what people wrote."),
    "check.recites": _(
        "The text recites what you were told. Say it in your own words, or leave it out."
    ),
    "check.repeat": _(
        "The text repeats one of your last texts here. Say something new, in other words."
    ),
    "check.secret": _("The text gives away a secret. Leave it out, in every form."),
    "check.too_long": _(
        "The text has %(length)s characters; %(longest)s are allowed here. Shorten it."
    ),
    "voice.address_scheme": _(
        "The address of %(model)s must begin with http:// or https:// and a host."
    ),
    "voice.asked": _("Requested %(model)s; %(tokens)s tokens and %(money)s are reserved."),
    "voice.bad_address": _("The address of %(model)s is not a valid web address."),
    "voice.bad_status": _("%(model)s answered with status %(status)s. Check its address."),
    "voice.broke": _("The connection to %(model)s was lost."),
    "voice.cannot_ask": _("%(model)s cannot be asked this way%(said)s"),
    "voice.cannot_be_asked": _(
        "%(model)s cannot be asked. Check its name, or give the address of a server that speaks "
        "the protocol of OpenAI."
    ),
    "voice.checks_passed": _("Every check passed."),
    "voice.cut_off": _("The response of %(model)s was cut off: it reached max tokens."),
    "voice.declined": _("%(model)s declined to write this%(said)s"),
    "voice.faulty_twice": _("The text failed the checks twice: %(faults)s"),
    "voice.key_refused": _("%(model)s rejected the API key (status %(status)s)%(said)s"),
    "voice.key_sign": _("The key of %(model)s contains an invalid character. Enter it again."),
    "voice.limited": _("%(model)s reached its rate limit."),
    "voice.limited_for": _("%(model)s reached its rate limit and asks to wait %(wait)s."),
    "voice.no_credit": _(
        "The quota or credit of %(model)s is used up. Add credit at the provider."
    ),
    "voice.no_key": _("No key is set for %(model)s."),
    "voice.no_library": _("The library for %(provider)s is not installed."),
    "voice.no_model": _("No model is set. Add one, or use the scripted voice."),
    "voice.no_model_name": _("%(model)s is not a model name. Write provider:name."),
    "voice.no_model_there": _("There is no %(model)s at that address%(said)s"),
    "voice.nonsense": _("The response of %(model)s is not valid."),
    "voice.nonsense_because": _("The response of %(model)s is not valid (%(name)s)."),
    "voice.not_reached": _("%(model)s could not be reached."),
    "voice.not_taken": _("%(model)s did not take the request%(said)s"),
    "voice.out_of_order": _("%(model)s is unavailable."),
    "voice.out_of_order_status": _("%(model)s is unavailable (status %(status)s)."),
    "voice.packed": _("its answer came packed, although we asked for it plain"),
    "voice.rejected": _("%(model)s rejected the request%(said)s"),
    "voice.stopped": _("The process was stopped before the text could be rewritten."),
    "voice.surrogate": _("The response of %(model)s contains an invalid character."),
    "voice.thread_too_long": _("The thread is too long for %(model)s."),
    "voice.told_to_stop": _("The process was stopped while waiting for %(model)s."),
    "voice.too_large": _("its answer is larger than 4 MB"),
    "voice.too_long": _("The response of %(model)s is longer than requested."),
    "voice.too_slow": _("Timeout: %(model)s took longer than %(timeout)s s."),
    "voice.unreadable": _("The response of %(model)s cannot be read: %(cause)s."),
    "voice.wrong_form": _("The response of %(model)s does not have the requested format."),
    "wake.program_failed": _("Internal error during the request (%(kind)s). See the log."),
    "wake.secret_lost": _("The secret cannot be decrypted. Enter a new one."),
}
PARTS = (approvals, exploration, loop, reports, runs, settings, tools)
for texts in (TEXTS, *(part.TEXTS for part in PARTS)):
    register(texts)
