"""What changes between a call and its run: for good, or until it passes."""

from __future__ import annotations

from dialogue.models import Agent, Presence
from surfaces.models import Account, Message
from surfaces.pauses import services as pause_services
from tests.dialogue.approvals.factories import MIRA
from tests.factories import NOON, make_message


def elsewhere(world):
    Agent.objects.filter(pk=world.agent.pk).update(lives="elsewhere")


def unassigned(world):
    Presence.objects.filter(pk=world.presence.pk).update(ended_at=NOON)


def switched_off(world):
    world.set(is_autonomous=False)


def grant_taken(world):
    world.set(grants=["web:read"])


def grant_denied_for_it(world):
    world.set(grants=["*:*", "!shell:run:*"])


def policy_denies(world):
    world.set(on_execute="deny")


def comment_edited(world):
    Message.objects.filter(pk=world.comment.pk).update(content="another question")


def comment_deleted(world):
    Message.objects.filter(pk=world.comment.pk).update(deleted_at=NOON)


def thread_deleted(world):
    Message.objects.filter(pk=world.comment.post_id).update(deleted_at=NOON)


def comment_is_spam(world):
    Message.objects.filter(pk=world.comment.pk).update(spam_status="spam")


def comment_answered(world):
    make_message(post=world.comment.post, parent=world.comment, direction="outgoing")


def notification_gone(world):
    world.notification.delete()


LASTING = [
    elsewhere, unassigned, switched_off, grant_taken, grant_denied_for_it, policy_denies,
    comment_edited, comment_deleted, thread_deleted, comment_is_spam, comment_answered,
    notification_gone,
]  # fmt: skip


def paused(world):
    pause_services.pause("agent", world.agent.slug, why="x", by=MIRA, now=NOON)


def spent(world):
    world.set(tokens_per_day=0)


def account_off(world):
    Account.objects.filter(pk=world.account.pk).update(is_on=False)


def sign_in_failed(world):
    Account.objects.filter(pk=world.account.pk).update(state="auth_failed")


PASSING = [paused, spent, account_off, sign_in_failed]
