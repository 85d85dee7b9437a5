"""Drafts, what they answer, and what became of sending them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.reasons import register

register(
    {
        "decision.answers": _lazy("Will reply: %(why)s."),
        "decision.answers_until": _lazy("Will reply: %(why)s, until %(until)s."),
        "decision.held": _lazy("On hold: %(why)s."),
        "decision.held_until": _lazy("On hold: %(why)s, until %(until)s."),
        "decision.passed": _lazy("No reply: %(why)s."),
        "decision.passed_until": _lazy("No reply: %(why)s, until %(until)s."),
        "decision.rest": _lazy("%(why)s."),
        "decision.rest_until": _lazy("%(why)s, until %(until)s."),
        "decision.waits": _lazy("Waiting: %(why)s."),
        "decision.waits_until": _lazy("Waiting: %(why)s, until %(until)s."),
        "draft.absent": _lazy("An operator checked: it is not on the surface."),
        "draft.answered_by_other": _lazy(
            "Another draft already replies to this comment. Open that draft."
        ),
        "draft.approval_undone": _lazy("The approval was undone."),
        "draft.edited": _lazy("The draft was edited. Approve it again."),
        "draft.expired": _lazy("The draft expired before an operator decided."),
        "draft.moved": _lazy("Draft %(pk)s is no longer %(state)s."),
        "draft.no_such_kind": _lazy(
            "A draft is a reply, a comment or a post; %(what)s is none of them."
        ),
        "draft.no_such_step": _lazy("A draft in the state “%(state)s” cannot change to “%(to)s”."),
        "draft.not_sendable": _lazy("A draft in the state “%(state)s” cannot be sent."),
        "draft.reopened": _lazy("Reopened by an operator."),
        "draft.retried": _lazy("Retried by an operator."),
        "draft.retry_undone": _lazy("The retry was undone."),
        "draft.settled_meanwhile": _lazy(
            "A decision about this comment was made while the reply was being written."
        ),
        "draft.tried_out_absent": _lazy(
            "%(most_tries)s attempts. An operator marked it as not delivered."
        ),
        "draft.tried_out_twice": _lazy(
            "All %(most_tries)s attempts for this comment are used. Retry its last draft instead."
        ),
        "draft.unknown": _lazy("Delivery unconfirmed."),
        "draft.waits": _lazy("An operator must approve it first."),
        "draft.withdrawn": _lazy("Withdrawn by an operator."),
        "draft_state.approved": _lazy("approved"),
        "draft_state.composed": _lazy("composed"),
        "draft_state.failed": _lazy("failed"),
        "draft_state.sending": _lazy("sending"),
        "draft_state.sent": _lazy("sent"),
        "draft_state.shadowed": _lazy("shadowed"),
        "draft_state.unknown": _lazy("unknown"),
        "draft_state.waiting": _lazy("waiting"),
        "draft_state.withdrawn": _lazy("withdrawn"),
        "look.absent_once": _lazy("Not found at the first check; checking once more."),
        "look.absent_twice": _lazy("Not found in two checks. Sent again."),
        "look.cannot_tell": _lazy("Delivery unconfirmed: %(why)s."),
        "look.failed": _lazy("Delivery check failed: %(found)s."),
        "look.found": _lazy("Found on the surface: it was delivered."),
        "look.found_by_person": _lazy("An operator found it on the surface."),
        "look.no_target": _lazy("the comment it replies to is unknown"),
        "look.same_words": _lazy("the same text is there, sent by another draft"),
        "message.marked_spam": _lazy("The comment was marked as spam."),
        "part.comment": _lazy("comment"),
        "part.exit": _lazy("exit"),
        "part.item": _lazy("item"),
        "part.note": _lazy("note"),
        "part.outline": _lazy("draft’s outline"),
        "part.pointer": _lazy("pointer"),
        "part.post": _lazy("post"),
        "part.terms": _lazy("terms"),
        "part.text": _lazy("text"),
        "part.title": _lazy("title"),
        "pause.no_reason": _lazy("no reason given"),
        "pause_scope.account": _lazy("account %(subject)s"),
        "pause_scope.agent": _lazy("agent %(subject)s"),
        "pause_scope.all": _lazy("everything"),
        "pause_scope.surface": _lazy("surface %(subject)s"),
        "rejected.off_topic": _lazy("Off topic"),
        "rejected.repeats_us": _lazy("Repeats us"),
        "rejected.tone": _lazy("Tone"),
        "rejected.wrong_fact": _lazy("Wrong fact"),
        "retract.failed": _lazy("It could not be deleted: %(error)s."),
        "retract.not_possible": _lazy("%(label)s cannot delete a message after sending."),
        "sending.account_off": _lazy("the account is switched off"),
        "sending.account_state": _lazy("the account state is “%(get_state_display)s”"),
        "sending.answered_meanwhile": _lazy(
            "Another reply to this comment was sent first. This reply is not sent."
        ),
        "sending.approval_stale": _lazy(
            "The draft or the thread changed after approval. Approve it again."
        ),
        "sending.held": _lazy("Not sent yet: %(obstacle)s."),
        "sending.no_target": _lazy("the draft has no comment to reply to"),
        "sending.paused": _lazy("%(pauses)s is paused"),
        "sending.program_failed": _lazy(
            "Internal error while sending (%(name)s). See the log for details."
        ),
        "sending.retracted": _lazy("Deleted after sending."),
        "sending.sender_died": _lazy("The sender process stopped while sending."),
        "sending.shadowed": _lazy("Not sent (shadow mode)."),
        "sending.target_deleted": _lazy("The message it replies to was deleted on the surface."),
        "sending.target_spam": _lazy("The message it replies to was marked as spam."),
        "sending.tried_out": _lazy("%(most_tries)s attempts failed. Last error: %(why)s."),
        "sending.turn_passed": _lazy(
            "it was not reached in time; it will be sent in the next round"
        ),
        "settle.no_id": _lazy("Choose the message you found on the surface, or paste its id."),
        "settle.not_unknown": _lazy(
            "The state of this draft is “%(state)s”. There is no outcome to confirm."
        ),
        "settle.other_message": _lazy(
            "That id belongs to another message. Choose the message with this text."
        ),
        "stale.answered": _lazy("The %(what)s was answered elsewhere."),
        "stale.deleted": _lazy("The %(what)s was deleted on the surface."),
        "stale.edited": _lazy("The %(what)s was edited on the surface."),
        "stale.spam": _lazy("The %(what)s was marked as spam."),
        "stale.wrote_again": _lazy("@%(author)s wrote again in this thread."),
        "target.account_off": _lazy("The mode of %(name)s is “off”. Choose another mode first."),
        "target.answered": _lazy("This comment already has a reply."),
        "target.deleted": _lazy("The message was deleted on the surface. It cannot be replied to."),
        "target.not_chosen": _lazy("Choose a message of this account to reply to."),
        "target.spam": _lazy("This message is marked as spam. Unmark it before you reply."),
        "target.too_deep": _lazy(
            "This comment is nested too deep for a reply. Reply to a comment above it."
        ),
        "target.wrong_kind": _lazy("Reply to a comment, or comment on a post."),
        "text.control_characters": _lazy(
            "The %(name)s contains control characters (%(value)s). Remove them."
        ),
        "text.empty": _lazy("The text is empty. Enter a text."),
        "text.empty_part": _lazy("the %(what)s is empty"),
        "text.no_note": _lazy("Enter a note that says what to change."),
        "text.no_title": _lazy("A post needs a title. Enter one."),
        "text.note_too_long": _lazy(
            "The note has %(note)s characters. Enter at most %(longest_note)s."
        ),
        "text.part_too_long": _lazy("the %(what)s is longer than %(most)s characters"),
        "text.repeated": _lazy("This account already sent the same text. Reword it."),
        "text.secret": _lazy(
            "The text contains something that looks like a key or a token. Remove it."
        ),
        "text.surrogate": _lazy(
            "The %(name)s contains an invalid character (a lone surrogate). Enter that character "
            "again."
        ),
        "text.title_too_long": _lazy(
            "The title has %(length)s characters. %(label)s allows %(title_limit)s."
        ),
        "text.too_long": _lazy("The text has %(length)s characters. %(label)s allows %(most)s."),
        "verification.failed": _lazy("The verification failed: %(why)s."),
        "verification.failed_in_a_row": _lazy(
            "%(failures)s verifications failed in a row. The service suspends accounts for "
            "repeated failures."
        ),
        "verification.unsure": _lazy("The outcome of the verification is unknown: %(error)s."),
    }
)
