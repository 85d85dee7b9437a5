"""An operator with limits, or who may only read, tries guessed ids and forged requests."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.approvals import rules
from dialogue.models import Activation, Agent, ApprovalRule, Memory, ToolCall
from dialogue.tools import hub_post
from tests.dialogue.activations.factories import make_memory
from tests.dialogue.approvals.desk_calls import know_tools, make_call
from tests.factories import make_account, make_operator, make_presence

pytestmark = pytest.mark.django_db


class House:
    """One agent on two accounts, of which the operator may see one; each has a call and a note."""

    def __init__(self) -> None:
        know_tools()
        ours = make_presence(settings={"grants": ["*:*"]})
        self.agent: Agent = ours.agent
        theirs = make_presence(agent=self.agent, account=make_account())
        self.ours, self.theirs = ours, theirs
        self.our_call, self.call = make_call(presence=ours), make_call(presence=theirs)
        self.our_note = self.note("A note of ours", self.our_call.activation)
        self.their_note = self.note("A note of theirs", self.call.activation)
        self.rule = rules.make_rule(
            self.agent, tool=hub_post.TOOL.name, patterns={"content": "Words of theirs *"},
            until=None, by="operator:mira", now=timezone.now(),
        )  # fmt: skip

    def note(self, words: str, activation: Activation) -> Memory:
        return make_memory(self.agent, words=words, activation=activation)

    def attempts(self) -> dict[str, dict[str, str]]:
        call, slug, desk = self.call, self.agent.slug, "/desk/tool_call"
        key = f"tool_call-{call.pk}"
        return {
            f"{desk}/{call.pk}/approve": {"digest": call.digest},
            f"{desk}/{call.pk}/edit": {"digest": call.digest, "arg-content": "Mine"},
            f"{desk}/{call.pk}/reject": {"why": "Mine"},
            f"{desk}/{call.pk}/later": {"for": "1h"},
            f"/desk/tool_unknown/{call.pk}/settle_ran": {"result": "Mine"},
            f"/desk/tool_unknown/{call.pk}/run_again": {},
            "/desk/bulk": {"x": key, "act": "reject", "why": "Mine"},
            "/desk/undo": {"what": f"{key}:approve {key}:reject {key}:later"},
            f"/activations/{call.activation_id}/stop": {},
            f"/agents/{slug}/run": {"presence": str(self.theirs.pk), "purpose": "explore"},
            f"/agents/{slug}/rules/new": {"call": str(call.pk), "save": "1"},
            f"/agents/{slug}/rules/{self.rule.pk}/revoke": {},
            f"/memories/{self.their_note.pk}/forget": {},
            f"/agents/{slug}/memory/forget": {},
        }

    def state(self) -> list[object]:
        rows = (ToolCall, Activation, ApprovalRule, Memory)
        return [list(each.objects.order_by("pk").values()) for each in rows]


@pytest.fixture
def house() -> House:
    return House()


def limited(house: House) -> Client:
    client, who = Client(), make_operator(only_surfaces=True)
    who.surfaces.add(house.ours.account.surface)
    client.force_login(who)
    return client


def test_what_stands_on_another_account_is_neither_shown_nor_moved(house: House):
    client, before = limited(house), house.state()
    statuses = {at: client.post(at, data).status_code for at, data in house.attempts().items()}
    assert house.state() == before, statuses
    assert not {500, 400} & {*statuses.values()}, statuses
    shown = [
        f"/desk/tool_call/{house.call.pk}/", f"/activations/{house.call.activation_id}/",
        f"/agents/{house.agent.slug}/rules/new?call={house.call.pk}",
    ]  # fmt: skip
    for at in shown:
        assert client.get(at).status_code in {403, 404}, at
    for tab in ("memory", "tools", "rules", "reports"):
        page = client.get(f"/agents/{house.agent.slug}/{tab}/")
        assert page.status_code == 200
        assert "A note of theirs" not in page.content.decode()
        assert f"/activations/{house.call.activation_id}/" not in page.content.decode()


def test_what_a_rule_quotes_is_shown_to_who_sees_every_account_of_the_agent(house: House):
    slug, call = house.agent.slug, house.our_call
    ToolCall.objects.filter(pk=call.pk).update(decided_by=f"rule:{house.rule.pk}", state="proposed")
    places = {
        f"/agents/{slug}/rules/": "<code>hub_post</code>", f"/agents/{slug}/tools/": "hub_post",
        "/ledger/": "rule for tool calls made", f"/desk/tool_call/{call.pk}/": "hub_post",
        f"/activations/{call.activation_id}/": "hub_post",
    }  # fmt: skip
    everything, some, both = Client(), limited(house), make_operator(only_surfaces=True)
    everything.force_login(make_operator())
    quoted = {}
    for client in (everything, some):
        pages = {at: client.get(at).content.decode() for at in places}
        for at, exists in places.items():
            assert exists in pages[at], at
        quoted[client] = [at for at, page in pages.items() if "Words of theirs" in page]
    assert quoted == {everything: [f"/agents/{slug}/rules/", "/ledger/"], some: []}
    page = some.get(f"/agents/{slug}/rules/").content.decode()
    assert "shown to operators with access to all its accounts" in page
    assert "/revoke" not in page
    assert "/rules/new" not in page
    both.surfaces.add(house.ours.account.surface, house.theirs.account.surface)
    some.force_login(both)
    assert "Words of theirs" in some.get(f"/agents/{slug}/rules/").content.decode()
    assert "Words of theirs" in some.get("/ledger/").content.decode()


def test_who_may_only_read_and_who_forges_a_request_move_nothing(house: House):
    reader, forger, stranger = Client(), Client(enforce_csrf_checks=True), Client()
    reader.force_login(make_operator(role="viewer"))
    forger.force_login(make_operator(role="admin"))
    before = house.state()
    for client, refusals in ((reader, {403}), (forger, {403}), (stranger, {302})):
        for at, data in house.attempts().items():
            assert client.post(at, data).status_code in refusals, at
            assert client.get(at).status_code in {302, 403, 404, 405, 200}
    assert house.state() == before


def test_what_nobody_can_store_is_searched_for_without_an_error(house: House):
    client = limited(house)
    for asked in ("%00", "a%00b", '"', "((", "a AND OR", "-", ":*", "%ED%A0%80", "x" * 5_000):
        page = client.get(f"/agents/{house.agent.slug}/memory/?q={asked}")
        assert page.status_code in {200, 400}, asked
