"""Twelve weeks of stones: how often they explored, and what each kind earned."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.dialogue.stones.pages import LIST, make_laid, make_stone, text, words
from tests.factories import make_presence

pytestmark = pytest.mark.django_db


def test_the_share_of_exploring_stands_beside_the_setting(desk):
    presence = make_presence()
    for kind in ["explore", "exploit", "exploit", "exploit", "exploit"]:
        make_stone(presence=presence, kind=kind, share=0.3)
    page = text(desk.get(LIST))
    assert "1 of 5 stones, 20 %; setting 30 %" in page
    assert "1 of 5 stones, 20 %; setting 30 %. This week 1 of 5." in page
    (now,) = re.findall(r'<rect class="col now"[^>]*>', page)
    assert 'height="20.0"' in now
    assert 'y="104.0"' in now
    assert 'y1="94.0" y2="94.0"' in page  # the setting, dashed


def test_weeks_are_told_apart_and_older_ones_left_out(desk):
    presence, now = make_presence(), timezone.now()
    make_stone(presence=presence, kind="explore", chosen_at=now - timedelta(weeks=3))
    make_stone(presence=presence, kind="exploit", chosen_at=now)
    make_stone(presence=presence, kind="explore", chosen_at=now - timedelta(weeks=13))
    page = desk.get(LIST)
    assert "1 of 2 stones, 50 %" in text(page)
    rows = re.findall(r"<tr><td>[^<]+</td>(.*?)</tr>", text(page))
    figures = [re.findall(r">([^<>]+)</td>", row)[:3] for row in rows]
    assert len(figures) == 12
    assert figures[-1] == ["0", "1", "0 %"]
    assert figures[-4] == ["1", "0", "100 %"]
    assert figures[0] == ["0", "0", "–"]


def test_what_each_kind_earned_is_an_average_over_what_was_sent(desk):
    make_laid("ann", "ben", "ann", kind="explore")
    make_laid(kind="explore")
    make_laid("cat", kind="exploit")
    make_stone(kind="exploit")  # not sent: it could not earn
    page = words(desk.get(LIST))
    assert "3 stones sent in twelve weeks" in page
    assert "Explore, 2 stones: 1.5 comments by 1.0 people." in page
    assert "Exploit, 1 stone: 1.0 comments by 1.0 people." in page
    assert "Explore 2 3 1.5 2 1.0" in page
    bars = re.findall(
        r'<rect class="col (explore|exploit)"[^>]*width="([^"]+)"', text(desk.get(LIST))
    )
    assert bars == [
        ("explore", "62.0%"), ("exploit", "41.3%"), ("explore", "41.3%"), ("exploit", "41.3%"),
    ]  # fmt: skip


def test_before_anything_was_sent_nothing_is_compared(desk):
    make_stone()
    page = words(desk.get(LIST))
    assert "None of these stones has been sent" in page
    assert "1 of 1 stone, 100 %" in page
