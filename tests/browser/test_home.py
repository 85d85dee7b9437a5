"""Home in a browser: the switch without script, the first steps, one key to the desk."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from dialogue.models import Agent
from surfaces.models import Operator
from surfaces.pauses import services as pause_services


def test_everything_is_paused_and_resumed_without_script(
    page_of_mira: Callable[..., Page],
) -> None:
    page = page_of_mira("/", java_script_enabled=False)
    panel = page.get_by_role("region", name="Sending")
    panel.get_by_text("Pause everything…").click()
    panel.get_by_label("Reason").fill("storm over the harbour")
    panel.get_by_role("button", name="Pause everything").click()
    expect(panel).to_contain_text("Everything, paused by mira since")
    expect(panel).to_contain_text("“storm over the harbour”")
    assert [(row.scope, row.by) for row in pause_services.live()] == [("all", "operator:mira")]
    panel.get_by_role("button", name="Resume Everything").click()
    expect(panel).not_to_contain_text("paused by mira")
    assert not pause_services.live()


def test_home_at_work_folds_on_a_phone_and_leads_to_the_desk(
    visit: Callable[..., Page], mira: Operator, gabriel: Agent
) -> None:
    page = visit(mira, "/", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_role("heading", level=1)).to_contain_text("need a decision")
    expect(page.get_by_role("region", name="Agents today")).to_contain_text("Gabriel")
    page.get_by_role("button", name="Hide").click()
    expect(page.get_by_role("region", name="Setup")).to_have_count(0)
    page.get_by_role("region", name="Needs a decision").get_by_role("link").first.click()
    page.wait_for_url("**/desk/?kind=*")
