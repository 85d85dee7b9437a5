"""The page of components: contrast as it is, and every part as the program has it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces.home import style_guide
from surfaces.home.style_guide import Colour, contrast, pairs, tokens_of
from tests.factories import make_operator

WHITE, BLACK = Colour(1, 0, 0), Colour(0, 0, 0)


def test_contrast_is_counted_as_wcag_counts_it():
    assert contrast(WHITE, BLACK) == pytest.approx(21, abs=0.01)
    assert contrast(WHITE, WHITE) == pytest.approx(1)
    grey = Colour(0.5999, 0, 0)  # #808080
    assert contrast(grey, WHITE) == pytest.approx(3.95, abs=0.02)
    red = Colour(0.62796, 0.25768, 29.234)  # #ff0000
    assert contrast(red, WHITE) == pytest.approx(4.0, abs=0.02)


def test_every_pair_of_colours_passes_aa_in_both_themes():
    assert len(pairs()) > 30
    assert [pair for pair in pairs() if not pair.passes] == []


def test_the_colours_are_those_of_the_stylesheet(tmp_path):
    styles = tmp_path / "site.css"
    styles.write_text("--ink: light-dark(oklch(24% 0.008 85), oklch(93.5% 0.004 70));")
    ink = tokens_of(styles)["ink"]
    assert (ink.light, ink.dark) == (Colour(0.24, 0.008, 85), Colour(0.935, 0.004, 70))


def test_a_pair_that_is_too_faint_in_one_theme_fails():
    assert not style_guide.Pair("ink-3", "hover", 4.5, light=4.49, dark=9.0).passes


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


@pytest.mark.django_db
def test_every_token_and_every_part_is_shown(admin: Client):
    page = admin.get(reverse("surfaces:components")).content.decode()
    for name in tokens_of():
        assert f'class="t-{name}"' in page
    for part in (
        'class="btn primary"', 'class="badge ok"', 'class="face our"', 'id="row-draft-0"',
        ">Terms</dt>", '<ol class="steps">', 'class="toast"', 'class="error shown"',
        '<table class="table fold">', 'class="none"', 'class="dialog"', 'class="spark"',
        'class="chart"', 'class="notice wait"', 'class="tabs"', 'class="pager"', 'class="decide"',
    ):  # fmt: skip
        assert part in page, part
    assert "90 is too large. Enter 0 to 60 seconds." in page


@pytest.mark.django_db
def test_the_stylesheet_has_a_swatch_for_every_token():
    styles = style_guide.STYLES.read_text(encoding="utf-8")
    for name in tokens_of():
        assert f".t-{name} {{ fill: var(--{name}); }}" in styles


@pytest.mark.django_db
def test_only_administrators_see_it_and_it_asks_the_database_little(admin: Client):
    with CaptureQueriesContext(connection) as asked:
        assert admin.get(reverse("surfaces:components")).status_code == 200
    assert len(asked) <= 12
    admin.force_login(make_operator(role="moderator"))
    assert admin.get(reverse("surfaces:components")).status_code == 403


@pytest.mark.django_db
def test_without_debugging_the_page_is_not_there(admin: Client, settings: Any):
    settings.STYLE_GUIDE = False
    assert admin.get(reverse("surfaces:components")).status_code == 404
