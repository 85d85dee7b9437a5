"""Every address of the program, asked by somebody whose limits do not reach what it names.

A row outside is not there: no page, no act, no trace in a list, and nothing changes.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from surfaces.models import Draft, Operator, Pause
from tests.factories import NOON, make_operator
from tests.surfaces.operators.out_of_scope import SECRET, Place, make_place, whole_of_it

pytestmark = pytest.mark.django_db
# Addresses about no row of the talk: one's own, the house's, and the doors.
OF_THE_HOUSE = ("settings/", "notices/", "desk/views/", "me/")
ENDLESS = {"live"}  # a stream does not end


def patterns() -> list[tuple[str, str, URLPattern]]:
    """App, address and pattern of everything but the administration."""
    found = []
    for group in get_resolver().url_patterns:
        for one in getattr(group, "url_patterns", []):
            if getattr(group, "app_name", "") in {"surfaces", "dialogue"} and one.name:
                found.append((group.app_name, str(one.pattern), one))
    return found


def is_about_a_row(address: str) -> bool:
    return "<" in address and not address.startswith(OF_THE_HOUSE)


ABOUT_A_ROW = [(app, at, one) for app, at, one in patterns() if is_about_a_row(at)]
LISTS = [(app, at, one) for app, at, one in patterns() if "<" not in at]


def places_of(address: str, name: str, far: Place) -> list[dict[str, Any]]:
    """What of the place outside each address is asked for."""
    kind = address.partition("/")[0]
    if kind == "desk":
        act = {"act": "approve"} if "<slug:act>" in address else {}
        waits = {
            "draft": far.draft, "suspect": far.comment, "account": far.account,
            "tool_call": far.call, "tool_unknown": far.unknown,
        }  # fmt: skip
        return [{"kind": what, "pk": row.pk, **act} for what, row in waits.items()]
    slugs = {"surfaces": far.account.surface.slug, "agents": far.presence.agent.slug}
    keys = {
        "messages": far.comment.pk,
        "threads": far.post.pk,
        "drafts": far.failed.pk if name == "retry" else far.draft.pk,
        "accounts": far.account.pk,
        "presences": far.presence.pk,
        "models": far.brain.pk,
        "stones": far.stone.pk,
        "activations": far.activation.pk,
        "memories": far.memory.pk,
        "agents": far.rule.pk if name == "revoke_rule" else far.event.pk,
    }
    found: dict[str, Any] = {}
    if "<slug:slug>" in address:
        found["slug"] = slugs[kind]
    if "<int:pk>" in address:
        found["pk"] = keys[kind]
    return [found]


@pytest.fixture(params=["surface", "agent"])
def limited(request: Any, client: Client) -> tuple[Client, Place]:
    """Somebody who sees one surface, or one agent; and what is outside."""
    far, near = make_place(SECRET), make_place("harbour")
    agents = ["harbour"] if request.param == "agent" else []
    operator = make_operator(username="mira", role="moderator", agents=agents)
    if request.param == "surface":
        operator.surfaces.add(near.account.surface)
    Pause.objects.create(scope="agent", subject=SECRET, why=SECRET, by="ada", since=NOON)
    client.force_login(operator)
    return client, far


def test_there_is_something_to_ask():
    asked = {one.name for _, _, one in ABOUT_A_ROW}
    assert {"mark_spam", "answer", "thread", "approve", "account", "agent", "resend"} <= asked
    assert len(asked) > 50
    assert len(LISTS) > 12


def test_a_row_outside_is_neither_shown_nor_changed(limited: tuple[Client, Place]):
    client, far = limited
    before, wrong = whole_of_it(), []
    for app, address, one in ABOUT_A_ROW:
        for given in places_of(address, one.name, far):
            place = reverse(f"{app}:{one.name}", kwargs=given)
            posted = {"why": "Tone", "text": "Yes.", "note": "No.", "reason": "Tone"}
            for answer in (
                client.get(place),
                client.get(place, headers={"HX-Request": "true"}),
                client.post(place, posted),
            ):
                if answer.status_code not in {403, 404, 405} or told_of_it(answer):
                    wrong.append((one.name, place, answer.status_code))
    assert wrong == []
    assert whole_of_it() == before


def told_of_it(answer: Any) -> bool:
    return f"{SECRET} s" in answer.content.decode().lower()


def test_a_list_shows_nothing_from_outside(limited: tuple[Client, Place]):
    client, _far = limited
    wrong = []
    for app, _address, one in LISTS:
        if one.name in ENDLESS:
            continue
        for query in ("", "?state=all", "?kind=draft"):
            answer = client.get(reverse(f"{app}:{one.name}") + query)
            shown = answer.content.decode().lower()
            if answer.status_code >= 500 or SECRET in shown:
                at = shown.find(SECRET)
                wrong.append((one.name, query, answer.status_code, shown[at - 80 : at + 20]))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("what", ["all:", "surface:{}", "account:{}-account", "agent:{}"])
@pytest.mark.parametrize("act", ["pause", "resume"])
def test_what_is_outside_cannot_be_paused_or_resumed(
    what: str, act: str, limited: tuple[Client, Place]
):
    client, _far = limited
    before = whole_of_it()
    posted = {"what": what.format(SECRET), "why": "Odd"}
    answer = client.post(reverse(f"surfaces:{act}"), posted)
    assert answer.status_code == (403 if what == "all:" else 404)
    assert whole_of_it() == before


@pytest.mark.parametrize("what", ["account:harbour-account", "agent:harbour", "surface:harbour"])
def test_what_is_within_may_be_paused_and_resumed(what: str, limited: tuple[Client, Place]):
    client, _far = limited
    for act, live in (("pause", 2), ("resume", 1)):
        client.post(reverse(f"surfaces:{act}"), {"what": what, "why": "Odd"})
        assert Pause.objects.live().count() == live


def test_a_surface_that_is_only_partly_within_is_not_paused_whole(client: Client):
    near = make_place("harbour")
    other = make_place(SECRET)
    other.account.surface = near.account.surface
    other.account.save(update_fields=["surface"])
    client.force_login(make_operator(agents=["harbour"]))
    posted = {"what": "surface:harbour", "why": "Odd"}
    answer = client.post(reverse("surfaces:pause"), posted)
    assert answer.status_code == 403
    assert "Pause single accounts" in answer.content.decode()
    assert not Pause.objects.exists()


def test_nobody_writes_a_post_for_an_account_outside(limited: tuple[Client, Place]):
    client, far = limited
    drafts = Draft.objects.count()
    posted = {"account": far.account.pk, "title": "Tides", "text": "They come back."}
    assert client.post(reverse("surfaces:new_post"), posted).status_code == 422
    assert Draft.objects.count() == drafts


def test_what_is_within_is_there(limited: tuple[Client, Place]):
    client, _far = limited
    near = Operator.objects.get(username="mira").reach.accounts
    draft = Draft.objects.waiting().filter(account__in=near).first()
    assert draft is not None
    for name, key in (("draft", draft.pk), ("thread", draft.target.post_id)):
        assert client.get(reverse(f"surfaces:{name}", args=[key])).status_code == 200
    for name, args in (("surfaces:messages", []), ("surfaces:drafts", []),
                       ("dialogue:agents", []), ("surfaces:ledger", [])):  # fmt: skip
        assert "harbour" in client.get(reverse(name, args=args)).content.decode().lower(), name
