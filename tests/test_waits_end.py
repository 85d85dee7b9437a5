"""Every fact that can be changed, and what waits for it.

Each setting of each kind of row either stands in a table `ENDS`, or below: nothing waits for it.
For each entry of a table, what waits is due in the transaction that changes the fact.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from dialogue.activations import services as activation_services
from dialogue.agents import presences
from dialogue.agents.settings import services as agent_settings
from dialogue.budgets import services as budget_services
from dialogue.budgets.shared import current
from dialogue.inbox import waits as notification_waits
from dialogue.models import Agent, Notification, Presence, Reservation, SharedBudget, Stone
from dialogue.replies.decision import Reason
from dialogue.stones import waits as stone_waits
from dialogue.wake_hooks import services as hook_services
from dialogue.wake_hooks.models import WakeEvent, WakeHook
from surfaces.accounts import connect
from surfaces.accounts import services as account_services
from surfaces.adapters.types import Item, ItemKind
from surfaces.desk import decisions
from surfaces.desk.models import DeskItem
from surfaces.drafts import services as draft_services
from surfaces.drafts import waits as draft_waits
from surfaces.messages.store import store
from surfaces.models import Account, Draft, Message, Operator, Pause, Surface
from surfaces.notices import rules
from surfaces.notices import waits as notice_waits
from surfaces.notices.models.notice import Notice
from surfaces.notices.models.rule import NoticeDelivery, NoticeRule
from surfaces.pauses import services as pause_services
from surfaces.settings.models import InstanceSettings
from surfaces.settings.services import _specs, change, values_of
from tests.factories import (
    NOON,
    make_agent,
    make_approved,
    make_draft,
    make_message,
    make_notification,
    make_operator,
    make_presence,
)

pytestmark = pytest.mark.django_db
MIRA = "operator:mira"
LATER = NOON + timedelta(hours=9)
TABLES = [notification_waits.ENDS, stone_waits.ENDS, draft_waits.ENDS, notice_waits.ENDS]
NOTHING_WAITS: dict[type, set[str]] = {
    # How it writes, and what it is called: read when it writes.
    Agent: {
        "name", "persona", "longest_reply", "temperature", "timeout_seconds", "topics",
        "communities", "keywords", "follows",
        # A comment that failed stays failed until a person retries it.
        "tries",
        # Passed for good: a reply to a newer comment covers it.
        "answers_runs_once",
        # Asked in each round, and nothing is stored.
        "lays_stones", "explores", "explore_frequency", "stale_minutes", "explores_questions",
        "explores_discussions", "min_confidence",
        # Asked while an activation runs, and at each tool call.
        "notifications_per_run", "max_iterations", "max_tool_calls", "tokens_per_run",
        "money_per_run", "seconds_per_run", "grants", "approval_mode", "on_read", "on_write",
        "on_publish", "on_execute", "on_external", "approval_hours", "has_memory",
        "memory_kilobytes", "memory_items", "memory_strategy",
    },
    Presence: {"explore_share", "stone_community"},
    Account: {"every"},  # its next round comes sooner by itself: tests/surfaces/drafts/test_waits
    Surface: {"name", "dialect"},
    SharedBudget: set(),
    Operator: {"role", "only_surfaces", "surfaces", "only_agents", "agents"},
    InstanceSettings: {
        "name", "language", "suspect_from", "spam_from",
        # Decided for each draft when it was approved, and when it was written.
        "undo_seconds", "drafts_wait_hours",
        # Asked at the next request of each operator.
        "two_factor_admins", "two_factor_moderators", "two_factor_viewers",
    },
}  # fmt: skip


def in_tables(model: type) -> set[str]:
    return {fact for table in TABLES for fact in table.get(model, ())}


@pytest.mark.parametrize("model", list(_specs), ids=lambda model: model.__name__)
def test_of_every_setting_it_is_said_what_waits_for_it(model):
    presence = make_presence()
    rows = {
        Agent: presence.agent, Presence: presence, Account: presence.account,
        Surface: presence.account.surface, SharedBudget: current(),
        InstanceSettings: InstanceSettings(pk=1),
    }  # fmt: skip
    row = rows[model] if model in rows else make_operator()
    names = {"limits" if name.startswith("limit_") else name for name in values_of(row)}
    if model is Surface:
        names.add("limits")
    assert names == (in_tables(model) & names) | NOTHING_WAITS[model]
    assert not in_tables(model) & NOTHING_WAITS[model]


# ── what each fact is changed to, by the service that operators use ──────────

VALUES: dict[str, Any] = {
    "is_autonomous": True, "mode": "auto", "lives": "here", "active_from": time(1),
    "active_to": time(23), "timezone": "Asia/Tokyo", "replies_per_day": 77,
    "replies_per_thread": 33, "spacing_seconds": 3, "oldest_days": 99,
    "money_per_day": Decimal(2), "money_per_month": Decimal(90), "tokens_per_day": 5_000,
    "tokens_per_month": 9_000_000, "voice": "model", "output_tokens": 99, "price_in": Decimal(1),
    "price_out": Decimal(2), "kernels": ["A seed"], "stones_per_day": 7, "is_on": True,
    "longest_delay_seconds": 60, "responds_to_mentions": True, "responds_to_replies": True,
    "responds_to_dms": True, "posts_per_day": 9,
}  # fmt: skip


class Scene:
    """A presence with a comment, and everything that may wait for it."""

    def __init__(self) -> None:
        agent = make_agent(
            active_from=time(8), active_to=time(20), lives="elsewhere",
            settings={
                "is_autonomous": False, "mode": "review", "responds_to_mentions": False,
                "responds_to_replies": False, "responds_to_dms": False,
            },
        )  # fmt: skip
        self.presence = make_presence(agent=agent, mode="review")
        self.agent, self.account = agent, self.presence.account
        self.surface = self.account.surface
        self.post = make_message(account=self.account).post

    def notification(self, why: Reason) -> Notification:
        facts: dict[str, Any] = {}
        if why in notification_waits.PASSED:
            facts = {"read_at": NOON, "outcome": "passed"}
        return make_notification(
            presence=self.presence, message=make_message(post=self.post), verdict=why.code,
            why=why.value, look_at=None if why.code in HELD else LATER, considered_at=NOON, **facts,
        )  # fmt: skip


HELD = {"paused", "switched_off", "mode_off", "account_off", "elsewhere"}


def setting(name: str) -> Callable[[Scene, type], None]:
    def act(scene: Scene, model: type) -> None:
        row: Any = {
            Agent: lambda: Agent.objects.select_related("settings").get(pk=scene.agent.pk),
            Presence: lambda: scene.presence,
            Account: lambda: Account.objects.get(pk=scene.account.pk),
            Surface: lambda: Surface.objects.get(pk=scene.surface.pk),
            SharedBudget: current,
        }[model]()
        if name == "is_on":
            type(row).objects.filter(pk=row.pk).update(is_on=False)
        given = {"limit_comment": [9, 60]} if name == "limits" else {name: VALUES[name]}
        assert change(row, given, by=MIRA, now=NOON)

    return act


def resume(scene: Scene, _model: type) -> None:
    pause_services.resume("account", scene.account.name, by=MIRA, now=NOON)


def clear(scene: Scene, _model: type) -> None:
    Account.objects.filter(pk=scene.account.pk).update(state="down")
    account_services.clear(Account.objects.get(pk=scene.account.pk), by=MIRA, now=NOON)


def recover(scene: Scene, _model: type) -> None:
    account_services.recover(scene.account, now=NOON)


def new_credential(scene: Scene, _model: type) -> None:
    slug, surface = scene.account.name.partition("@")[0], scene.surface
    Account.objects.filter(pk=scene.account.pk).update(name=f"{slug}@{surface.slug}")
    connect.connect(
        "moltbook", agent=slug, base_url=surface.base_url, token="moltbook_x", by=MIRA, now=NOON
    )


def clear_back_off(scene: Scene, _model: type) -> None:
    scene.agent.note(failures=9, backs_off_until=LATER)
    agent_settings.clear_back_off(scene.agent, by=MIRA)


def join(scene: Scene, _model: type) -> None:
    presences.leave(scene.presence, by=MIRA, now=NOON)
    presences.join(scene.agent, scene.account, by=MIRA, now=NOON)


def reject(scene: Scene, _model: type) -> None:
    draft = make_draft(target=make_message(post=scene.post), agent=scene.agent.slug)
    draft_services.withdraw(draft, by=MIRA, now=NOON, why="rejected.tone")


def settle(scene: Scene, _model: type) -> None:
    woken = activation_services.start(
        scene.presence, purpose="stone", why="stone.thread", worker="w", now=NOON
    )
    kept = scene.agent.settings
    held = budget_services.reserve(woken, kept, tokens=100, money=Decimal("0.1"), now=NOON)
    budget_services.settle(held, tokens=1, money=Decimal(0), now=NOON)


def find_again(scene: Scene, _model: type) -> None:
    """The service shows the post that it said was deleted."""
    Message.objects.filter(pk=scene.post.pk).update(deleted_at=NOON)
    post = Message.objects.get(pk=scene.post.pk)
    there = Item(
        remote_id=post.remote_id, kind=ItemKind.POST, post_id=post.remote_id, title=post.title,
        content=post.content, author=post.author, created_at=NOON, is_ours=True,
    )  # fmt: skip
    store(scene.account, [there], now=NOON, judge=lambda *_: {})


ACTS: dict[str, Callable[[Scene, type], None]] = {
    "resumed": resume, "cleared": clear, "state": recover, "credential": new_credential,
    "back_off": clear_back_off, "began": join, "ended": reject, "settled": settle,
    "deleted_at": find_again,
}  # fmt: skip


def change_fact(scene: Scene, model: type, fact: str) -> None:
    """In one transaction, of which the test sees the inside."""
    with transaction.atomic():
        ACTS.get(fact, setting(fact))(scene, model)


def cases(table: dict[type, Any]) -> list[Any]:
    return [
        pytest.param(model, fact, id=f"{model.__name__}.{fact}")
        for model, facts in table.items()
        for fact in sorted(facts)
    ]


@pytest.mark.parametrize(("model", "fact"), cases(notification_waits.ENDS))
def test_a_comment_that_waited_for_a_fact_is_due_when_it_changes(model, fact):
    scene = Scene()
    pause_services.pause("account", scene.account.name, why="x", by=MIRA, now=NOON)
    for why in sorted(notification_waits.ENDS[model][fact], key=lambda why: why.name):
        row = scene.notification(why)
        Notification.objects.exclude(pk=row.pk).delete()
        change_fact(scene, model, fact)
        row.refresh_from_db()
        assert (row.read_at, row.outcome, row.verdict) == (None, "", ""), why
        assert row.look_at is not None, why
        assert row.look_at <= NOON, why
        assert str(row.why) == str(row.comment.reply_why), why
        assert "checked again now" in str(row.why)
        scene = Scene()
        pause_services.pause("account", scene.account.name, why="x", by=MIRA, now=NOON)


@pytest.mark.parametrize(("model", "fact"), cases(draft_waits.ENDS))
def test_a_draft_that_waited_for_a_fact_is_due_when_it_changes(model, fact):
    for cause in sorted(draft_waits.ENDS[model][fact]):
        scene = Scene()
        pause_services.pause("account", scene.account.name, why="x", by=MIRA, now=NOON)
        draft = make_approved(target=make_message(post=scene.post), not_before=LATER)
        facts = {"waits_for": cause, "why": "sending.turn_passed"}
        Draft.objects.filter(pk=draft.pk).update(**facts)
        change_fact(scene, model, fact)
        draft.refresh_from_db()
        assert (draft.waits_for, draft.why) == ("", {}), cause
        assert draft.not_before <= NOON, cause


@pytest.mark.parametrize(("model", "fact"), cases(stone_waits.ENDS))
def test_a_stone_that_waited_for_a_fact_is_due_when_it_changes(model, fact):
    scene = Scene()
    Presence.objects.filter(pk=scene.presence.pk).update(next_stone_at=LATER)
    facts: dict[str, Any] = {"slot": "2026-11-20#1", "kind": "explore", "draw": 0.1, "share": 0.2}
    stone = Stone.objects.create(
        presence=scene.presence, chosen_at=NOON - timedelta(hours=13), look_at=LATER,
        outcome="budget.money_spent_day", **facts,
    )  # fmt: skip
    change_fact(scene, model, fact)
    stone.refresh_from_db()
    live = Presence.objects.live().get(account=scene.account)
    if fact in stone_waits.SLOTS:
        assert live.next_stone_at is None or live.next_stone_at <= NOON
    else:
        assert stone.look_at <= NOON


def make_rule(**given: Any) -> NoticeRule:
    facts = {"quiet_from": time(1), "quiet_to": time(23), "pace": "daily", "daily_at": time(22)}
    return NoticeRule.objects.create(
        operator=make_operator(email="a@b.example"), channel="webhook", since=NOON,
        url="https://a.example/x", hears_down=True, **(facts | given),
    )  # fmt: skip


RULE = {
    "pace": "once", "every_hours": 1, "daily_at": time(5), "quiet_from": None, "quiet_to": None,
    "urgent_breaks": True,
}  # fmt: skip


@pytest.mark.parametrize("fact", sorted(notice_waits.ENDS[NoticeRule]))
def test_a_notice_that_waited_for_a_fact_is_due_when_it_changes(fact, settings):
    settings.WAKE_PRIVATE_ADDRESSES = True
    begins: dict[str, Any] = {"urgent_breaks": False} if fact == "urgent_breaks" else {}
    if fact in {"quiet_from", "quiet_to", "pace", "every_hours"}:
        begins |= {"pace": "hours" if fact == "every_hours" else "once"}
    if fact in {"pace", "daily_at", "every_hours"}:
        begins |= {"quiet_from": None, "quiet_to": None}
    begins |= {"pace": "daily"} if fact in {"pace", "daily_at"} else {}
    rule = make_rule(**begins)
    made = NOON - timedelta(hours=8)
    notice = Notice.objects.create(
        operator=rule.operator, rule=rule, way=rule.way, subject="account:1", reason="down",
        moment=made, made_at=made, due_at=LATER, why="notice.quiet_hours",
        is_urgent=fact == "urgent_breaks",
    )  # fmt: skip
    delivery = NoticeDelivery.objects.create(rule=rule, made_at=made, due_at=LATER, tries=3)
    if fact == "secret":
        rules.renew_secret(rule)
    else:
        kept = {name: getattr(rule, name) for name in rules.PLAIN} | {"url": rule.url}
        new = {"url": "https://b.example/y"} if fact == "url" else {fact: RULE[fact]}
        if fact in {"quiet_from", "quiet_to"}:
            new = {"quiet_from": None, "quiet_to": None}
        rules.change(rule, kept | new, now=NOON)
    notice.refresh_from_db()
    delivery.refresh_from_db()
    due = delivery.due_at if fact in notice_waits.ADDRESS else notice.due_at
    assert due <= NOON


def test_a_notice_of_a_snoozed_item_is_due_when_it_is_brought_back():
    draft = make_draft()
    item = DeskItem.objects.get(kind="draft", item_id=draft.pk)
    named = decisions.ItemRef.of(item.key)
    decisions.snooze(named, "4h", by=MIRA, now=NOON)
    rule = make_rule()
    notice = Notice.objects.create(
        operator=rule.operator, rule=rule, way="page", subject=f"item:{item.pk}", reason="waits",
        desk_item=item.pk, moment=NOON, made_at=NOON, due_at=LATER, why="notice.put_off",
    )  # fmt: skip
    decisions.unsnooze(named, by=MIRA, now=NOON)
    notice.refresh_from_db()
    assert (notice.due_at, notice.why) == (NOON, {})


def test_another_time_zone_moves_the_quiet_hours(client):
    rule = make_rule(pace="once", daily_at=None, quiet_from=time(11), quiet_to=time(13))
    person = rule.operator
    notice = Notice.objects.create(
        operator=person, rule=rule, way=rule.way, subject="account:1", reason="down",
        moment=NOON, made_at=NOON, due_at=LATER, why="notice.quiet_hours",
    )  # fmt: skip
    client.force_login(person)
    given = {"first_name": "A", "last_name": "B", "email": "a@b.example"}
    saved = client.post(
        reverse("surfaces:profile"), given | {"time_zone": "Asia/Tokyo", "language": "en"}
    )
    assert saved.status_code == 302, saved.content
    notice.refresh_from_db()
    assert notice.due_at == NOON


def test_a_webhook_with_a_new_address_is_called_at_once(settings):
    settings.WAKE_PRIVATE_ADDRESSES = True
    agent = make_agent()
    hook = WakeHook.objects.create(agent=agent, url="https://a.example/x")
    event = WakeEvent.objects.create(hook=hook, made_at=NOON, not_before=LATER, body={}, tries=3)
    hook_services.set_hook(
        agent, kind="webhook", url="https://b.example/y", secret="", is_on=True, by=MIRA, now=NOON
    )
    event.refresh_from_db()
    assert event.not_before == NOON


def test_every_scope_of_a_pause_frees_what_it_held():
    for scope in ("all", "surface", "account", "agent"):
        scene, other = Scene(), Scene()
        subjects = {
            "surface": scene.surface.slug, "account": scene.account.name,
            "agent": scene.agent.slug,
        }  # fmt: skip
        subject = subjects.get(scope, "")
        pause_services.pause(scope, subject, why="x", by=MIRA, now=NOON)
        rows = [scene.notification(Reason.PAUSED), other.notification(Reason.PAUSED)]
        pause_services.resume(scope, subject, by=MIRA, now=NOON)
        for row in rows:
            row.refresh_from_db()
        assert rows[0].look_at == NOON
        assert rows[1].look_at == (NOON if scope == "all" else None)


def test_the_tables_name_only_rows_and_settings_that_exist():
    acts = {*ACTS, *notice_waits.HOURS, *notice_waits.ADDRESS, "time_zone", "later_until", "limits"}
    for table in TABLES:
        for model, facts in table.items():
            known = set(acts)
            if model in _specs:
                known |= {*_specs[model].fields}
            assert {*facts} <= known, model
    assert {Pause, Draft, Reservation} <= {model for table in TABLES for model in table}
