"""Every page of the demo, and a Chromium to look at it with."""

from __future__ import annotations

import os
import shutil
from typing import Any, NamedTuple

from config.dev.bootstrap import BROWSERS

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = {1440: 900, 390: 844}
THEMES = ("light", "dark")


def launching() -> dict[str, Any]:
    named = os.environ.get("COLLOQUY_CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    return {"executable_path": found, "args": ARGUMENTS}


def pages() -> dict[str, str]:
    """Name and address of each page of an administrator; of rows, where there are some."""
    return {name: path for group in groups().values() for name, path in group.items()}


def groups() -> dict[str, dict[str, str]]:
    return {"desk": _desk(), "talk": _talk(), "agents": _agents(), "settings": _settings()}


def _desk() -> dict[str, str]:
    from surfaces.models import DeskItem, Draft

    draft = Draft.objects.waiting().earliest("pk")
    found = {"home": "/", "desk": "/desk/", "desk-none": "/desk/?q=zzzqqq"}
    found |= {"desk-filtered": "/desk/?kind=draft&risk=some&order=newest"}
    for item in DeskItem.objects.order_by("kind", "pk").distinct("kind"):
        found[f"desk-{item.kind}"] = f"/desk/{item.kind}/{item.item_id}/"
    decided = Draft.objects.exclude(decided_at=None).first()
    if decided:
        found["desk-decided"] = f"/desk/draft/{decided.pk}/"
    found |= _tool_calls()
    found |= {"drafts": "/drafts/", "drafts-none": "/drafts/?state=lapsed"}
    for state in Draft.objects.order_by("state").values_list("state", flat=True).distinct():
        row = Draft.objects.filter(state=state).earliest("pk")
        found[f"draft-{state}"] = f"/drafts/{row.pk}/"
    return found | {"draft": f"/drafts/{draft.pk}/", "new-post": "/posts/new"}


def _tool_calls() -> dict[str, str]:
    """More of them than the oldest, and the pages of their rules."""
    from dialogue.models import Agent, ToolCall

    found = {}
    for name, some in (("denied", {"state": "denied"}), ("risky", {"tool": "launch"})):
        if call := ToolCall.objects.filter(**some).first():
            found[f"desk-tool-{name}"] = f"/desk/tool_call/{call.pk}/"
    agents = Agent.objects.exclude(approval_rules=None).union(Agent.objects.filter(slug="wren"))
    for agent in agents:
        found[f"rules-{agent.slug}"] = f"/agents/{agent.slug}/rules/"
        found[f"rule-of-{agent.slug}"] = f"/agents/{agent.slug}/rules/new"
    if call := ToolCall.objects.waiting().select_related("agent").order_by("pk").first():
        found["rule-of-call"] = f"/agents/{call.agent.slug}/rules/new?call={call.pk}"
    return found


def _talk() -> dict[str, str]:
    from surfaces.models import Draft, Message

    draft = Draft.objects.waiting().select_related("target").earliest("pk")
    newest = Draft.objects.waiting().select_related("target").latest("pk")
    threads = Message.objects.posts().order_by("pk").values_list("pk", flat=True)
    return {
        "messages": "/messages/",
        "suspects": "/messages/?spam_status=suspect",
        "search": "/messages/?q=tide",
        "nothing-found": "/messages/?q=zzzqqq",
        "threads": "/threads/",
        "threads-none": "/threads/?q=zzzqqq",
        "thread": f"/threads/{threads[0]}/",
        "thread-with-draft": f"/threads/{newest.target.post_id}/",
        "thread-of-others": f"/threads/{threads[1]}/",
        "one-message": f"/threads/{draft.target.post_id}/?message={draft.target_id}",
        "spam-filter": "/spam-filter/",
        "spam-filter-tried": "/spam-filter/?suspect=0.25&spam=0.75",
        "spam-words": "/spam-filter/words/",
        "ledger": "/ledger/",
        "ledger-none": "/ledger/?q=zzzqqq",
        "notices": "/notices/",
        "more": "/more",
    }


def _settings() -> dict[str, str]:
    from surfaces.models import Account, NoticeRule, Operator

    account = Account.objects.select_related("surface").get(handle="gabriel")
    found = {
        "surfaces": "/surfaces/",
        "surface": f"/surfaces/{account.surface.slug}/",
        "surface-settings": f"/surfaces/{account.surface.slug}/settings",
        "account": f"/accounts/{account.pk}/",
        "connect": "/surfaces/connect",
        "settings": "/settings/",
        "house": "/settings/house/",
        "components": "/settings/components/",
        "you": "/me",
        "two-factor": "/me/two-factor",
        "two-factor-app": "/me/two-factor/app",
        "passkey-new": "/me/passkeys/new",
        "sessions": "/me/sessions",
        "password": "/password",
        "operators": "/settings/operators/",
        "operator-new": "/settings/operators/new",
        "keys": "/settings/keys/",
        "key-new": "/settings/keys/new",
        "notice-rules": "/settings/notices/",
        "notice-rule-add": "/settings/notices/add",
    }
    for refused in Account.objects.filter(state="auth_failed"):
        found["account-refused"] = f"/accounts/{refused.pk}/"
    for rule in NoticeRule.objects.filter(operator__username="mira").order_by("pk"):
        found[f"notice-rule-{rule.channel}"] = f"/settings/notices/{rule.pk}/"
    for person in Operator.objects.filter(username__in=["mira", "lena", "otto"]):
        found[f"operator-{person.username}"] = f"/settings/operators/{person.pk}/"
    return found


def _agents() -> dict[str, str]:
    """The pages of the floor above; those of one agent where there is one."""
    from dialogue.models import Activation, Agent, Presence, Stone

    found = {"agents": "/agents/", "new-agent": "/agents/new", "stones": "/stones/"}
    found["house-budget"] = "/agents/budget"
    if presence := Presence.objects.live().first():
        found["presence-settings"] = f"/presences/{presence.pk}/change"
    found |= {"wakings": "/activations/", "no-waking": "/activations/?agent=x"}
    found["wakings-waiting"] = "/activations/?state=waiting"
    if stone := Stone.objects.first():
        found["stone"] = f"/stones/{stone.pk}/"
    for state in ("done", "failed", "running", "waiting"):
        if waking := Activation.objects.filter(state=state).first():
            found[f"waking-{state}"] = f"/activations/{waking.pk}/"
    # One at work, one that begins, one that lives elsewhere; where there are no such, all.
    told = Agent.objects.filter(slug__in=["gabriel", "lian", "wren"])
    for agent in (told if told.count() > 1 else Agent.objects.all()).order_by("slug"):
        at, name = f"/agents/{agent.slug}/", f"agent-{agent.slug}"
        found |= {name: at, f"{name}-inbox": f"{at}inbox/", f"{name}-wake": f"{at}wake/"}
        found[f"{name}-reports"] = f"{at}reports/"
        found |= {f"{name}-tools": f"{at}tools/", f"{name}-memory": f"{at}memory/"}
        if agent.slug != "lian":
            found |= {f"{name}-settings": f"{at}settings/", f"{name}-voice": f"{at}voice/"}
            found[f"{name}-join"] = f"{at}presences/add"
    return found


class Visit(NamedTuple):
    """A page that an administrator does not see, and who does: "" is nobody."""

    name: str
    path: str
    who: str = ""
    status: int = 200


def visits() -> list[Visit]:
    """The doors, what is in the way, and how it looks for others than administrators."""
    from surfaces.models import DeskItem, Message

    item = DeskItem.objects.filter(kind="draft").earliest("pk")
    thread = Message.objects.posts().earliest("pk")
    return [
        Visit("sign-in", "/sign-in"),
        Visit("sign-in-code", "/sign-in/code", who="half"),
        Visit("sign-in-code-late", "/sign-in/code", status=422),
        Visit("two-factor-on", "/me/two-factor", who="jonas"),
        Visit("viewer-home", "/", who="vera"),
        Visit("viewer-item", f"/desk/draft/{item.item_id}/", who="vera"),
        Visit("viewer-thread", f"/threads/{thread.pk}/", who="vera"),
        Visit("viewer-settings", "/settings/house/", who="vera"),
        Visit("limited-desk", "/desk/", who="nils"),
        Visit("limited-home", "/", who="nils"),
        Visit("not-allowed", "/settings/components/", who="vera", status=403),
        Visit("not-found", "/nothing/here", who="mira", status=404),
    ]


def unanswered() -> Any:
    """A comment of the demo that nobody has begun to answer."""
    from surfaces.models import Draft, Message

    begun = Draft.objects.exclude(target=None).values("target")
    return Message.objects.awaiting_reply().exclude(pk__in=begun).earliest("pk")
