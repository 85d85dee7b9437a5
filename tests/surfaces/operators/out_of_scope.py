"""A whole place that somebody with limits must not notice, and a place they may see.

Everything outside is called Zanzibar, so that a page which shows any of it can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from dialogue.models import (
    Activation,
    ApprovalRule,
    Memory,
    ModelEndpoint,
    Presence,
    Stone,
    ToolCall,
    WakeEvent,
    WakeHook,
)
from dialogue.wake_hooks import payloads
from surfaces.models import Account, AuditEvent, Draft, Message
from tests.dialogue.approvals.desk_calls import make_call, make_unknown
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_notification,
    make_post,
    make_presence,
    make_surface,
)

SECRET = "zanzibar"
# Not ours to change: who is signed in, what was said to whom, who looked.
LOOSE = ("django_session", "surfaces_operator", "django_q", "surfaces_signinattempt")


@dataclass(frozen=True, kw_only=True)
class Place:
    presence: Presence
    account: Account
    post: Message
    comment: Message
    draft: Draft
    failed: Draft
    activation: Activation
    stone: Stone
    brain: ModelEndpoint
    hook: WakeHook
    event: WakeEvent
    call: ToolCall
    unknown: ToolCall
    rule: ApprovalRule
    memory: Memory


def make_place(name: str) -> Place:
    """A surface with an account, an agent, talk, drafts in every state, wakings and stones."""
    surface = make_surface(slug=name, name=name.title())
    account = make_account(surface=surface, name=f"{name}-account", handle=name)
    account.state, account.state_why = "suspended", f"{name} said so"
    account.save(update_fields=["state", "state_why"])
    agent = make_agent(slug=name, name=name.title(), settings={"lays_stones": True})
    presence = make_presence(agent=agent, account=account)
    told = {"account": account, "author": f"{name}-author", "content": f"{name} said this"}
    post = make_post(**told, title=f"{name} title")
    comment = make_message(**told, post=post, spam_status="suspect", spam_score=0.6)
    failed_at = {"reply_status": "failed", "reply_attempts": 10, "reply_why": f"{name} is shut"}
    make_message(**told, post=post, **failed_at)
    make_notification(presence=presence, message=comment)
    calls = {"presence": presence, "arguments": {"content": f"{name} says"}, "now": NOON}
    call = make_call(message=make_message(**told, post=post), **calls)
    unknown = make_unknown(make_call(message=make_message(**told, post=post), **calls))
    words = {"account": account, "agent": name, "text": f"{name} answers", "made_by": name}
    draft = make_draft(**words, target=make_message(**told, post=post))
    make_draft(**words, target=make_message(**told, post=post), stale_why=f"{name} moved on")
    lost = {"state": "unknown", "needs_person": True, "asked_at": NOON}
    make_draft(**words, target=make_message(**told, post=post), **lost)
    failed = make_draft(**words, target=make_message(**told, post=post), state="failed")
    return Place(
        presence=presence,
        account=account,
        post=post,
        comment=comment,
        draft=draft,
        failed=failed,
        call=call,
        unknown=unknown,
        rule=ApprovalRule.objects.create(
            agent=agent, tool=f"{name}_tool", made_by=name, made_at=NOON
        ),
        **_of_agent(presence, name),
    )


def _of_agent(presence: Presence, name: str) -> dict[str, Any]:
    agent = presence.agent
    hook = WakeHook.objects.create(agent=agent, url=f"https://{name}.example/hook")
    event = WakeEvent.objects.create(
        hook=hook, account=presence.account, made_at=NOON, not_before=NOON,
        body=payloads.test_event(agent=name, now=NOON),
    )  # fmt: skip
    activation = Activation.objects.create(
        agent=agent,
        presence=presence,
        purpose="reply",
        why=f"{name} was asked",
        number=1,
        worker="w",
        lease_until=NOON + timedelta(minutes=1),
        started_at=NOON,
    )
    stone = Stone.objects.create(
        presence=presence, slot=NOON.date().isoformat(), kind="explore", why=f"{name} chose",
        draw=0.5, share=0.25, chosen_at=NOON, look_at=NOON,
    )  # fmt: skip
    brain = ModelEndpoint.objects.create(agent=agent, model=f"{name}-model")
    for subject in (presence.account, agent, stone):
        AuditEvent.objects.record(
            "account.changed", actor="operator:ada", subject=subject, why=f"{name} was changed"
        )
    memory = Memory.objects.create(
        agent=agent, activation=activation, words=f"{name} remembers", made_at=NOON
    )
    return {
        "memory": memory,
        "hook": hook, "event": event, "activation": activation, "stone": stone, "brain": brain
    }  # fmt: skip


def whole_of_it() -> dict[str, str]:
    """Every table, as one figure each, to see whether anything was changed."""
    with connection.cursor() as cursor:
        tables = [t for t in connection.introspection.table_names(cursor) if not _is_loose(t)]
        marks = {}
        for table in tables:
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), ''))"
                f' FROM "{table}" AS t'
            )
            marks[table] = cursor.fetchone()[0]
    return marks


def _is_loose(table: str) -> bool:
    return table.startswith(LOOSE)
