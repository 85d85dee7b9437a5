"""English and Chinese are complete: nothing unmarked, untranslated, or out of date."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from config.catalog import books
from config.catalog.__main__ import entries
from config.catalog.marked import Entry
from config.catalog.sentences import of_source
from tests.visible_words import unmarked

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
GAP = re.compile(r"%\(\w+\)[sd]|%[sd]|%\.\d+f|%%|\{\w+\}|<[^>]+>")


@pytest.fixture(scope="module")
def found() -> set[Entry]:
    return entries()


@pytest.fixture(scope="module", params=sorted(books.LOCALES))
def locale(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def kept(locale) -> dict[tuple[str, str], str]:
    return books.translations(books.read(books.path_of(ROOT, locale), locale))


def test_everything_marked_or_said_is_translated(found, kept):
    missing = {(entry.context, entry.words) for entry in found if entry.words.strip()} - {
        key for key, said in kept.items() if said
    }
    assert sorted(missing) == [], "run `make messages` and translate these in locale/"


def test_nothing_is_kept_that_nobody_says_any_more(found, kept):
    assert sorted(set(kept) - {(entry.context, entry.words) for entry in found}) == []


def test_a_translation_has_the_same_gaps(kept):
    different = {
        words: said
        for (_, words), said in kept.items()
        if said and Counter(GAP.findall(words)) != Counter(GAP.findall(said))
    }
    assert different == {}


def test_a_translation_keeps_no_full_stop_of_english(kept):
    assert [said for said in kept.values() if re.search(r"[一-鿿][.,;?!](\s|$)", said)] == []


def test_what_is_compiled_is_what_is_written(locale):
    path, plurals = books.path_of(ROOT, locale), books.LOCALES[locale]
    book = books.read(path, locale)
    assert books.compiled(book, plurals) == path.with_suffix(".mo").read_bytes()
    assert books.as_text(book, plurals) == path.read_bytes()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_visible_word_of_a_template_is_marked(path):
    assert list(unmarked(path.read_text())) == []


@pytest.mark.parametrize(
    "page",
    [
        "<p>Hello</p>",
        "{% if x %}Hello{% endif %}",
        '<a aria-label="Close it">{{ x }}</a>',
        "<input placeholder='Words {{ x }}'>",
        '{% include "a.html" with label="Close it" only %}',
        '{{ name|default:"unknown" }}',
        "{% blocktranslate %}Ja{% endblocktranslate %} nein",
        '{% ago x after=" ago" %}',
    ],
)
def test_a_word_that_is_not_marked_is_found(page):
    assert list(unmarked(page))


@pytest.mark.parametrize(
    "page",
    [
        '<p class="some words">{% translate "Hello" %}</p>',
        "{% blocktranslate with a=b %}Hello {{ a }}{% endblocktranslate %}",
        '<a aria-label="{% translate "Close it" %}">×</a>',
        '{% include "a.html" with label=_("Close it") href="/a/b" only %}',
        "<code>manage.py watch</code> <kbd>Esc</kbd>",
        "{# Needs: a. #}<script>let words = 1;</script>",
        "{% if a == 'some words' %}{{ a }}{% endif %}",
        "Colloquy",
    ],
)
def test_what_needs_no_mark_is_left_alone(page):
    assert list(unmarked(page)) == []


@pytest.mark.parametrize(
    ("source", "sentences"),
    [
        ('raise BadInput("Enter a name.")', ["Enter a name."]),
        ('why = f"Paused by {pause.by_name}, {n:,} times"', ["Paused by {by_name}, {n} times"]),
        ('x = f"{a.name} and {b.name} met"', ["{name} and {name2} met"]),
        ("x = f\"{n} {'try' if n == 1 else 'tries'} left\"", ["{n} try left", "{n} tries left"]),
        ('"""Some words."""\nx = 1', []),
        ('logger.info("Some words here")', []),
        ('x = "SELECT a FROM b"', []),
        ('record("draft.marked_spam")', ["draft marked spam"]),
        ('x = a == "Some words"', []),
        ('def __str__(self):\n    return f"{self.a} of many"', []),
        ('x = _("Some words")', []),
    ],
)
def test_sentences_are_found_in_the_source(source, sentences):
    assert list(of_source(source)) == sentences


def test_both_catalog_files_come_out_the_same_twice(found, kept, locale):
    plurals = books.LOCALES[locale]
    texts = {
        (books.as_text(book, plurals), books.compiled(book, plurals))
        for book in (books.merged(found, kept, locale) for _ in range(2))
    }
    assert len(texts) == 1
