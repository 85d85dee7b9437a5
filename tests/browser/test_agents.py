from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dialogue.agents import services as agent_services
from dialogue.models import Agent, AgentSettings, ModelEndpoint
from tests.browser.barriers import OUT_OF_PLACE
from tests.browser.keyboard import press
from tests.factories import make_agent, make_operator

PHONE = {"viewport": {"width": 390, "height": 844}}
NO_SCRIPT = {"java_script_enabled": False}


@pytest.fixture
def open_gabriel(page_of_mira, gabriel):
    return lambda tab="", **wishes: page_of_mira(f"/agents/gabriel/{tab}", **wishes)


def test_a_setting_is_changed_and_taken_back_with_one_key(open_gabriel):
    page = open_gabriel("settings/")
    page.get_by_label("Maximum length").fill("700")
    page.get_by_label("Reason optional, for the audit log").fill("Shorter still.")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator(".toast")).to_contain_text("Saved: maximum length.")
    expect(page.get_by_label("Maximum length")).to_have_value("700")
    expect(page.get_by_text("Maximum length from 900 to 700 characters")).to_be_visible()
    press(page, "u")
    expect(page.locator(".toast")).to_contain_text("Undone: maximum length.")
    expect(page.get_by_label("Maximum length")).to_have_value("900")


def test_a_value_out_of_bounds_is_one_click_away_from_its_notice(open_gabriel):
    page = open_gabriel("settings/")
    page.get_by_label("Maximum length").fill("20000")
    page.get_by_role("button", name="Save settings").click()
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("Not saved: 1 value is invalid.")
    expect(notice).to_contain_text("Maximum length: 80 to 10,000")
    page.wait_for_load_state()
    notice.get_by_role("link", name="Maximum length").click()
    expect(page).to_have_url(re.compile(r"#id_longest_reply$"))
    expect(page.get_by_label("Maximum length")).to_be_in_viewport()
    expect(page.get_by_label("Maximum length")).to_have_value("20000")


def test_of_two_open_forms_the_later_hears_what_the_first_changed(visit, mira, gabriel):
    jonas = make_operator(username="jo", role="admin")
    first = visit(mira, "/agents/gabriel/settings/")
    second = visit(jonas, "/agents/gabriel/settings/")
    first.get_by_label("Attempts per comment").fill("4")
    first.get_by_role("button", name="Save settings").click()
    expect(first.locator(".toast")).to_contain_text("Saved")
    second.get_by_label("Minimum interval").fill("90")
    second.get_by_label("Attempts per comment").fill("5")
    second.get_by_role("button", name="Save settings").click()
    told = second.get_by_role("alert")
    expect(told).to_contain_text("Attempts per comment is now 4 attempts by mira")
    expect(second.get_by_label("Minimum interval")).to_have_value("90")
    expect(second.get_by_label("Attempts per comment")).to_have_value("5")
    second.get_by_role("button", name="Save settings").click()
    expect(second.locator(".toast")).to_contain_text(
        "Saved: minimum interval, attempts per comment."
    )


def test_an_agent_is_paused_with_a_reason_and_resumed(open_gabriel):
    page = open_gabriel()
    page.get_by_text("Pause Gabriel…").click()
    page.locator("#pause-agent-why").fill("It repeats itself")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator(".head")).to_contain_text("Paused by mira: It repeats itself.")
    page.get_by_role("button", name="Resume Gabriel").click()
    expect(page.locator(".head")).to_contain_text("Replies automatically.")


