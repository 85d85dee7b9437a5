"""Every page of the demo, and a Chromium to look at it with."""

from __future__ import annotations

import os
import shutil
from typing import Any

from config.bootstrap import BROWSERS

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = {1440: 900, 390: 844}
THEMES = ("light", "dark")


def launching() -> dict[str, Any]:
    named = os.environ.get("COLLOQUY_CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    return {"executable_path": found, "args": ARGUMENTS}


def pages() -> dict[str, str]:
    """Name and address of each page, with the demo's rows where a page needs one."""
    from surfaces.models import Account, Draft, Message

    draft = Draft.objects.waiting().earliest("pk")
    newest = Draft.objects.waiting().select_related("target").latest("pk")
    account = Account.objects.select_related("surface").get(handle="gabriel")
    threads = Message.objects.posts().order_by("pk").values_list("pk", flat=True)
    return {
        "home": "/",
        "messages": "/messages/",
        "suspects": "/messages/?spam_status=suspect",
        "search": "/messages/?q=tide",
        "nothing-found": "/messages/?q=zzzqqq",
        "threads": "/threads/",
        "thread": f"/threads/{threads[0]}/",
        "thread-with-draft": f"/threads/{newest.target.post_id}/",
        "thread-of-others": f"/threads/{threads[1]}/",
        "one-message": f"/threads/{threads[0]}/?message={draft.target_id}",
        "drafts": "/drafts/",
        "drafts-none": "/drafts/?state=failed",
        "draft": f"/drafts/{draft.pk}/",
        "new-post": "/posts/new",
        "spam-filter": "/spam-filter/",
        "surfaces": "/surfaces/",
        "surface": f"/surfaces/{account.surface.slug}/",
        "account": f"/accounts/{account.pk}/",
        "connect": "/surfaces/connect",
        "ledger": "/ledger/",
        **_of_agents(),
        "more": "/more",
        "you": "/me",
        "password": "/password",
    }


def _of_agents() -> dict[str, str]:
    """The pages of the floor above; those of one agent where there is one."""
    from dialogue.models import Activation, Agent, Stone

    found = {"agents": "/agents/", "new-agent": "/agents/new", "stones": "/stones/"}
    found |= {"wakings": "/activations/", "no-waking": "/activations/?agent=x"}
    if stone := Stone.objects.first():
        found["stone"] = f"/stones/{stone.pk}/"
    if waking := Activation.objects.filter(state="done").first():
        found["waking"] = f"/activations/{waking.pk}/"
    for agent in Agent.objects.order_by("slug"):
        at, name = f"/agents/{agent.slug}/", f"agent-{agent.slug}"
        found |= {name: at, f"{name}-inbox": f"{at}inbox/", f"{name}-voice": f"{at}voice/"}
        found |= {f"{name}-settings": f"{at}settings/", f"{name}-join": f"{at}presences/add"}
        found[f"{name}-wake"] = f"{at}wake/"
    return found


def unanswered() -> Any:
    """A comment of the demo that nobody has begun to answer."""
    from surfaces.models import Draft, Message

    begun = Draft.objects.exclude(target=None).values("target")
    return Message.objects.awaiting_reply().exclude(pk__in=begun).earliest("pk")
