"""A house where every page has something on it: for looking at all of them."""

from __future__ import annotations

import io
from datetime import time, timedelta
from decimal import Decimal
from typing import Any

import pyotp
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dialogue.agents import services as agent_services
from dialogue.budgets.models import HOUSE
from dialogue.models import Agent, AgentSettings, ApprovalRule, Presence, Spending, WakeEvent
from dialogue.wake_hooks import services as wake_hook_services
from surfaces import crypto
from surfaces.delivery.sender import deliver_due
from surfaces.desk import saved_views
from surfaces.desk.filters import DeskFilters
from surfaces.drafts import services as draft_services
from surfaces.models import (
    Account,
    Draft,
    Message,
    NoticeDelivery,
    NoticeRule,
    Operator,
    SpamDecision,
    Surface,
    Worker,
)
from surfaces.notices import rounds, rules
from surfaces.operators import api_keys, sign_in, two_factor
from surfaces.operators import services as operator_services
from surfaces.pauses import services as pause_services
from surfaces.settings.instance import current
from surfaces.settings.services import change
from surfaces.spam import feedback
from surfaces.workers.locks import WorkerLock
from tests.browser.mixed_desk import REASONS, comment, lay_out
from tests.browser.processes import put_to_work
from tests.dialogue.approvals.desk_calls import (
    CONTENT,
    by_stranger,
    know_tools,
    make_call,
    make_unknown,
)
from tests.factories import make_operator

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
# Processes, and what they do just now. One fell silent.
WORKERS = [("web", ""), ("watcher", "Reading gabriel@hub"), ("sender", ""), ("replier", "")]


def make_mira() -> Operator:
    return make_operator(
        username="mira",
        role="admin",
        first_name="Mira",
        last_name="Kovač",
        email="mira@example.org",
    )


def furnish(mira: Operator, waiting: int = 20) -> None:
    """The demo with a morning behind it, and `waiting` things of every kind on the desk."""
    call_command("demo", stdout=io.StringIO())
    put_to_work()
    account = Account.objects.get(handle="gabriel")
    _one_is_sent(mira)
    _rules(mira)
    lay_out(account, waiting)
    _tool_calls(account)
    _expires_soon()
    _taught(mira)
    _judged_for_weeks()
    _spent_for_days()
    _another_place()
    _people(mira)
    _settings(mira)
    _an_agent_elsewhere(mira)
    _processes()
    rounds.prepare(timezone.now())


def _one_is_sent(mira: Operator) -> None:
    draft = Draft.objects.waiting().latest("pk")
    draft_services.approve(draft, digest=draft.digest(), by=mira.actor, now=timezone.now())
    sender = WorkerLock()
    deliver_due(sender, clock=timezone.now)


def _tool_calls(account: Account) -> None:
    """Calls of every kind that waits, some decided ones, and the rules of their agent."""
    know_tools()
    now = timezone.now()
    presence = Presence.objects.live().select_related("agent").get(account=account)
    AgentSettings.objects.filter(agent=presence.agent).update(grants=["*:*"])
    stranger = comment(account, 3)
    rests = {"content": [by_stranger(stranger)]}
    given: dict[str, Any] = {"presence": presence, "now": now}
    for number in (7, 8, 9):
        asked = {"content": CONTENT, "reply_to": str(number), "community": "tides"}
        make_call(message=comment(account, number), arguments=asked, sources=rests, **given)
    long = {"content": f"{CONTENT} " * 12 + "\u200b", "community": "tides"}
    make_call(message=comment(account, 10), arguments=long, **given)
    make_call(
        message=comment(account, 11), tool="launch", risk="execute",
        arguments={"where": "reef", "depth": 4, "tags": ["spring", "neap"]}, **given,
    )  # fmt: skip
    make_unknown(make_call(message=comment(account, 12), **given))
    denied = make_call(message=comment(account, 13), arguments={"content": "Buy now"}, **given)
    denied.advance(
        "denied", said="Nobody asked for this.", decided_by="operator:jonas", decided_at=now,
        ended_at=now,
    )  # fmt: skip
    made: dict[str, Any] = {"agent": presence.agent, "made_by": "operator:mira", "made_at": now}
    some = {"content": "*", "reply_to": "", "community": "tides", "title": ""}
    ApprovalRule.objects.create(tool="hub_post", patterns=some, hits=41, last_hit_at=now, **made)
    ApprovalRule.objects.create(
        tool="launch", patterns={"where": "bay"}, asks_when_untrusted=False,
        until=now + timedelta(days=9), **made,
    )  # fmt: skip
    ApprovalRule.objects.create(
        tool="launch", patterns={"where": "*"}, revoked_at=now, revoked_by="operator:jonas", **made
    )