def test_everything_works_without_script(visit, mira, gabriel):
    page = visit(mira, "/agents/", **NO_SCRIPT)
    page.get_by_text("New agent", exact=True).click()
    page.get_by_label("Short name").fill("hai")
    page.get_by_label("Name", exact=True).fill("海")
    page.get_by_role("button", name="Create agent").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("海")
    expect(page.locator(".head")).to_contain_text("No account assigned.")

    page.goto("/agents/gabriel/voice/")
    page.get_by_role("button", name="Move up").click()
    expect(page.locator(".brains li").first).to_contain_text("openai:qwen2.5:14b")
    page.locator("#models footer summary").click()
    page.locator("#id_new-model").fill("anthropic:claude-haiku-4-5")
    page.locator("#id_new-key").fill("sk-secret")
    page.get_by_role("button", name="Add model").click()
    expect(page.locator(".brains li")).to_have_count(3)
    assert "sk-secret" not in page.content()
    assert ModelEndpoint.objects.latest("pk").key == "sk-secret"

    page.goto("/agents/gabriel/")
    page.locator(".presences summary", has_text="Unassign…").click()
    page.get_by_role("button", name="Unassign account").click()
    expect(page.get_by_role("heading", name="No account assigned")).to_be_visible()
    page.get_by_role("link", name="Assign account").first.click()
    page.get_by_role("button", name="Assign account").click()
    expect(page.locator(".presences")).to_contain_text("gabriel@hub")


def test_the_scripted_voice_is_heard_on_its_page(visit, mira, gabriel):
    page = visit(mira, "/agents/lian/voice/")
    page.get_by_role("button", name="Write a sample").click()
    expect(page.locator("#sample .parts")).to_contain_text("Terms")
    expect(page.get_by_role("button", name="Write another sample")).to_be_visible()


def test_why_a_comment_is_not_answered_leads_to_it_and_to_another_try(open_gabriel):
    page = open_gabriel("inbox/?show=passed")
    row = page.locator(".msgs > li", has_text="the limit of replies per thread is reached").first
    expect(row).to_contain_text("passed")
    row.locator("[data-open]").focus()
    press(page, "t")
    expect(page.locator(".toast")).to_contain_text("Attempts reset")


def test_agents_and_their_pages_are_reached_by_key_and_on_a_phone(open_gabriel, gabriel):
    page = open_gabriel("inbox/", **PHONE)
    page.locator(".tabbar").get_by_role("link", name="Agents").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Agents")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/ledger/")
    press(page, "g", "a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Agents")
    expect(page.locator(".side [aria-current]")).to_contain_text("Agents")


def test_what_opens_on_a_phone_stays_on_the_phone(open_gabriel, page_of_mira, gabriel):
    for path, opener in [
        ("/agents/", "details.confirm"),
        ("/agents/gabriel/", "details.confirm"),
        ("/agents/gabriel/", ".presences details"),
        ("/agents/gabriel/voice/", ".brains details"),
        ("/agents/gabriel/voice/", "#models footer details"),
    ]:
        page = page_of_mira(path, **PHONE)
        page.locator(f"{opener} > summary").first.click()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, (path, opener)
        box = page.locator(f"{opener}[open] > :not(summary)").first.bounding_box()
        assert box["x"] >= 0, (path, opener)
        assert box["x"] + box["width"] <= 390, (path, opener)
        page.context.close()


def test_the_modes_of_a_presence_are_read_whole_on_a_phone(open_gabriel):
    page = open_gabriel(**PHONE)
    page.locator(".presences").get_by_role("link", name="Settings").first.click()
    for words in page.get_by_role("radiogroup", name="Mode").locator("label").all():
        box = words.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390, words.inner_text()
        assert words.evaluate("(label) => label.scrollWidth <= label.clientWidth")


def test_a_long_standing_leaves_the_names_of_agents_whole(page_of_mira, gabriel):
    make_agent(slug="outsider", name="Outsider", lives="elsewhere")
    page = page_of_mira("/agents/")
    for name in page.locator(".agents tbody th a").all():
        assert name.evaluate("(link) => link.scrollWidth <= link.clientWidth"), name.inner_text()


def test_a_choice_of_agent_filters_the_wakings_at_once(page_of_mira, gabriel):
    make_agent(slug="outsider", name="Outsider")
    page = page_of_mira("/activations/")
    page.get_by_label("Agent").select_option("Outsider")
    expect(page).to_have_url(re.compile(r"agent=outsider"))
    expect(page.get_by_role("heading", name="No matching activations")).to_be_visible()
    expect(page.get_by_label("Agent")).to_have_value("outsider")


