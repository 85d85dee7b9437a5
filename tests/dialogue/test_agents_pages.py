from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dialogue import activations, budget, tuning
from dialogue.activations import Cost
from dialogue.models import Activation, Agent, HouseBudget, Notification, Presence, Spending
from dialogue.models.activation import State
from surfaces import drafting, pausing
from surfaces.models import Account, AuditEvent, Pause
from tests.factories import (
    NOON,
    make_account,
    make_agent,
    make_draft,
    make_message,
    make_notification,
    make_operator,
    make_presence,
)

pytestmark = pytest.mark.django_db
ADA = "operator:ada"
MOST_QUERIES = 13


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def url(name: str, *args: Any) -> str:
    return reverse(f"dialogue:{name}", args=args)


def html(client: Client, name: str, *args: Any, query: str = "") -> str:
    response = client.get(url(name, *args) + query)
    assert response.status_code == 200
    return response.content.decode()


def queries(client: Client, place: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(place).status_code == 200
    return len(asked)


def wake(presence: Presence, why: str = "Answer odile", **given: Any) -> Activation:
    return activations.begin(
        presence, purpose="reply", why=why, worker="w:1", now=timezone.now(), **given
    )


# ── the list ──────────────────────────────────────────────────────────────


def test_no_agent_is_said_with_the_next_step_and_the_command(admin: Client):
    page = html(admin, "agents")
    assert "No agent yet" in page
    assert url("connect") in page
    assert "manage.py connect hub --agent" in page


def test_the_list_says_where_each_speaks_and_what_it_did_today(desk: Client):
    agent = make_agent(slug="lian", name="莲")
    presence = make_presence(agent=agent)
    now = timezone.now()
    sent = {"state": "sent", "agent": "lian", "account": presence.account}
    make_draft(**sent, sent_at=now, target=make_message(account=presence.account))
    yesterday = make_message(account=presence.account)
    make_draft(**sent, sent_at=now - timedelta(days=2), target=yesterday)
    make_draft(state="failed", agent="lian")
    row = html(desk, "agents").partition("<tbody")[2].partition("</tbody>")[0]
    assert "莲" in row
    assert presence.account.name in row
    assert presence.account.surface.name in row
    assert 'data-l="Sent">1<' in row
    assert 'data-l="Failed">1<' in row
    assert "scripted" in row


def test_a_model_is_named_and_its_absence_too(desk: Client):
    agent = make_agent(settings={"voice": "model"})
    assert "no model yet" in html(desk, "agents")
    tuning.add_brain(agent, model="anthropic:claude-sonnet-4-5", by=ADA)
    assert "anthropic:claude-sonnet-4-5" in html(desk, "agents")


def asleep() -> dict[str, Any]:
    """Hours that ended an hour ago, whatever the time is."""
    now = timezone.now()
    return {
        "active_from": (now - timedelta(hours=3)).time(),
        "active_to": (now - timedelta(hours=1)).time(),
    }


@pytest.mark.parametrize(
    ("given", "settings", "words"),
    [
        ({}, {}, "Answers by itself"),
        ({}, {"is_autonomous": False}, "Switched off"),
        ({}, {"mode": "off"}, "Its mode is off"),
        ({"lives": "elsewhere"}, {}, "Lives elsewhere"),
        ({"backs_off_until": NOON + timedelta(days=900), "failures": 7}, {}, "Backs off until"),
        ("asleep", {}, "Outside its hours until"),
        ({}, {"money_per_day": 0, "voice": "model"}, "Today: $0.00 of $0 used until"),
        ({}, {"money_per_day": 0, "voice": "scripted"}, "Answers by itself"),
    ],
)
def test_what_an_agent_is_doing_is_said_in_words(
    desk: Client, given: Any, settings: Any, words: str
):
    agent = make_agent(settings=settings, **(asleep() if given == "asleep" else given))
    make_presence(agent=agent)
    assert words in html(desk, "agents")
    assert words in html(desk, "agent", agent.slug)


def test_an_agent_without_a_presence_speaks_nowhere(desk: Client):
    assert "Speaks nowhere yet" in html(desk, "agent", make_agent().slug)


def test_the_list_goes_on_by_key(desk: Client):
    for number in range(51):
        make_agent(slug=f"a-{number:02}", name=f"Agent {number:02}")
    first = html(desk, "agents")
    assert "Agent 49" in first
    assert "Agent 50" not in first
    assert "?after=a-49" in first
    assert "Agent 50" in html(desk, "agents", query="?after=a-49")
    assert "No further agent" in html(desk, "agents", query="?after=zzz")


def test_a_new_agent_begins_cautiously(admin: Client):
    response = admin.post(url("new_agent"), {"slug": "lian", "name": "莲"}, follow=True)
    assert "莲 is made" in response.content.decode()
    settings = Agent.objects.get(slug="lian").settings
    assert (settings.is_autonomous, settings.mode, settings.voice) == (False, "review", "scripted")


@pytest.mark.parametrize("slug", ["", "Not a slug!", "taken"])
def test_a_new_agent_needs_a_name_of_its_own(admin: Client, slug: str):
    make_agent(slug="taken")
    response = admin.post(url("new_agent"), {"slug": slug})
    assert response.status_code == 422
    assert 'class="error shown"' in response.content.decode()
    assert Agent.objects.count() == 1


def test_the_budget_of_all_is_shown_and_changed(admin: Client):
    Spending.objects.create(
        owner="house", period="day", starts=budget.periods(timezone.now())["day"],
        money=Decimal("1.5"), held_money=Decimal("0.25"), tokens=900,
    )  # fmt: skip
    page = html(admin, "agents")
    assert "$1.75 of $5" in page
    assert "$0.25 of it held" in page
    seen = page.partition('name="seen" value="')[2].partition('"')[0]
    given = {"money_per_day": "4", "money_per_month": "40", "tokens_per_day": "1000000",
             "tokens_per_month": "15000000", "seen": seen}  # fmt: skip
    admin.post(url("set_house_budget"), given)
    assert HouseBudget.current().money_per_day == 4
    refused = admin.post(url("set_house_budget"), given | {"money_per_day": "41"})
    assert refused.status_code == 422
    assert "more than the month’s" in refused.content.decode()
    late = admin.post(url("set_house_budget"), given | {"money_per_day": "3"})
    assert late.status_code == 409
    assert "Money a day</a> is now <b><bdi>4" in late.content.decode()
    assert 'name="money_per_day" value="3"' in late.content.decode()
    assert HouseBudget.current().money_per_day == 4


# ── one agent ─────────────────────────────────────────────────────────────


def test_budgets_count_what_is_held_and_the_limit_of_today(desk: Client):
    presence = make_presence()
    slug = presence.agent.slug
    for period, starts in budget.periods(timezone.now()).items():
        Spending.objects.create(
            owner=f"agent:{slug}", period=period, starts=starts, money=Decimal("0.40"),
            held_money=Decimal("0.10"), tokens=1_000, held_tokens=200,
        )  # fmt: skip
    waiting = make_message(account=presence.account)
    make_draft(agent=slug, account=presence.account, target=waiting)
    page = html(desk, "agent", slug)
    assert "$0.50 of $1" in page
    assert "$0.50 of $10" in page
    assert "1,200 of 200,000" in page
    assert "1 of 20" in page


def test_verdicts_of_the_last_30_days_are_counted_and_linked(desk: Client):
    agent, now = make_agent(), timezone.now()
    for number, judged in enumerate(["as_written"] * 6 + ["edited", "rejected"]):
        draft = make_draft(
            agent=agent.slug, judged=judged, state="withdrawn", why="repeats us",
            decided_at=now - timedelta(hours=number), decided_by=ADA,
        )  # fmt: skip
    long_ago = now - timedelta(days=40)
    make_draft(agent=agent.slug, judged="rejected", state="withdrawn", decided_at=long_ago)
    page = html(desk, "agent", agent.slug)
    assert "30 days: 88 % approved" in page
    assert page.count('class="badge ok"') == 6  # the last six
    assert reverse("surfaces:draft", args=[draft.pk]) not in page
    assert reverse("surfaces:draft", args=[draft.pk - 5]) in page


def test_what_waits_is_counted_by_verdict_in_words(desk: Client):
    presence = make_presence()
    for verdict in ("too_soon", "too_soon", "", "made_up_later"):
        make_notification(presence=presence, verdict=verdict, look_at=None)
    make_notification(presence=presence, outcome="passed", why="x", read_at=NOON, verdict="spam")
    page = html(desk, "agent", presence.agent.slug)
    assert '<b class="num">2</b> the last reply is too fresh' in page
    assert '<b class="num">1</b> not looked at yet' in page
    assert '<b class="num">1</b> made up later' in page
    assert "marked as spam" not in page


def test_an_agent_is_paused_with_a_reason_and_resumed(desk: Client):
    agent = make_presence().agent
    place = url("agent", agent.slug)
    given = {"what": f"agent:{agent.slug}", "why": "It repeats itself", "next": place}
    page = desk.post(reverse("surfaces:pause"), given, follow=True).content.decode()
    assert Pause.objects.live().get().subject == agent.slug
    assert "Paused by mira" in page
    assert "It repeats itself" in page
    page = desk.post(reverse("surfaces:resume"), given, follow=True).content.decode()
    assert "Answers by itself" in page


def test_everything_paused_is_said_on_every_agent(desk: Client):
    pausing.pause("all", why="Lunch", by="operator:mira", now=NOON)
    page = html(desk, "agent", make_presence().agent.slug)
    assert "Everything is paused by mira" in page


def test_a_back_off_is_cleared_by_a_moderator(desk: Client):
    agent = make_agent(failures=6, backs_off_until=timezone.now() + timedelta(hours=1))
    make_presence(agent=agent)
    assert "Clear back-off" in html(desk, "agent", agent.slug)
    desk.post(url("clear_back_off", agent.slug))
    assert Agent.objects.get().backs_off_until is None
    assert "Clear back-off" not in html(desk, "agent", agent.slug)


# ── presences ─────────────────────────────────────────────────────────────


def test_a_presence_is_added_on_a_free_account_only(admin: Client):
    agent, free, taken = make_agent(), make_account(), make_presence().account
    page = html(admin, "add_presence", agent.slug)
    assert f'value="{free.pk}"' in page
    assert f'value="{taken.pk}"' not in page
    admin.post(url("add_presence", agent.slug), {"account": free.pk, "mode": "shadow"})
    assert Presence.objects.live().get(account=free).agent == agent
    assert Account.objects.get(pk=free.pk).mode == "shadow"
    said = admin.post(url("add_presence", agent.slug), {"account": taken.pk}).content.decode()
    assert "End that presence first" in said


@pytest.mark.parametrize("account", ["", "x", "0", "9" * 30])
def test_no_account_is_no_presence(admin: Client, account: str):
    make_account()
    said = admin.post(url("add_presence", make_agent().slug), {"account": account})
    assert "Choose an account" in said.content.decode()
    assert not Presence.objects.exists()


def test_a_presence_is_changed_and_the_account_obeys(admin: Client):
    presence = make_presence()
    given = {"mode": "shadow", "stones_per_day": 3, "explore_share": 30, "stone_community": "潮汐"}
    admin.post(url("change_presence", presence.pk), given)
    presence.refresh_from_db()
    assert (presence.stones_per_day, presence.explore_share) == (3, 0.3)
    assert (presence.stone_community, presence.account.mode) == ("潮汐", "shadow")
    admin.post(url("change_presence", presence.pk), given | {"mode": ""})
    assert Account.objects.get(pk=presence.account_id).mode == "review"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stones_per_day": 25}, "25 is more than 24"),
        ({"explore_share": 101}, "Enter 0 to 100 %"),
        ({"mode": "loud"}, "not one of the available choices"),
    ],
)
def test_a_presence_out_of_bounds_stays_as_it_was(admin: Client, given: Any, words: str):
    presence = make_presence()
    ordinary = {"mode": "", "stones_per_day": 1, "explore_share": 25, "stone_community": ""}
    said = admin.post(url("change_presence", presence.pk), ordinary | given, follow=True)
    assert words in said.content.decode()
    assert not AuditEvent.objects.called("presence.changed").exists()


