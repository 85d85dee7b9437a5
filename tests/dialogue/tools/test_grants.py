"""Grants: what is granted is granted, what is denied is denied, and nothing else is."""

from __future__ import annotations

import pytest

from dialogue.reason_texts.tools import TEXTS
from dialogue.tools.grants import (
    CHECKED_BY_TOOL,
    allows,
    check_grant,
    check_grants,
    meaning,
    offers,
)
from surfaces.errors import BadInput


@pytest.mark.parametrize(
    ("grants", "scope", "resource", "is_allowed"),
    [
        ([], "hub:read", "", False),
        (["hub:read"], "hub:read", "", True),
        (["hub:read"], "hub:read", "commons", True),
        (["hub:read"], "hub:write", "", False),
        (["hub:*"], "hub:write", "commons", True),
        (["*:read"], "moltbook:read", "", True),
        (["*:*"], "anything:whatever", "at all", True),
        (["hub:write:commons"], "hub:write", "commons", True),
        (["hub:write:commons"], "hub:write", "news", False),
        (["hub:write:commons"], "hub:write", "", False),
        (["hub:write:*"], "hub:write", "", True),
        (["mcp:Files:read_file"], "mcp:Files", "read_file", True),
        (["mcp:Files:read_file"], "mcp:Files", "delete_file", False),
        (["hub:write", "!hub:write:news"], "hub:write", "news", False),
        (["hub:write", "!hub:write:news"], "hub:write", "commons", True),
        (["hub:write:news", "!hub:write"], "hub:write", "news", False),
        (["hub:write", "!hub:write:news"], "hub:write", "News", False),
        (["hub:write", "!hub:write:news"], "hub:write", "m/ne\u200bws/", False),
        (["hub:write:news"], "hub:write", "News", False),
        (["!*:write", "hub:*"], "hub:write", "", False),
        (["!*:write", "hub:*"], "hub:read", "", True),
        (["hub:write:news"], "hub:write", "NEWS", False),
        (["hub:write:a:b"], "hub:write", "a:b", True),
    ],
)
def test_deny_wins_and_a_part_may_be_a_star(
    grants: list[str], scope: str, resource: str, is_allowed: bool
):
    assert allows(grants, scope, resource) is is_allowed


def test_a_stored_grant_that_cannot_be_read_grants_nothing_and_denies_all():
    assert not allows(["hub;read", "hub:", ":read", " hub:read"], "hub:read")
    assert not allows(["hub:read", "!hub;write"], "hub:read")


def test_a_tool_is_offered_where_some_resource_is_granted():
    assert offers(["hub:write:news"], "hub:write")
    assert allows(["hub:write:news"], "hub:write", CHECKED_BY_TOOL)
    assert not offers(["hub:write:news", "!hub:write:news"], "hub:write")
    assert not offers(["hub:write", "!hub:*"], "hub:write")
    assert not offers(["hub:read"], "hub:write")
    assert offers(["hub:write", "!hub:write:news"], "hub:write")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "grant.wrong_form"),
        ("hub", "grant.wrong_form"),
        ("hub:", "grant.wrong_form"),
        ("hub:read:", "grant.wrong_form"),
        ("Hub:read", "grant.wrong_form"),
        ("!!hub:read", "grant.wrong_form"),
        (" hub:read", "grant.wrong_form"),
        ("hub:read ", "grant.wrong_form"),
        ("hub:r*", "grant.wrong_form"),
        ("hub :read", "grant.wrong_form"),
        ("hub:raed", "grant.no_such_scope"),
        ("moltbook:run", "grant.no_such_scope"),
        ("hub:read:" + "x" * 120, "grant.too_long"),
        ("hub:read:a\u200bb", "grant.invisible"),
        ("hub:read:a\x00b", "grant.invisible"),
        ("hub:read:a\nb", "grant.invisible"),
        ("hub:read:\ud800", "grant.invisible"),
        ("<script>:read", "grant.wrong_form"),
    ],
)
def test_what_is_no_grant_is_refused_with_the_reason(text: str, code: str):
    with pytest.raises(BadInput) as raised:
        check_grant(text)
    assert raised.value.reason.code == code
    assert "\x00" not in str(raised.value)


def test_a_list_of_grants_is_bounded_and_names_what_is_there_twice():
    with pytest.raises(BadInput) as raised:
        check_grants([f"hub:read:c{n}" for n in range(101)])
    assert raised.value.reason.code == "grant.too_many"
    with pytest.raises(BadInput) as raised:
        check_grants(["hub:read", "hub:read:*"])
    assert raised.value.reason.code == "grant.twice"
    assert [str(grant) for grant in check_grants(["!hub:write:news", "hub:*"])] == [
        "!hub:write:news", "hub:*",
    ]  # fmt: skip


def test_a_grant_says_what_it_means():
    said = [str(meaning(check_grant(text))) for text in (
        "hub:read", "!*:write", "hub:write:news", "mcp:files:read_file", "!hub:*:news",
    )]  # fmt: skip
    assert said == [
        "May read: hub", "May never write: every service", "May write: hub, only news",
        "May files: mcp, only read_file", "May never do everything: hub, news",
    ]  # fmt: skip


def test_every_reason_of_grants_has_a_sentence():
    assert {"grant.allow", "grant.scope_any", "grant.scope_run"} <= TEXTS.keys()
