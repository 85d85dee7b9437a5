"""Rows for tests. Say only what your test is about; the rest is ordinary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from dialogue.agents import presences
from dialogue.models import Agent, AgentSettings, Notification, Presence
from surfaces import crypto
from surfaces.messages.store import take_ids
from surfaces.models import Account, AuditEvent, Draft, Message, Operator, Surface
from surfaces.settings.services import SavedChange

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_number = count(1)


def make_operator(**given: Any) -> Operator:
    ordinary = {"username": f"operator{next(_number)}", "role": "moderator"}
    password = given.pop("password", "a good long password")
    return Operator.objects.create_user(**(ordinary | given), password=password)


def make_surface(**given: Any) -> Surface:
    number = next(_number)
    ordinary = {
        "slug": f"place-{number}",
        "name": f"Place {number}",
        "kind": "moltbook",
        "base_url": f"http://127.0.0.1:9/{number}",
    }
    return Surface.objects.create(**(ordinary | given))


def make_account(**given: Any) -> Account:
    """Our name on a surface, connected and well."""
    token = given.pop("token", "moltbook_test")
    number = next(_number)
    ordinary = {
        "surface": given.get("surface") or make_surface(),
        "name": f"iris@place-{number}",
        "handle": "iris",
        "next_watch_at": NOON,
        "state_since": NOON,
    }
    account = Account(**(ordinary | given))
    account.sealed_credential = crypto.encrypt(token)
    account.save()
    return account


def make_post(**given: Any) -> Message:
    """A post of ours on a surface."""
    pk = take_ids(1)[0]
    ordinary = {
        "account": given.get("account") or make_account(),
        "remote_id": f"post-{pk}",
        "kind": "post",
        "direction": "outgoing",
        "author": "iris",
        "title": f"On tides {pk}",
        "content": "What does the tide table leave out?",
        "created_at": NOON,
        "seen_at": NOON,
    }
    return Message.objects.create(**(ordinary | given), pk=pk, post_id=pk)


def make_message(**given: Any) -> Message:
    """A comment that a stranger wrote to us."""
    number = next(_number)
    post = given.pop("post", None) or make_post(
        **({"account": given["account"]} if "account" in given else {})
    )
    ordinary = {
        "account": post.account,
        "post": post,
        "remote_id": f"comment-{number}",
        "kind": "comment",
        "direction": "incoming",
        "author": "a stranger",
        "content": f"hello {number}",
        "created_at": NOON,
        "seen_at": NOON,
    }
    return Message.objects.create(**(ordinary | given))


def make_draft(**given: Any) -> Draft:
    """A reply of ours that waits for a person."""
    what = given.get("what", "reply")
    target = given.pop("target", None) or (None if what == "post" else make_message())
    account = given.pop("account", None) or (target.account if target else make_account())
    ordinary = {
        "account": account,
        "what": what,
        "target": target,
        "text": "Yes, and what would you leave out?",
        "state": "waiting",
        "made_by": "operator:mira",
        "made_at": NOON,
    }
    return Draft.objects.create(**(ordinary | given))


def make_approved(**given: Any) -> Draft:
    """A draft a person said yes to, due at noon."""
    draft = make_draft(**given)
    draft.advance(
        "approved",
        approved_digest=draft.digest(),
        not_before=given.get("not_before", NOON),
        decided_by="operator:mira",
        decided_at=NOON,
    )
    return draft


# ── the first floor ───────────────────────────────────────────────────────


def make_agent(**given: Any) -> Agent:
    """An agent that answers by itself, with a person looking first."""
    settings = given.pop("settings", {})
    number = next(_number)
    agent = Agent.objects.create(**({"slug": f"iris-{number}", "name": "Iris"} | given))
    AgentSettings.objects.create(agent=agent, **({"is_autonomous": True} | settings))
    return agent


def make_presence(**given: Any) -> Presence:
    """Iris speaks through an account, since this morning."""
    agent = given.pop("agent", None) or make_agent(settings=given.pop("settings", {}))
    account = given.pop("account", None) or make_account()
    ordinary = {"since": NOON - timedelta(hours=6)}
    presence = Presence.objects.create(agent=agent, account=account, **(ordinary | given))
    presences.obey(agent, now=NOON)
    account.refresh_from_db()
    return presence


def make_notification(**given: Any) -> Notification:
    """A comment to look at, now."""
    presence = given.pop("presence", None) or make_presence()
    message = given.pop("message", None) or make_message(account=presence.account)
    ordinary = {"kind": "reply", "made_at": NOON, "look_at": NOON}
    return Notification.objects.create(
        agent=presence.agent, presence=presence, message=message, **(ordinary | given)
    )


def event_of(saved: SavedChange) -> AuditEvent:
    """The audit event of a change of settings."""
    return AuditEvent.objects.get(pk=saved.event_id)