def test_a_presence_ends_once(admin: Client):
    presence = make_presence()
    admin.post(url("end_presence", presence.pk))
    assert not Presence.objects.live().exists()
    said = admin.post(url("end_presence", presence.pk), follow=True)
    assert "has ended already" in said.content.decode()


# ── inbox ─────────────────────────────────────────────────────────────────


def one_of_each(presence: Presence) -> dict[str, Notification]:
    def comment(words: str, **given: Any):
        return make_message(account=presence.account, content=words, **given)

    failed = comment("failed one", reply_status="failed", reply_attempts=10, reply_why="No words.")
    passed = {"outcome": "passed", "read_at": NOON, "verdict": "thread_full"}
    given: dict[str, dict[str, Any]] = {
        "new": {},
        "waiting": {"verdict": "hours", "why": "Waits: outside the agent's hours"},
        "answered": {"verdict": "answered", "outcome": "answered", "read_at": NOON},
        "passed": passed | {"why": "Passed: 3 of 3 replies in this thread are used"},
        "failed": {"message": failed, "verdict": "tried_out", "outcome": "passed",
                   "read_at": NOON, "why": "Passed: it was tried often enough"},
    }  # fmt: skip
    return {
        name: make_notification(presence=presence, **({"message": comment(f"{name} one")} | facts))
        for name, facts in given.items()
    }


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("", {"new", "waiting", "answered", "passed", "failed"}),
        ("unread", {"new", "waiting"}),
        ("waiting", {"waiting"}),
        ("answered", {"answered"}),
        ("passed", {"passed", "failed"}),
        ("failed", {"failed"}),
        ("nonsense", {"new", "waiting", "answered", "passed", "failed"}),
    ],
)
def test_the_inbox_is_filtered_by_what_became_of_it(desk: Client, show: str, names: set[str]):
    rows = one_of_each(make_presence())
    page = html(desk, "agent_inbox", rows["new"].agent.slug, query=f"?show={show}")
    assert {name for name in rows if f"{name} one" in page} == names


