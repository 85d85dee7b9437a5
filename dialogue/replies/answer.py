"""Answer a notification: a reply to a comment, or a comment on a post that names us.

thread read again where its last reading is old ─> comment changed: decided anew
text ─> draft, item and notification in one transaction
no text ─> a failed attempt; the next waits longer, and after the last the comment failed
stopped, out of budget, comment changed ─> left for later
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from dialogue import errors
from dialogue.activations import items, priorities
from dialogue.activations import services as activation_services
from dialogue.activations.drafting import DraftWords, put_down
from dialogue.activations.models import Conversation, ItemState
from dialogue.activations.suspended import digest
from dialogue.inbox.models import NotificationOutcome
from dialogue.models import Notification
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict, Situation, decide
from dialogue.replies.item_work import NO_WAIT, ItemWork
from dialogue.replies.situation import SituationBatch, limits_of
from dialogue.replies.verdicts import keep, with_facts
from dialogue.voice import briefs
from dialogue.voice.base import Brief, NothingToSay, Reply, SuspendedConversation
from dialogue.voice.output_checks import OutputContext
from surfaces.accounts.services import stop_account
from surfaces.drafts.attempts import retry_delay
from surfaces.drafts.models import DraftKind
from surfaces.errors import SurfaceError, TryLater
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, MessageQuerySet, SpamStatus
from surfaces.models import AuditEvent, Draft, Message
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.watcher import reread


class NotificationWork(ItemWork):
    text = ""  # of the comment, as the voice saw it

    @property
    def notification(self) -> Notification:
        if self.item.notification is None:
            raise ValueError(f"{self.item} is about no notification")
        return self.item.notification

    @property
    def rows(self) -> MessageQuerySet:
        return Message.objects.filter(pk=self.notification.message_id or 0)

    # ── taking up ──────────────────────────────────────────────────────────

    def take_up(self) -> bool:
        """Decide again, with everything counted anew; True if it is answered now."""
        now = self.clock()
        with transaction.atomic(durable=True):
            priorities.hold([self.activation.agent_id])
            activation_services.renew(self.activation, now=now)
            found = Notification.objects.filter(pk=self.item.notification_id or 0)
            row = with_facts(found).first()
            if row is None or row.message_id is None:
                self.end(ItemState.DECIDED, "activation.lost_notification", now=now)
                return False
            self.item.notification = row
            if row.read_at:
                self.end(ItemState.DECIDED, row.why or Reason.ANSWERED.value, now=now)
                return False
            return self._decide(row, now=now)

    def _decide(self, row: Notification, *, now: datetime) -> bool:
        goes_on = self.item.state == ItemState.WAITING
        if goes_on and self._was_edited(row):
            self.counts.given_back += 1
            self.end(ItemState.RELEASED, "activation.comment_edited", now=now)
            row.note(look_at=now, why="activation.comment_edited")
            return False
        world = SituationBatch.of([row], now=now)
        turn = replace(world.turn(row), is_awake=False)
        if goes_on:
            turn = _begun(turn)
        verdict = decide(turn, limits_of(row.agent), now=now)
        if verdict.answer != ReplyAction.REPLY:
            self.counts.add(verdict)
            if goes_on and verdict.answer != ReplyAction.PASS:
                self._wait_on(verdict)
                return False
            keep(row, verdict, world.drafts.get(row.comment.pk, []), now)
            self.end(ItemState.DECIDED, verdict.reason, now=now)
            return False
        most = row.agent.settings.tries
        if not goes_on and not reply_state.start_attempt(self.rows.filter(OPEN), most=most):
            self.end(ItemState.DECIDED, "activation.settled_meanwhile", now=now)
            return False
        items.begin(self.activation, self.item, now=now)
        row.note(verdict=verdict.why.code, why=verdict.reason, considered_at=now)
        row.comment.reply_attempts += not goes_on
        return True

    def _was_edited(self, row: Notification) -> bool:
        kept = Conversation.objects.filter(item=self.item).first()
        return kept is None or kept.read_digest != digest(row.comment.content)

    def _wait_on(self, verdict: ReplyVerdict) -> None:
        """It stays as it is, and says why; the activation is looked at again soon."""
        rows = self.activation.items.filter(pk=self.item.pk)
        rows.update(why=verdict.reason)

    # ── writing ────────────────────────────────────────────────────────────

    def brief(self) -> tuple[Brief, OutputContext] | None:
        if not self._is_as_decided():
            return None
        self.text = self.notification.comment.content
        return briefs.reply_brief(self.notification, now=self.clock(), activation=self.activation)

    def read(self) -> str:
        return self.text

    def _is_as_decided(self) -> bool:
        """Read the thread again, outside any transaction. False: the comment is released.

        A comment that was deleted or edited is decided anew. Where the service does not answer,
        the reply waits: it could not be sent either. No attempt is counted, since no voice was
        asked; a conversation that goes on does so.
        """
        comment = self.notification.comment
        decided_on = _facts_of(comment)
        goes_on = Conversation.objects.filter(item=self.item).exists()
        try:
            reread.read_again(comment, clock=self.clock)
        except TryLater as error:
            if goes_on:
                return True
            why = reason("reply.thread_unread", error=error.reason)
            self._release(why, until=self.clock() + (error.wait or comment.account.interval))
            return False
        except SurfaceError as error:
            stop_account(comment.account, error, now=self.clock())
            self.counts.waits += 1
            self.leave(error.reason, is_untried=not goes_on)
            self.counts.given_back -= 1
            return False
        if _facts_of(Message.objects.select_related("post").get(pk=comment.pk)) == decided_on:
            return True
        self.leave(as_reason("reply.comment_changed"), is_untried=not goes_on)
        return False

    @transaction.atomic
    def _release(self, why: StoredReason, *, until: datetime) -> None:
        now = self.clock()
        priorities.hold([self.activation.agent_id])
        self.counts.waits += 1
        self.end(ItemState.RELEASED, why, now=now)
        reply_state.uncount_attempt(self.rows)
        waits = ReplyVerdict(ReplyAction.WAIT, Reason.BETWEEN_TRIES, why, until)
        self._note(waits, look_at=until, now=now)
        reply_state.note_reason(self.rows, waits.reason)

    def put_down(self, reply: Reply, voice: str, *, now: datetime) -> Draft:
        row = self.notification
        comment = Message.objects.select_related("post").get(pk=row.comment.pk)
        gone = comment.post.deleted_at is not None
        words = DraftWords(
            what=DraftKind.COMMENT if comment.is_post else DraftKind.REPLY, target=comment,
            text=reply.text, parts=(reply.terms, reply.pointer, reply.exit), origin=voice,
            written_for=row.cause if comment.is_post else "", is_begun=True,
        )  # fmt: skip
        also = (
            (comment.spam_status == SpamStatus.SUSPECT, "activation.suspect"),
            (gone, "activation.thread_deleted"),
            (comment.content != self.text, "activation.comment_edited"),
        )
        draft = put_down(self.activation, words, now=now, also=also)
        waits = ReplyVerdict(ReplyAction.WAIT, Reason.DRAFTED)
        facts = {"verdict": waits.why.code, "why": waits.reason, "not_before": None}
        row.note(draft=draft, look_at=None, **facts)
        return draft

    def suspend(self, ending: SuspendedConversation, *, now: datetime) -> None:
        super().suspend(ending, now=now)
        self._note(ReplyVerdict(ReplyAction.WAIT, Reason.TOOL_WAITS), look_at=None, now=now)

    def end_silent(self, ending: NothingToSay, *, now: datetime) -> None:
        raise errors.VoiceError("activation.nothing_for_reply")

    # ── without a text ─────────────────────────────────────────────────────

    @transaction.atomic
    def fail(self, why: StoredReason, *, wait: timedelta | None = None) -> None:
        """Record a failed attempt; schedule the next, or fail the comment."""
        priorities.hold([self.activation.agent_id])
        super().fail(why)
        now, row, agent = self.clock(), self.notification, self.activation.agent
        message, by = self.rows.get(), agent.ledger_name
        tries = message.reply_attempts
        AuditEvent.objects.record(
            "message.try_failed", actor=by, subject=message, why=why, attempt=tries,
            activation=self.activation.pk,
        )  # fmt: skip
        if tries >= agent.settings.tries:
            said = reason("reply.tried_out_last", reply_attempts=tries, why=why)
            reply_state.mark_failed(self.rows.filter(OPEN), said)
            AuditEvent.objects.record("message.gave_up", actor=by, subject=message, why=said)
            row.note(
                verdict=Reason.TRIED_OUT.code, why=said, read_at=now,
                outcome=NotificationOutcome.PASSED, look_at=None, considered_at=now,
            )  # fmt: skip
            return
        pause = retry_delay(tries, row.presence.account.interval)
        until = now + max(pause, wait or NO_WAIT)
        said = reason("reply.try_failed", reply_attempts=tries, why=why)
        reply_state.note_reason(self.rows, said)
        row.note(
            verdict=Reason.BETWEEN_TRIES.code, why=said, look_at=until, not_before=until,
            considered_at=now,
        )  # fmt: skip

    @transaction.atomic
    def leave(
        self, why: StoredReason, *, wait: timedelta = NO_WAIT, is_untried: bool = False
    ) -> None:
        priorities.hold([self.activation.agent_id])
        super().leave(why)
        if is_untried:
            reply_state.uncount_attempt(self.rows)
        self.notification.note(look_at=self.clock() + wait, why=why)

    @transaction.atomic
    def wait_for_money(self, error: errors.OutOfBudget, *, was_asked: bool) -> None:
        priorities.hold([self.activation.agent_id])
        super().wait_for_money(error, was_asked=was_asked)
        if not was_asked:
            reply_state.uncount_attempt(self.rows)
        why = reason("reply.waits", error=error.reason)
        facts = {"look_at": error.until, "considered_at": self.clock()}
        self.notification.note(verdict=Reason.SPENT.code, why=why, **facts)
        reply_state.note_reason(self.rows, why)

    def _note(self, verdict: ReplyVerdict, *, look_at: datetime | None, now: datetime) -> None:
        facts = {"why": verdict.reason, "look_at": look_at, "considered_at": now}
        self.notification.note(verdict=verdict.why.code, **facts)


def _begun(turn: Situation) -> Situation:
    """The facts for a conversation that goes on: its attempt was counted when it began."""
    attempts = max(turn.attempts - 1, 0)
    return replace(
        turn, attempts=attempts, waits_for_tool=False, not_before=None, last_reply_at=None
    )


def _facts_of(comment: Message) -> tuple[Any, ...]:
    status, gone = comment.spam_status, (comment.deleted_at, comment.post.deleted_at)
    return comment.content, status, [moment is not None for moment in gone]