def _expires_soon() -> None:
    first = Draft.objects.waiting().filter(stale_why="").earliest("pk")
    Draft.objects.filter(pk=first.pk).update(expires_at=timezone.now() + timedelta(minutes=9))


def _taught(mira: Operator) -> None:
    """Five verdicts of a person, one against the filter."""
    now = timezone.now()
    for number, message in enumerate(Message.objects.incoming().comments().order_by("-pk")[:5]):
        feedback.mark(message, is_spam=number % 2 == 0, by=mira.actor, now=now)
    feedback.unmark(message, by=mira.actor, now=now)


# What the filter said of 40 comments, and what an operator said then.
SAID = ["spam spam"] * 14 + ["suspect spam"] * 9 + ["suspect clean"] * 4 + [" clean"] * 11
SAID += ["spam clean", " spam"]


def _judged_for_weeks() -> None:
    """Decisions of five weeks, so that precision and recall can be drawn."""
    now, account = timezone.now(), Account.objects.get(handle="iris", surface__kind="hub")
    for number, words in enumerate(SAID):
        said, _, then = words.partition(" ")
        score = {"spam": 0.93, "suspect": 0.5 + number % 4 / 10, "": 0.08}[said]
        message = comment(account, number, spam_status=then, spam_score=score,
                          spam_reasons=REASONS if said else [])  # fmt: skip
        SpamDecision.objects.create(
            message=message, is_spam=then == "spam", tokens=[], filter_status=said,
            filter_score=score, signs=["links", "repeated"] if said else [], by="operator:jonas",
            at=now - timedelta(days=number * 7 % 40 // 8 * 7 + number % 5, hours=1),
        )  # fmt: skip


def _spent_for_days() -> None:
    """What the days before today cost."""
    day = timezone.now().date()
    for number in range(1, 9):
        for owner, share in (("agent:gabriel", 1), (HOUSE, 3)):
            money = Decimal("0.31") * share * (1 + number * 5 % 4)
            Spending.objects.update_or_create(
                owner=owner, period="day", starts=day - timedelta(days=number),
                defaults={"tokens": 30_000 * share, "money": money},
            )  # fmt: skip


def _another_place() -> None:
    """A service that refuses our sign-in."""
    place = Surface.objects.create(
        slug="moltbook", name="Moltbook", kind="moltbook", base_url="http://127.0.0.1:9/api/v1"
    )
    now = timezone.now()
    account = Account(
        surface=place, name="iris@moltbook", handle="iris", next_watch_at=now, state_since=now
    )
    account.sealed_credential = crypto.encrypt("moltbook_test")
    account.save()
    why = "The service does not take our credential (status 401)."
    Account.objects.filter(pk=account.pk).update(state="auth_failed", state_why=why)
    pause_services.pause(
        "account", account.name, why="Until its key is new", by="operator:mira", now=now
    )


def _people(mira: Operator) -> None:
    now, jonas = timezone.now(), Operator.objects.get(username="jonas")
    two_factor.switch_on(jonas, SECRET, pyotp.TOTP(SECRET).at(now), now=now)
    make_operator(username="vera", role="viewer", first_name="Vera", last_name="Lund")
    make_operator(username="nils", role="moderator", first_name="Nils", agents=["nobody"])
    lena = operator_services.add(
        username="lena", name="Lena Brandt", email="lena@example.org", role="moderator",
        surfaces=["moltbook"], by=mira,
    ).operator  # fmt: skip
    operator_services.change(lena, {"role": "viewer"}, by=mira, now=now)
    gone = make_operator(username="otto", role="moderator", first_name="Otto", last_name="Reyes")
    operator_services.deactivate(gone, by=mira)
    month = now + timedelta(days=30)
    api_keys.issue(name="Nightly report", operator=mira, scope="read", expires_at=month,
                   by=mira.actor, now=now)  # fmt: skip
    old = api_keys.issue(name="Trial", agent="gabriel", scope="read", by=mira.actor, now=now).key
    api_keys.revoke(old, by=mira.actor, now=now)


def _settings(mira: Operator) -> None:
    now = timezone.now()
    change(current(), {"undo_seconds": 8, "name": "The hall"}, by="operator:jonas", now=now)
    change(current(), {"drafts_wait_hours": 48}, by=mira.actor, now=now)
    saved_views.save(mira, "Suspects", DeskFilters(kind="suspect"), is_shared=True)
    saved_views.save(mira, "Older than an hour", DeskFilters(age="1h"))


def _rules(mira: Operator) -> None:
    """One rule of each way, made before there is news; the last has delivered and failed."""
    now = timezone.now()
    ordinary: dict[str, Any] = {
        "hears_items": True, "hears_expiring": True, "hears_down": True, "hears_house": True,
        "kinds": [], "surfaces": [], "agents": [], "min_risk": 0, "expires_minutes": 30,
        "down_minutes": 0, "pace": "once", "every_hours": 4, "daily_at": None, "quiet_from": None,
        "quiet_to": None, "urgent_breaks": True, "url": "",
    }  # fmt: skip
    quiet = {"pace": "daily", "daily_at": time(8), "quiet_from": time(22), "quiet_to": time(7)}
    rules.add(mira, {**ordinary, "channel": "page"}, now=now)
    NoticeRule.objects.create(operator=mira, channel="mail", hears_items=True, since=now, **quiet)
    hook = {"channel": "webhook", "url": "https://example.org/colloquy", "min_risk": 2}
    rule = rules.add(mira, {**ordinary, **hook}, now=now).rule
    for state, why in (("told", ""), ("failed", "The address answered with status 500.")):
        NoticeDelivery.objects.create(
            rule=rule, made_at=now, due_at=now, state=state, tries=3, count=2, why=why,
            told_at=now if state == "told" else None,
        )  # fmt: skip


def _an_agent_elsewhere(mira: Operator) -> None:
    """Wren lives on another machine, and is woken there."""
    now = timezone.now()
    wren = agent_services.make_agent("wren", name="Wren", by=mira.actor)
    Agent.objects.filter(pk=wren.pk).update(lives="elsewhere")
    wren.refresh_from_db()
    hook = wake_hook_services.set_hook(
        wren, kind="webhook", url="https://example.org/wake", secret="", is_on=True,
        by=mira.actor, now=now,
    ).hook  # fmt: skip
    event = wake_hook_services.send_test(hook, by=mira.actor, now=now)
    WakeEvent.objects.filter(pk=event.pk).update(not_before=now + timedelta(hours=1))


def _processes() -> None:
    now = timezone.now()
    for number, (kind, doing) in enumerate(WORKERS):
        beat = now - timedelta(minutes=4) if kind == "replier" else now
        Worker.objects.create(
            kind=kind, name=kind, host="desk", pid=4700 + number, beat_at=beat, doing=doing,
            started_at=now - timedelta(hours=5), doing_since=beat if doing else None,
        )  # fmt: skip


def cookie(who: str, url: str) -> Any:
    """The session of an operator, or of one who gave the password and owes the code."""
    client = Client()
    if who == "half":
        session = client.session
        operator = Operator.objects.get(username="jonas")
        sign_in.remember_pending(session, operator, then="/", now=timezone.now())
        session.save()
        return {"name": "sessionid", "value": session.session_key, "url": url}
    client.force_login(Operator.objects.get(username=who))
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}
