"""English and Chinese are complete: nothing unmarked, untranslated, or out of date."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from config.dev import translations as catalog
from config.dev.translations import Entry, of_python
from tests.visible_words import unmarked

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
GAP = re.compile(r"%\(\w+\)[sd]|%[sd]|%\.\d+f|%%|\{\w+\}|<[^>]+>")


@pytest.fixture(scope="module")
def found() -> set[Entry]:
    return set(catalog.of_tree(ROOT))


@pytest.fixture(scope="module", params=sorted(catalog.LOCALES))
def locale(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def kept(locale) -> dict[tuple[str, str], str]:
    return catalog.translations(catalog.read(catalog.path_of(ROOT, locale), locale))


def test_everything_marked_or_said_is_translated(found, kept):
    missing = {(entry.context, entry.words) for entry in found if entry.words.strip()} - {
        key for key, said in kept.items() if said
    }
    assert sorted(missing) == [], "run `make messages` and translate these in locale/"


def test_nothing_is_kept_that_nobody_says_any_more(found, kept):
    assert sorted(set(kept) - {(entry.context, entry.words) for entry in found}) == []


def test_a_translation_has_the_same_gaps(found, kept):
    """Of a plural, those of its plural form: Chinese has one form for every number."""
    many = {(entry.context, entry.words): entry.many for entry in found if entry.many}
    different = {
        key[1]: said
        for key, said in kept.items()
        if said and Counter(GAP.findall(many.get(key, key[1]))) != Counter(GAP.findall(said))
    }
    assert different == {}


def test_a_translation_keeps_no_full_stop_of_english(kept):
    assert [said for said in kept.values() if re.search(r"[一-鿿][.,;?!](\s|$)", said)] == []


def test_what_is_compiled_is_what_is_written(locale):
    path, plurals = catalog.path_of(ROOT, locale), catalog.LOCALES[locale]
    book = catalog.read(path, locale)
    assert catalog.compiled(book, plurals) == path.with_suffix(".mo").read_bytes()
    assert catalog.as_text(book, plurals) == path.read_bytes()


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
    ("source", "found"),
    [
        ('raise BadInput(_lazy("Enter a name."))', [Entry("Enter a name.")]),
        ('_("Paused by %(by)s") % {"by": by}', [Entry("Paused by %(by)s")]),
        ('ngettext_lazy("%(n)s try", "%(n)s tries", "n")', [Entry("%(n)s try", "%(n)s tries")]),
        ('pgettext("date format", "j M")', [Entry("j M", context="date format")]),
        ('"""Some words."""\nx = "Words that nobody marked."', []),
        ('record("draft.marked_spam", why=reason("draft.expired"))', []),
    ],
)
def test_marked_sentences_are_found_in_the_source_and_nothing_else(source, found):
    assert list(of_python(source)) == found


def test_both_catalog_files_come_out_the_same_twice(found, kept, locale):
    plurals = catalog.LOCALES[locale]
    texts = {
        (catalog.as_text(book, plurals), catalog.compiled(book, plurals))
        for book in (catalog.merged(found, kept, locale) for _ in range(2))
    }
    assert len(texts) == 1
