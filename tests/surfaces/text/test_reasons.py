"""A stored reason is a code with its values, and a sentence only where somebody reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django.utils.functional import lazystr
from django.utils.translation import override

from surfaces.errors import BadInput, NotAllowed, Refused, RuleBroken
from surfaces.models import Draft
from surfaces.text import reasons
from surfaces.text.reasons import (
    StoredReason,
    as_reason,
    fill,
    label,
    note,
    reason,
    register,
    render,
    several,
)
from tests.factories import make_draft
from tests.surfaces.drafts.pages import page_of


def tried_out() -> StoredReason:
    return reason(
        "sending.tried_out",
        most_tries=10,
        why=reason("look.cannot_tell", why=reason("service.not_reached")),
    )


def test_one_row_is_read_in_english_and_in_chinese(db):
    draft = make_draft()
    Draft.objects.filter(pk=draft.pk).update(why=tried_out())
    row = Draft.objects.get(pk=draft.pk)
    with override("en"):
        said = str(row.why)
        assert said.startswith("10 attempts failed. Last error: Delivery unconfirmed: ")
    with override("zh-hans"):
        assert str(row.why).startswith("10 次尝试均失败")
    assert row.why == tried_out()


def test_a_reworded_sentence_needs_no_change_in_the_database(db, monkeypatch):
    draft = make_draft()
    Draft.objects.filter(pk=draft.pk).update(why=reason("draft.expired"))
    monkeypatch.setitem(reasons.SENTENCES, "draft.expired", lazystr("Nobody looked in time."))
    assert str(Draft.objects.get(pk=draft.pk).why) == "Nobody looked in time."


def test_an_unknown_code_breaks_no_page(db, desk):
    draft = make_draft()
    Draft.objects.filter(pk=draft.pk).update(why=reason("nobody.knows", why=reason("nor.this")))
    answer = desk.get(page_of(draft))
    assert answer.status_code == 200
    assert "nobody.knows" in answer.content.decode()


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ({}, ""),
        (None, ""),
        ("", ""),
        ({"code": "note", "text": "100 %(n)s {0} <b>"}, "100 %(n)s {0} <b>"),
        ({"code": "nobody.knows", "n": 1}, "nobody.knows"),
        ({"code": "look.cannot_tell"}, "Delivery unconfirmed: ?."),
        ({"code": "look.cannot_tell", "why": None}, "Delivery unconfirmed: ?."),
        ({"code": "look.cannot_tell", "why": {"code": "x.y"}},
         "Delivery unconfirmed: x.y."),
        ({"code": "several", "reasons": [{"code": "x.y"}, {"code": "note", "text": "Z."}]},
         "x.y Z."),
        ({"code": "several"}, ""),
        ({"code": "spam.links", "n": "many"}, "? links"),
    ],
)  # fmt: skip
def test_rendering_never_fails(stored, shown):
    if stored and stored.get("n") == "many":
        assert render(stored)
    else:
        assert render(stored) == shown


def test_values_are_shown_in_the_readers_language():
    at = datetime(2026, 11, 22, 8, 5, tzinfo=UTC)
    given = {"n": 2011, "at": at, "span": timedelta(minutes=134), "list": ["a", "b"], "x": 0.5}
    values = reason("x.y", **given)
    with override("en"):
        sentence = "%(n)s, %(at)s, %(span)s, %(list)s, %(x)s"
        assert fill(sentence, values) == "2,011, 22 Nov, 08:05 UTC, 2 h 14 min, a, b, 0.5"
    with override("zh-hans"):
        assert fill("%(span)s %(list)s", values) == "2 小时 14 分钟 a、b"


def test_a_number_chooses_between_one_and_many():
    assert render(reason("spam.links", n=1)) == "1 link"
    assert render(reason("spam.links", n=3)) == "3 links"


def test_a_sentence_inside_another_brings_no_second_full_stop():
    inner = reason("draft.expired")
    assert render(reason("look.failed", found=inner)).count(".") == 1
    assert render(reason("sending.tried_out", most_tries=10, why=inner)).endswith(
        "operator decided."
    )


def test_what_a_person_typed_is_shown_as_it_is():
    assert str(note("Too early, %(x)s")) == "Too early, %(x)s"
    assert note("") == {}
    assert as_reason("Too early") == note("Too early")
    assert as_reason("draft.expired") == reason("draft.expired")


def test_a_code_means_one_thing():
    with pytest.raises(ValueError, match=r"draft\.expired"):
        register({"draft.expired": "Something else."})


def test_several_reasons_are_one():
    assert several([]) == {}
    assert several(["draft.expired"]) == reason("draft.expired")
    assert str(several(["draft.retried", note("Well.")])) == "Retried by an operator. Well."


def test_a_broken_rule_is_filled_when_it_is_shown():
    error = NotAllowed(lazystr("Draft %(id)s was sent."), id=12)
    assert str(error) == "Draft 12 was sent."
    assert str(RuleBroken("100 % of it")) == "100 % of it"
    assert str(BadInput("text.too_long", length=2011, label="Hub", most=2000)) == (
        "The text has 2,011 characters. Hub allows 2,000."
    )


def test_an_error_of_a_service_carries_its_reason():
    error = Refused(reason("moltbook.key_refused", said=note("bad key")))
    assert error.reason.code == "moltbook.key_refused"
    assert str(error) == "the key was rejected: bad key"
    assert str(Refused("in its own words")) == "in its own words"


def test_the_same_reason_has_the_same_digest_in_every_language():
    one = reason("stale.edited", what=reason("part.comment"))
    with override("zh-hans"):
        assert StoredReason(dict(reversed(one.items()))).digest == one.digest
    assert StoredReason().digest == ""


def test_names_of_machines_are_spelled_out():
    assert label("action", "draft.approved") == "draft approved"
    assert label("action", "nobody.knows_it") == "nobody knows it"
    assert label("word", "anthropic:claude-4.5") == "anthropic:claude-4.5"


@pytest.mark.parametrize(
    "value",
    [{"at": "0001-01-01T00:00:00+00:00"}, {"at": "9999-12-31T23:59:59+00:00"}, {"span": 1e30}],
)
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_moment_beyond_every_calendar_does_not_break_a_sentence(value, zone):
    with timezone.override(zone):
        assert fill("It waits until %(gap)s.", {"gap": value}).startswith("It waits until ")
