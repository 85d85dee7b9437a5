"""Whoever looks is spoken to in their language, on every page."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import translation

from config.dev import translations as catalog
from surfaces.models import InstanceSettings
from surfaces.templatetags.message_tags import clock
from tests.browser.pages import pages
from tests.browser.processes import put_to_work
from tests.factories import make_operator

ROOT = Path(__file__).resolve().parent.parent
HAN = re.compile(r"[一-鿿]")
HALF_WIDTH = re.compile(r"[一-鿿”）] ?[,;:](\s|$)|^[,;:](\s|$)")
MONTH = re.compile(r"\d [一二三四五六七八九十]+月")
# Told in English, too: names, words of people, and what a machine calls something.
ELSEWHERE = {"script", "style", "code", "kbd", "pre", "bdi", "option", "textarea", "samp"}
VOID = {"input", "br", "img", "meta", "link", "hr", "use", "path", "circle", "rect", "line", "wbr",
        "polyline", "col", "source"}  # fmt: skip
SHOWN = {"aria-label", "placeholder", "title", "alt", "data-l"}
SAME = {"English", "draft.approved", "draft:12", "mira, sender", "en", "zh-hans", "id", "webhook",
        "openclaw", "Webhook", "UTC", "JSON schema"}  # fmt: skip


class Seen(HTMLParser):
    """Every text that a page shows, outside what other people wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    @property
    def is_silent(self) -> bool:
        return any(is_silent for _, is_silent in self.open)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        css = (given.get("class") or "").split()
        theirs = {"words", "as-sent", "face", "post-title", "mono"} & {*css}
        if not self.is_silent:
            self.texts += [value for name, value in attrs if name in SHOWN and value]
        if tag not in VOID:
            self.open.append((tag, tag in ELSEWHERE or bool(theirs)))

    def handle_startendtag(self, tag, attrs):
        """Nothing inside."""

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not self.is_silent and data.strip():
            self.texts.append(" ".join(data.split()))


def texts(html: str) -> list[str]:
    seen = Seen()
    seen.feed(html)
    return seen.texts


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Everything the catalog could have said in Chinese."""
    book = catalog.translations(catalog.read(catalog.path_of(ROOT, "zh_Hans"), "zh_Hans"))
    return {words for (_, words), said in book.items() if said != words} - SAME


@pytest.fixture
def chinese(transactional_db, client):
    operator = make_operator(username="mira", role="admin", first_name="Mira", language="zh-hans")
    client.force_login(operator)
    return client


def test_no_page_shows_english_that_the_catalog_could_say_in_chinese(chinese, known):
    call_command("demo", stdout=io.StringIO())
    put_to_work()
    left: dict[str, set[str]] = {}
    shown = {name: path for name, path in pages().items() if name != "components"}  # token names
    for name, path in shown.items():
        answer = chinese.get(path)
        assert answer.status_code == 200, name
        if found := {
            text for text in texts(answer.content.decode()) if text.strip(" .:,") in known
        }:
            left[name] = found
    assert left == {}


def test_the_page_says_its_language(chinese):
    answer = chinese.get("/")
    assert '<html lang="zh-hans"' in answer.content.decode()
    assert answer["Content-Language"] == "zh-hans"
    assert "Accept-Language" in answer["Vary"]


@pytest.mark.parametrize(
    ("chosen", "asked", "language"),
    [
        ("zh-hans", "en", "zh-hans"),
        ("en", "zh-CN", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh-hans"),
        ("", "fr, en;q=0.5", "en"),
        ("", "de-DE", "en"),
        ("", "", "en"),
        ("", "*", "en"),
        ("", "\x00;q=9", "en"),
    ],
)
def test_the_operators_choice_comes_before_the_browsers(db, client, chosen, asked, language):
    client.force_login(make_operator(username="mira", role="viewer", language=chosen))
    headers = {"Accept-Language": asked} if asked else {}
    assert client.get("/", headers=headers)["Content-Language"] == language


def test_who_is_not_signed_in_is_asked_in_their_language(db, client):
    answer = client.get("/sign-in", headers={"Accept-Language": "zh-CN"})
    assert '<html lang="zh-hans"' in answer.content.decode()
    assert "登录" in answer.content.decode()


def test_the_house_speaks_where_the_browsers_language_is_unknown(db, client):
    InstanceSettings.objects.update_or_create(pk=1, defaults={"language": "zh-hans"})
    assert (
        client.get("/sign-in", headers={"Accept-Language": "de"})["Content-Language"] == "zh-hans"
    )
    assert client.get("/sign-in", headers={"Accept-Language": "en"})["Content-Language"] == "en"


def test_one_persons_language_does_not_stay_for_the_next(chinese, client):
    before = translation.get_language()
    chinese.get("/")
    assert translation.get_language() == before


def test_a_refusal_is_told_in_chinese(chinese):
    answer = chinese.post("/pause", {"what": "surface:nothing", "why": "test"}, follow=True)
    shown = " ".join(texts(answer.content.decode()))
    assert "没有平台 nothing" in answer.content.decode()
    assert HAN.search(shown)


def test_a_missing_page_is_missed_in_chinese(chinese):
    answer = chinese.get("/nothing/here")
    assert answer.status_code == 404
    assert "找不到页面" in answer.content.decode()


def test_no_page_shows_english_punctuation_or_dates_in_chinese(chinese):
    call_command("demo", stdout=io.StringIO())
    put_to_work()
    left: dict[str, set[str]] = {}
    shown = {name: path for name, path in pages().items() if name != "components"}
    for name, path in shown.items():
        seen = texts(chinese.get(path).content.decode())
        if found := {text for text in seen if HALF_WIDTH.search(text) or MONTH.search(text)}:
            left[name] = found
    assert left == {}


def test_a_time_is_shown_in_the_order_of_chinese_dates(chinese):
    moment = datetime(2021, 11, 22, 11, 23, 54, tzinfo=UTC)
    with translation.override("zh-hans"):
        assert 'title="2021年11月22日 11:23:54 UTC"' in clock(moment)