def test_the_address_of_a_new_agent_opens_its_form(page_of_mira):
    page = page_of_mira("/agents/new")
    page.get_by_label("Short name").fill("UPPER")
    page.get_by_role("button", name="Create agent").click()
    expect(page.locator(".error.shown")).to_contain_text("Use lowercase letters, digits")
    assert not Agent.objects.filter(slug__iexact="upper").exists()


def test_the_tab_that_is_open_stands_in_sight_on_a_phone(page_of_mira):
    page = page_of_mira("/drafts/?state=all", **PHONE)
    box = page.locator(".tabs [aria-current]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("wishes", [{}, NO_SCRIPT, PHONE], ids=["script", "no-script", "phone"])
def test_a_task_that_cannot_run_keeps_its_words_and_says_why_beside_them(open_gabriel, wishes):
    page = open_gabriel("tools/", **wishes)
    page.get_by_text("Run now…").click()
    page.get_by_label("A task:").check()
    page.get_by_role("button", name="Run", exact=True).click()
    field = page.get_by_role("textbox", name="Task")
    expect(page.get_by_role("alert")).to_contain_text("Say what the agent should do.")
    expect(field).to_have_accessible_description(re.compile("Say what the agent should do."))
    expect(page.get_by_label("A task:")).to_be_checked()
    field.fill("Write about tides.")
    AgentSettings.objects.update(is_autonomous=False)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("cannot run now")
    expect(field).to_have_value("Write about tides.")
    AgentSettings.objects.update(is_autonomous=True)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("It begins as soon as a worker is free.")
    assert page.url.endswith("/agents/gabriel/tools/")


CUT = """bar => {
  const at = getComputedStyle(bar);
  return ["left", "right"].filter(side => parseFloat(at.getPropertyValue("--cut-" + side)) > 0)
}"""


def test_a_tab_bar_that_does_not_fit_fades_where_it_is_cut_and_only_there(open_gabriel):
    page = open_gabriel(**PHONE)
    bar = page.locator(".tabs")
    assert bar.evaluate("bar => bar.scrollWidth > bar.clientWidth")
    assert bar.evaluate(CUT) == ["right"]
    bar.evaluate("bar => bar.scrollLeft = bar.scrollWidth")
    page.wait_for_function(f"() => ({CUT})(document.querySelector('.tabs'))[0] === 'left'")
    assert bar.evaluate(CUT) == ["left"]
    wide = open_gabriel()
    assert wide.locator(".tabs").evaluate(CUT) == []


LONG = "<script>document.title='owned'</script>" + "無限" * 20


def test_a_hostile_name_neither_runs_nor_breaks_the_page(visit, mira, gabriel):
    made = agent_services.make_agent("long", name=LONG[:80], by="operator:mira")
    Agent.objects.filter(pk=made.pk).update(persona="</textarea><script>alert(1)</script>" * 9)
    page = visit(mira, "/agents/", **PHONE)
    for path in ["/agents/", *(f"/agents/long/{tab}" for tab in ("", "settings/", "voice/"))]:
        page.goto(path)
        assert page.evaluate(OUT_OF_PLACE) == [], path
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, path
        assert "owned" not in page.title().partition("</script>")[2], path
    page.goto("/agents/long/settings/")
    expect(page.get_by_label("System prompt")).to_have_value(re.compile(r"^</textarea><script>"))


def test_a_viewer_finds_everything_readable_and_nothing_to_press(visit, gabriel):
    page = visit(make_operator(role="viewer"), "/agents/gabriel/settings/")
    expect(page.get_by_label("Maximum length")).to_be_disabled()
    expect(page.get_by_role("button", name="Save settings")).to_be_disabled()
    page.goto("/agents/gabriel/voice/")
    assert page.get_by_role("button", name="Remove model").count() == 0
    page.goto("/agents/gabriel/inbox/")
    assert page.get_by_role("button", name="Retry").count() == 0