def test_why_something_is_not_answered_stands_beside_it(desk: Client):
    rows = one_of_each(make_presence())
    page = html(desk, "agent_inbox", rows["new"].agent.slug)
    assert "Waits: outside the agent&#x27;s hours." in page
    assert "3 of 3 replies in this thread are used" in page
    assert "failed, 10 tries" in page
    assert "No words." in page
    assert "Not looked at yet." in page


def test_what_was_passed_is_tried_again_by_a_moderator(desk: Client):
    rows = one_of_each(make_presence())
    place = url("agent_inbox", rows["new"].agent.slug)
    assert html(desk, "agent_inbox", rows["new"].agent.slug).count(">Try again <kbd>") == 2
    message = rows["failed"].message
    desk.post(reverse("surfaces:try_again", args=[message.pk]), {"next": place})
    message.refresh_from_db()
    assert (message.reply_status, message.reply_attempts) == (None, 0)
    assert AuditEvent.objects.called("message.retried").get().actor == "operator:mira"


def test_the_inbox_goes_on_by_key(desk: Client):
    presence, post = make_presence(), None
    for number in range(52):
        message = make_message(account=presence.account, content=f"words {number:02}", **(
            {"post": post} if post else {}))  # fmt: skip
        post = message.post
        make_notification(presence=presence, message=message)
    first = desk.get(url("agent_inbox", presence.agent.slug))
    page = first.context["page"]
    assert "words 51" in first.content.decode()
    assert "words 01" not in first.content.decode()
    second = html(desk, "agent_inbox", presence.agent.slug, query=f"?{page.older}")
    assert "words 01" in second
    assert "words 02" not in second
    assert 'data-page="newer"' in second


