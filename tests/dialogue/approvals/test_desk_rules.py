"""Rules that always allow: made with their effect in sight, listed, revoked."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.models import ApprovalRule, ToolCall
from tests.dialogue.approvals.desk_calls import CONTENT, by_stranger, make_call, words
from tests.factories import make_account, make_agent, make_message, make_operator, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known_tools")]


@pytest.fixture
def mira(client: Client) -> Client:
    client.force_login(make_operator(username="mira"))
    return client


@pytest.fixture
def call() -> ToolCall:
    now = timezone.now()
    return make_call(arguments={"content": CONTENT, "community": "tides"}, now=now)


def place(call: ToolCall) -> str:
    return f"/agents/{call.agent.slug}/rules/"


def filled(client: Client, call: ToolCall, **changed: str) -> dict[str, str]:
    """What the form would post as it was shown."""
    page = client.get(f"{place(call)}new?call={call.pk}").content.decode()
    hidden = {n: re.search(rf'name="{n}" value="([^"]*)"', page) for n in ("seen", "digest")}
    found = {name: match[1] for name, match in hidden.items() if match}
    day = (timezone.localdate() + timedelta(days=30)).isoformat()
    return {
        **found, "call": str(call.pk), "tool": call.tool, "of-content": CONTENT,
        "of-reply_to": "", "of-community": "tides", "of-title": "", "until": day,
        "asks_when_untrusted": "on", "save": "1", **changed,
    }  # fmt: skip


def make_rule_of(call: ToolCall, **given: Any) -> ApprovalRule:
    ordinary = {"tool": "hub_post", "made_by": "operator:mira", "made_at": timezone.now()}
    return ApprovalRule.objects.create(agent=call.agent, **(ordinary | given))


def test_without_rules_the_page_says_what_to_do(mira: Client, call: ToolCall):
    page = words(mira.get(place(call)))
    assert "Nothing is always allowed" in page
    assert "/desk/?kind=tool_call&amp;agent=" in page


def test_the_form_begins_with_the_exact_values_and_their_effect(mira: Client, call: ToolCall):
    page = words(mira.get(f"{place(call)}new?call={call.pk}"))
    assert CONTENT in page
    assert 'value="tides"' in page
    assert "It would have allowed" in page
    assert f'href="/desk/tool_call/{call.pk}/"' in page


def test_a_rule_is_saved_as_it_was_shown(mira: Client, call: ToolCall):
    answer = mira.post(f"{place(call)}new", filled(mira, call), follow=True)
    rule = ApprovalRule.objects.get()
    assert (rule.tool, rule.made_by, rule.asks_when_untrusted) == (
        "hub_post",
        "operator:mira",
        True,
    )
    assert rule.patterns == {"content": CONTENT, "reply_to": "", "community": "tides", "title": ""}
    assert rule.until is not None
    assert rule.until.date() >= timezone.localdate() + timedelta(days=29)
    page = words(answer)
    assert "anything" not in page
    assert CONTENT[:60] in page
    call.refresh_from_db()
    assert call.state == "waiting"


def test_other_patterns_than_those_whose_effect_was_shown_are_not_saved(
    mira: Client, call: ToolCall
):
    denied = make_call(presence=call.presence, arguments={"content": "Spam", "community": "tides"})
    ToolCall.objects.filter(pk=denied.pk).update(
        state="denied", said="No spam.", decided_by="operator:mira",
        decided_at=timezone.now(), ended_at=timezone.now(),
    )  # fmt: skip
    given = filled(mira, call, **{"of-content": "*"})
    answer = mira.post(f"{place(call)}new", given)
    page = words(answer)
    assert not ApprovalRule.objects.exists()
    assert "Not saved yet" in page
    assert "No spam." in page
    assert "this rule would allow it" in page
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen is not None
    mira.post(f"{place(call)}new", given | {"seen": seen[1]})
    assert ApprovalRule.objects.get().patterns["content"] == "*"


def test_switching_off_the_question_for_strangers_is_shown_first(mira: Client, call: ToolCall):
    given = filled(mira, call)
    del given["asks_when_untrusted"]
    assert "Not saved yet" in words(mira.post(f"{place(call)}new", given))
    assert not ApprovalRule.objects.exists()


def test_the_call_is_approved_with_its_rule(mira: Client, call: ToolCall):
    answer = mira.post(f"{place(call)}new", filled(mira, call, approves="on"), follow=True)
    call.refresh_from_db()
    assert call.state == "approved"
    assert "This call is approved; an undo" in words(answer)


def test_a_day_that_is_over_is_refused(mira: Client, call: ToolCall):
    answer = mira.post(f"{place(call)}new", filled(mira, call, until="2020-01-01"))
    assert answer.status_code == 422
    assert "This day is over" in words(answer)
    assert not ApprovalRule.objects.exists()


def test_a_rule_is_made_without_a_call(mira: Client, call: ToolCall):
    page = words(mira.get(f"{place(call)}new"))
    assert "<option>hub_post</option>" in page
    assert mira.get(f"{place(call)}new?tool=hub_post").status_code == 200
    assert mira.get(f"{place(call)}new?tool=nothing").status_code == 404
    assert mira.get(f"{place(call)}new?call=999").status_code == 404


def test_rules_are_listed_with_hits_and_revoked(mira: Client, call: ToolCall):
    now = timezone.now()
    rule = ApprovalRule.objects.create(
        agent=call.agent, tool="hub_post", patterns={"content": "*", "title": ""}, hits=41,
        made_by="operator:mira", made_at=now, last_hit_at=now, asks_when_untrusted=False,
    )  # fmt: skip
    page = words(mira.get(place(call)))
    for expected in ("41", "anything", "empty or absent", "also with words of others"):
        assert expected in page
    answer = mira.post(f"{place(call)}{rule.pk}/revoke", follow=True)
    assert "Revoked. Such calls" in words(answer)
    assert "revoked by mira" in words(answer)
    rule.refresh_from_db()
    assert rule.revoked_by == "operator:mira"


def test_a_rule_of_another_agent_is_not_revoked(mira: Client, call: ToolCall):
    rule = ApprovalRule.objects.create(
        agent=make_agent(), tool="hub_post", made_by="operator:mira", made_at=timezone.now()
    )
    assert mira.post(f"{place(call)}{rule.pk}/revoke").status_code == 404
    rule.refresh_from_db()
    assert rule.revoked_at is None


def test_who_may_only_read_sees_rules_and_makes_none(client: Client, call: ToolCall):
    client.force_login(make_operator(role="viewer"))
    assert client.get(place(call)).status_code == 200
    assert client.get(f"{place(call)}new?call={call.pk}").status_code == 403
    assert client.post(f"{place(call)}new", {"tool": "hub_post"}).status_code == 403


def test_a_rule_for_every_account_needs_access_to_every_account(client: Client, call: ToolCall):
    operator = make_operator()
    operator.surfaces.add(call.presence.account.surface)
    client.force_login(operator)
    assert client.get(f"{place(call)}new?call={call.pk}").status_code == 200
    make_presence(agent=call.agent, account=make_account())
    assert client.get(f"{place(call)}new?call={call.pk}").status_code == 403
    assert client.get(place(call)).status_code == 200


def test_who_sees_a_part_of_the_agent_reads_no_patterns_and_no_hits(client: Client, call: ToolCall):
    make_rule_of(call, patterns={"content": "words of another account"}, hits=4_711)
    make_presence(agent=call.agent)
    limited = make_operator(role="moderator", only_surfaces=True)
    limited.surfaces.add(call.presence.account.surface)
    client.force_login(limited)
    page = words(client.get(place(call)))
    assert "hub_post" in page
    assert "you do not have access to all of them" in page
    for hidden in ("words of another account", "4,711", "Revoke", "New rule"):
        assert hidden not in page
    client.force_login(make_operator(role="moderator"))
    assert "words of another account" in words(client.get(place(call)))


@pytest.mark.parametrize("tab", ["tools", "memory", "rules", "reports"])
def test_each_page_of_an_agent_is_the_current_one_of_its_tabs(
    mira: Client, call: ToolCall, tab: str
):
    at = f"/agents/{call.agent.slug}/{tab}/"
    overview = mira.get(f"/agents/{call.agent.slug}/").content.decode()
    assert f'<a href="{at}">' in overview
    assert f'<a href="{at}" aria-current="page">' in mira.get(at).content.decode()


@pytest.mark.parametrize(
    ("tab", "name"),
    [("inbox", "收件箱"), ("settings", "设置"), ("voice", "声音"), ("tools", "工具"),
     ("memory", "记忆"), ("rules", "规则"), ("reports", "报告")],
)  # fmt: skip
def test_the_way_to_a_page_of_an_agent_is_in_the_language_of_its_reader(
    mira: Client, call: ToolCall, tab: str, name: str
):
    answer = mira.get(f"/agents/{call.agent.slug}/{tab}/", HTTP_ACCEPT_LANGUAGE="zh-hans")
    page = words(answer)
    assert name in page.partition("</title>")[0]
    crumbs = re.search(r'<(nav|ol)[^>]*class="[^"]*crumbs.*?</\1>', page)
    assert crumbs
    assert name in crumbs[0]


def test_a_call_that_fits_and_would_still_ask_is_shown_as_such(mira: Client):
    rests = {"content": [by_stranger(make_message(content=CONTENT))]}
    call = make_call(arguments={"content": CONTENT}, sources=rests, now=timezone.now())
    page = words(mira.get(f"{place(call)}new?call={call.pk}"))
    assert "It would still ask" in page
    assert "None without other people’s words." in page
    assert "fits these patterns" not in page


def test_words_of_strangers_are_plain_text_in_the_form(mira: Client):
    call = make_call(
        arguments={"content": "<script>alert(1)</script>"}, sources={"content": [by_stranger()]}
    )
    page = mira.get(f"{place(call)}new?call={call.pk}").content.decode()
    assert "<script>alert" not in page


@pytest.mark.parametrize("page", ["", "new?call={pk}"])
def test_a_page_takes_at_most_12_queries(
    mira: Client, call: ToolCall, page: str, django_assert_max_num_queries: Any
):
    for number in range(10):
        make_call(presence=call.presence)
        ApprovalRule.objects.create(
            agent=call.agent, tool="hub_post", patterns={"content": f"{number}*"},
            made_by="operator:mira", made_at=timezone.now(),
        )  # fmt: skip
    with django_assert_max_num_queries(12):
        assert mira.get(place(call) + page.format(pk=call.pk)).status_code == 200
