"""Drafts, what they answer, and what became of sending them."""

from django.utils.translation import gettext_lazy as _

from surfaces.text.reasons import register

TEXTS = {
    "decision.answers": _("Will reply: %(why)s."),
    "decision.answers_until": _("Will reply until %(until)s: %(why)s."),
    "decision.held": _("On hold: %(why)s."),
    "decision.held_until": _("On hold until %(until)s: %(why)s."),
    "decision.passed": _("No reply: %(why)s."),
    "decision.passed_until": _("No reply until %(until)s: %(why)s."),
    "decision.rest": _("%(why)s."),
    "decision.rest_until": _("%(why)s, until %(until)s."),
    "decision.waits": _("Waiting: %(why)s."),
    "decision.waits_until": _("Waiting until %(until)s: %(why)s."),
    "draft.absent": _("An operator checked: it is not on the surface."),
    "draft.absent_waits": _(
        "An operator checked: it is not on the surface. The service may store a request %(delay)s "
        "late, so it is checked once more and sent again at %(at)s."
    ),
    "draft.answered_by_other": _("Another draft already replies to this comment. Open that draft."),
    "draft.approval_undone": _("The approval was undone."),
    "draft.edited": _("The draft was edited. It waits for approval."),
    "draft.expired": _("The draft expired before an operator decided."),
    "draft.moved": _("Draft %(pk)s is no longer %(state)s."),
    "draft.no_such_kind": _("A draft is a reply, a comment or a post; %(what)s is none of them."),
    "draft.no_such_step": _("A draft in the state “%(state)s” cannot change to “%(to)s”."),
    "draft.not_sendable": _("A draft in the state “%(state)s” cannot be sent."),
    "draft.reopened": _("Reopened by an operator."),
    "draft.retried": _("Retried by an operator."),
    "draft.retried_waits": _(
        "Retried by an operator. The service may store an earlier request %(delay)s late, so it is "
        "checked once more and sent again at %(at)s."
    ),
    "draft.retry_undone": _("The retry was undone."),
    "draft.settled_meanwhile": _(
        "A decision about this comment was made while the reply was being written."
    ),
    "draft.tried_out_absent": _("%(most_tries)s attempts. An operator marked it as not delivered."),
    "draft.tried_out_twice": _(
        "All %(most_tries)s attempts for this comment are used. Retry its last draft instead."
    ),
    "draft.unknown": _("Delivery unconfirmed."),
    "draft.waits": _("An operator must approve it first."),
    "draft.withdrawn": _("Withdrawn by an operator."),
    "draft_state.approved": _("approved"),
    "draft_state.composed": _("composed"),
    "draft_state.failed": _("failed"),
    "draft_state.sending": _("sending"),
    "draft_state.sent": _("sent"),
    "draft_state.shadowed": _("shadowed"),
    "draft_state.unknown": _("unconfirmed"),
    "draft_state.waiting": _("waiting"),
    "draft_state.withdrawn": _("withdrawn"),
    "look.absent": _(
        "Not found so far (delivery checks: %(checks)s). The service may store a request %(delay)s "
        "late, so it is not sent again before %(at)s."
    ),
    "look.absent_repeat": _(
        "Not found (delivery checks: %(checks)s). It is checked once more and sent again at %(at)s."
    ),
    "look.absent_once": _("Not found at the first check; checking once more."),
    "look.absent_twice": _("Not found in two checks. It will be sent again."),
    "look.cannot_tell": _("Delivery unconfirmed: %(why)s."),
    "look.could_be_ours": _(
        "the same text is there, and the service does not say by whom or what it replies to"
    ),
    "look.failed": _("Delivery check failed: %(found)s."),
    "look.found": _("Found on the surface: it was delivered."),
    "look.found_by_person": _("An operator found it on the surface."),
    "look.no_target": _("the comment it replies to is unknown"),
    "look.repeat_waits": _(
        "The service may store an earlier request %(delay)s late, so it is checked once more and "
        "sent again at %(at)s."
    ),
    "look.same_words": _("the same text is there, sent by another draft"),
    "message.marked_spam": _("The comment was marked as spam."),
    "part.comment": _("comment"),
    "part.exit": _("exit"),
    "part.item": _("item"),
    "part.note": _("note"),
    "part.outline": _("draft’s outline"),
    "part.pointer": _("pointer"),
    "part.post": _("post"),
    "part.terms": _("terms"),
    "part.text": _("text"),
    "part.title": _("title"),
    "pause.no_reason": _("no reason given"),
    "pause_scope.account": _("account %(subject)s"),
    "pause_scope.agent": _("agent %(subject)s"),
    "pause_scope.all": _("everything"),
    "pause_scope.surface": _("surface %(subject)s"),
    "rejected.off_topic": _("Off topic"),
    "rejected.repeats_us": _("Repeats us"),
    "rejected.tone": _("Tone"),
    "rejected.wrong_fact": _("Wrong fact"),
    "retract.failed": _("It could not be deleted: %(error)s."),
    "retract.not_possible": _("%(label)s cannot delete a message after sending."),
    "sending.account_off": _("the account is switched off"),
    "sending.account_state": _("the account state is “%(get_state_display)s”"),
    "sending.answered_meanwhile": _(
        "Another reply to this comment was sent first. This reply is not sent."
    ),
    "sending.approval_stale": _(
        "The draft or the thread changed after approval. Approve it again."
    ),
    "sending.held": _("Not sent yet: %(obstacle)s."),
    "sending.no_target": _("the draft has no comment to reply to"),
    "sending.other_message": _("the answer names another message that is stored already"),
    "sending.in_shadow": _("the account is in shadow mode"),
    "sending.paused": _("%(pauses)s is paused"),
    "sending.program_failed": _(
        "Internal error while sending (%(name)s). See the log for details."
    ),
    "sending.retracted": _("Deleted after sending."),
    "sending.sender_died": _("The sender process stopped while sending."),
    "sending.shadowed": _("Not sent (shadow mode)."),
    "sending.target_deleted": _("The message it replies to was deleted on the surface."),
    "sending.target_spam": _("The message it replies to was marked as spam."),
    "sending.tried_out": _("%(most_tries)s attempts failed. Last error: %(why)s."),
    "sending.turn_passed": _("it was not reached in time; it will be sent in the next round"),
    "settle.no_id": _("Choose the message you found on the surface, or paste its id."),
    "settle.not_unknown": _(
        "The state of this draft is “%(state)s”. There is no outcome to confirm."
    ),
    "settle.other_message": _(
        "That id belongs to another message. Choose the message with this text."
    ),
    "stale.answered": _("The %(what)s was answered elsewhere."),
    "stale.deleted": _("The %(what)s was deleted on the surface."),
    "stale.edited": _("The %(what)s was edited on the surface."),
    "stale.spam": _("The %(what)s was marked as spam."),
    "stale.wrote_again": _("@%(author)s wrote again in this thread."),
    "target.account_off": _("The mode of %(name)s is “off”. Choose another mode first."),
    "target.answered": _("This comment already has a reply."),
    "target.deleted": _("The message was deleted on the surface. It cannot be replied to."),
    "target.not_chosen": _("Choose a message of this account to reply to."),
    "target.spam": _("This message is marked as spam. Unmark it before you reply."),
    "target.too_deep": _(
        "This comment is nested too deep for a reply. Reply to a comment above it."
    ),
    "target.wrong_kind": _("Reply to a comment, or comment on a post."),
    "text.control_characters": _(
        "The %(name)s contains control characters (%(value)s). Remove them."
    ),
    "text.empty": _("The text is empty. Enter a text."),
    "text.empty_part": _("the %(what)s is empty"),
    "text.no_note": _("Enter a note that says what to change."),
    "text.no_title": _("A post needs a title. Enter one."),
    "text.note_too_long": _("The note has %(note)s characters. Enter at most %(longest_note)s."),
    "text.part_too_long": _("the %(what)s is longer than %(most)s characters"),
    "text.repeated": _("This account already sent the same text. Reword it."),
    "text.secret": _("The text contains something that looks like a key or a token. Remove it."),
    "text.surrogate": _(
        "The %(name)s contains an invalid character (a lone surrogate). Enter that character again."
    ),
    "text.title_too_long": _(
        "The title has %(length)s characters. %(label)s allows %(title_limit)s."
    ),
    "text.too_long": _("The text has %(length)s characters. %(label)s allows %(most)s."),
    "verification.failed": _("The verification failed: %(why)s."),
    "verification.failed_in_a_row": _(
        "%(failures)s verifications failed in a row. The service suspends accounts for "
        "repeated failures."
    ),
    "verification.stopped": _(
        "Delivered but not published: %(why)s. It is published if this ends before %(until)s."
    ),
    "verification.stopped_too_long": _("it was not answered in time, because %(why)s"),
    "verification.unsure": _("The outcome of the verification is unknown: %(error)s."),
}
register(TEXTS)