# ── wakings ───────────────────────────────────────────────────────────────


def test_a_waking_shows_its_steps_with_strangers_words_escaped_and_folded(desk: Client):
    note = make_notification()
    waking = wake(note.presence, "Answer <script>alert(1)</script>", notification=note)
    shown = {"shown": "<img src=x onerror=alert(2)>", "request": 1}
    activations.step(waking, "asked", "Asked.", now=NOON, facts=shown)
    said = '{"terms": "<b>bold</b>"}\n' + "x" * 300
    cost = Cost(tokens_in=1_840, tokens_out=212, money=Decimal("0.0087"), is_guess=True)
    activations.step(waking, "answered", said, now=NOON, cost=cost, took_ms=5_400)
    activations.step(waking, "checked", "Too long.", now=NOON, facts={"faults": ["Too long."]})
    activations.end(waking, State.FAILED, "no words came of it", now=timezone.now())
    page = html(desk, "activation", waking.pk)
    for raw in ("<script>alert(1)", "<img src=x", "<b>bold</b>"):
        assert raw not in page
    assert "<details><summary" in page.partition("&lt;b&gt;bold")[0].rpartition("<li")[2]
    assert "1,840 tokens in, 212 out, $0.0087 guessed" in page
    assert '<li class="warn">' in page
    assert "No words came of it." in page
    assert "guess" in page


def test_a_running_one_says_until_when_it_is_held(desk: Client):
    waking = wake(make_presence())
    page = html(desk, "activation", waking.pk)
    assert "At work for" in page
    assert "number 1 of this agent" in page
    assert "then others may take it" in page


def test_wakings_are_filtered_by_agent_and_state(desk: Client):
    first, second = make_presence(), make_presence()
    activations.end(wake(first, "Answer one"), State.DONE, "Done.", now=timezone.now())
    activations.end(wake(first, "Answer two"), State.FAILED, "No.", now=timezone.now())
    wake(second, "Answer three")
    found = {
        query: {name for name in ("one", "two", "three") if f"Answer {name}" in
                html(desk, "activations", query=query)}
        for query in ("", f"?agent={first.agent.slug}", "?state=failed", "?state=loud", "?agent=x")
    }  # fmt: skip
    assert list(found.values()) == [
        {"one", "two", "three"}, {"one", "two"}, {"two"}, {"one", "two", "three"}, set(),
    ]  # fmt: skip


# ── who may ───────────────────────────────────────────────────────────────


def places(presence: Presence, waking: Activation) -> list[str]:
    slug = presence.agent.slug
    return [
        url("agents"), url("activations"), url("activation", waking.pk), url("agent", slug),
        url("agent_inbox", slug), url("agent_settings", slug), url("agent_voice", slug),
    ]  # fmt: skip


def test_a_viewer_reads_every_page_and_changes_nothing(client: Client):
    presence = make_presence()
    waking = wake(presence)
    brain = tuning.add_brain(presence.agent, model="openai:small", by=ADA)
    client.force_login(make_operator(role="viewer"))
    for place in places(presence, waking):
        assert client.get(place).status_code == 200, place
    slug = presence.agent.slug
    acts = [
        url("new_agent"), url("set_house_budget"), url("clear_back_off", slug),
        url("add_presence", slug), url("change_presence", presence.pk),
        url("end_presence", presence.pk), url("agent_settings", slug), url("undo_change", slug),
        url("agent_voice", slug), url("add_brain", slug), url("change_brain", brain.pk),
        url("move_brain", brain.pk), url("remove_brain", brain.pk), url("try_voice", slug),
    ]  # fmt: skip
    for act in acts:
        assert client.post(act).status_code == 403, act


def test_a_moderator_manages_no_agent(desk: Client):
    presence = make_presence()
    for act in (url("agent_settings", presence.agent.slug), url("end_presence", presence.pk)):
        assert "Only administrators" in desk.post(act).content.decode()


def test_an_agent_that_is_not_there_is_said_so(desk: Client):
    for name in ("agent", "agent_inbox", "agent_settings", "agent_voice"):
        assert desk.get(url(name, "nobody")).status_code == 404
    assert desk.get(url("activation", 99)).status_code == 404


# ── however much there is ─────────────────────────────────────────────────


def more_of_everything(agent: Agent) -> None:
    for _ in range(3):
        presence = make_presence(agent=agent)
        message = make_message(account=presence.account)
        note = make_notification(presence=presence, message=message, verdict="hours")
        draft = make_draft(
            agent=agent.slug, account=presence.account, target=message, judged="edited",
            decided_at=timezone.now(), state="withdrawn",
        )  # fmt: skip
        Notification.objects.filter(pk=note.pk).update(draft=draft)
        waking = wake(presence, notification=note)
        activations.step(waking, "asked", "Asked.", now=NOON)
        activations.end(waking, State.DONE, "Done.", now=timezone.now(), draft=draft)
        tuning.add_brain(agent, model=f"openai:m{note.pk}", key="sk-1", by=ADA)
        tuning.change_agent(agent, {"tries": note.pk % 9 + 1}, by=ADA, now=NOON)


def test_no_page_asks_more_where_there_is_more(admin: Client):
    agent = make_agent(settings={"voice": "model"})
    more_of_everything(agent)
    presence = Presence.objects.filter(agent=agent).latest("pk")
    place = [*places(presence, Activation.objects.latest("pk")), url("add_presence", agent.slug)]
    before = {at: queries(admin, at) for at in place}
    for other in (agent, make_agent(settings={"voice": "model"}), make_agent()):
        more_of_everything(other)
    assert {at: queries(admin, at) for at in place} == before
    assert max(before.values()) <= MOST_QUERIES, before


def test_a_draft_of_the_agent_is_found_from_its_pages(desk: Client):
    note = make_notification()
    draft = make_draft(account=note.presence.account, target=note.message, agent=note.agent.slug)
    Notification.objects.update(draft=draft)
    place = reverse("surfaces:draft", args=[draft.pk])
    assert place in html(desk, "agent_inbox", note.agent.slug)
    drafting.withdraw(draft, by="operator:mira", now=NOON)
    assert "withdrawn" in html(desk, "agent_inbox", note.agent.slug)
