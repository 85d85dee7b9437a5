"""Our templates, compiled once per language, show what Django's own loader makes of them."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.template import Context, Engine
from django.template.base import TextNode, VariableNode
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.safestring import mark_safe

from surfaces.web import template_nodes
from surfaces.web.template_nodes import resolve_address

FILES = "django.template.loaders.filesystem.Loader"
LIBRARIES = {
    "i18n": "django.templatetags.i18n",
    "static": "django.templatetags.static",
}
PIECES = {
    "words": "{% translate 'Threads' %} {% translate 'Threads' as named %}{{ named }} {% stop %}",
    "percent": "{% translate 'A 5% share' %} {% blocktranslate %}A 5% share{% endblocktranslate %}",
    "sentence": "{% blocktranslate with n=number|number %}{{ n }} waiting{% endblocktranslate %}",
    "named sentence": "{% blocktranslate asvar it with name=wild %}By {{ name }}"
    "{% endblocktranslate %}{{ it }}",
    "outer gap": "{% blocktranslate %}Desk, {{ number }} waiting, {{ nobody }}"
    "{% endblocktranslate %}",
    "plural": "{% blocktranslate count n=number %}{{ n }} draft{% plural %}{{ n }} drafts"
    "{% endblocktranslate %}",
    "values": "{{ wild }}|{{ safe }}|{{ number }}|{{ share }}|{{ nothing }}|{{ nobody }}|{{ at }}"
    "|{{ yes }}",
    "lookups": "{{ row.author }}|{{ row.call }}|{{ table.key }}|{{ list.1 }}|{{ row.gone.more }}"
    "|{{ table.items }}",
    "filters": "{{ nothing|default:_('unknown') }}|{{ _('Threads')|lower }}|{{ wild|plain:3 }}",
    "conditions": "{% if row.author == wild and not nothing %}a{% elif number > 3 %}b{% else %}c"
    "{% endif %}",
    "loops": "{% for a, b in pairs %}{{ forloop.counter }}{{ a }}{{ b }}{% empty %}-{% endfor %}",
    "addresses": "{% url 'surfaces:desk' %}|{% url 'surfaces:thread' number %}"
    "|{% url 'surfaces:desk_item' 'draft' number %}"
    "|{% url 'surfaces:thread' number as there %}{{ there }}"
    "|{% url 'surfaces:thread' wild as nowhere %}{{ nowhere }}",
    "pictures": "{% icon 'home' %}{% icon picture %}{% static 'site.css' %}{% face wild 'bot' %}",
    "includes": "{% include 'part.html' %}{% include 'part.html' with wild='given' %}"
    "{% include 'part.html' with wild=_('Threads') only %}{{ inner }}",
    "unescaped": "{% autoescape off %}{{ wild }}{% translate 'Threads' %}{% endautoescape %}",
    "another language": "{% language 'en' %}{% translate 'Threads' %}{% endlanguage %}",
    "forms": "{% csrf_token %}{% csrf_token %}",
    "notes": "a{# no #}{% comment %}no{% endcomment %}b",
}
GIVEN = {
    "wild": "<b>&'\"",
    "safe": mark_safe("<b>"),
    "number": 1_234_567,
    "share": 0.5,
    "nothing": None,
    "yes": True,
    "at": datetime(2026, 11, 21, 12, tzinfo=UTC),
    "row": SimpleNamespace(author="<b>&'\"", call=lambda: "called", gone=None),
    "table": {"key": "value"},
    "list": ["a", "<b>"],
    "pairs": [("<", 1), ("b", 2)],
    "picture": "desk",
    "csrf_token": "secret",
}


@pytest.fixture
def engines(tmp_path):
    """Django's way, and ours, over the same files."""
    part = "{% translate 'Threads' as inner %}[{{ wild }}{{ number }}{{ inner }}]"
    loads = "{% load i18n static %}"
    for name, piece in {**PIECES, "part": part}.items():
        (tmp_path / f"{name}.html").write_text(loads + piece)
    given = {
        "dirs": [tmp_path],
        "builtins": ["surfaces.templatetags.formatting"],
        "libraries": LIBRARIES,
    }
    ours = [("surfaces.web.template_loader.Loader", [FILES])]
    return Engine(**given, loaders=[FILES]), Engine(**given, loaders=ours)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("name", PIECES)
def test_a_template_shows_what_django_would_show(engines, name, language):
    with translation.override(language):
        theirs, ours = (engine.get_template(f"{name}.html") for engine in engines)
        expected = theirs.render(Context(GIVEN))
        assert ours.render(Context(GIVEN)) == expected
        other = {**GIVEN, "number": 7, "wild": "calm", "pairs": []}
        assert ours.render(Context(other)) == theirs.render(Context(other))


def test_what_never_changes_is_text(engines):
    (node,) = engines[1].get_template("notes.html").nodelist
    assert isinstance(node, TextNode)
    nodes = engines[1].get_template("pictures.html").nodelist
    assert [type(node).__name__ for node in nodes].count("SimpleNode") == 2  # what is not fixed


def test_each_language_has_a_copy_of_its_own(engines):
    shown = set()
    for language in ("en", "zh-hans", "en"):
        with translation.override(language):
            shown.add(engines[1].get_template("words.html").render(Context()))
    assert len(shown) == 2


def test_indents_are_left_out_between_elements_and_kept_in_values(tmp_path):
    (tmp_path / "a.html").write_text("<p>\n    {{ words }}\n  </p>\n\n  <p>b</p>")
    engine = Engine(dirs=[tmp_path], loaders=[("surfaces.web.template_loader.Loader", [FILES])])
    shown = engine.get_template("a.html").render(Context({"words": "a\n    b"}))
    assert shown == "<p>\na\n    b\n</p>\n<p>b</p>"


def test_a_template_that_includes_itself_comes_to_an_end(tmp_path):
    (tmp_path / "a.html").write_text(
        "{% for a in rows %}<{% include 'a.html' with rows=a %}>{% endfor %}"
    )
    engine = Engine(dirs=[tmp_path], loaders=[("surfaces.web.template_loader.Loader", [FILES])])
    assert engine.get_template("a.html").render(Context({"rows": [[[]], []]})) == "<<>><>"


def test_templates_of_others_stay_as_they_are():
    from django.template import engines as all_engines

    template = all_engines["django"].engine.get_template("admin/login.html")
    assert not any(isinstance(node, template_nodes.ValueNode)
                   for node in template.nodelist.get_nodes_by_type(VariableNode))  # fmt: skip


def test_a_translation_with_other_gaps_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(template_nodes, "gettext", lambda words: "%(other)s")
    (tmp_path / "a.html").write_text(
        "{% load i18n %}{% blocktranslate with n=1 %}{{ n }} of many{% endblocktranslate %}"
    )
    engine = Engine(
        dirs=[tmp_path],
        libraries=LIBRARIES,
        loaders=[("surfaces.web.template_loader.Loader", [FILES])],
    )
    assert engine.get_template("a.html").render(Context()) == "1 of many"


@pytest.mark.parametrize("given", [(), (0,), (7,), (2**62,), ("8",)])
def test_an_address_is_what_reverse_says(given):
    name = "surfaces:thread" if given else "surfaces:desk"
    assert resolve_address(name, *given) == reverse(name, args=given)
    if given:
        item, pair = "surfaces:desk_item", ("draft", *given)
        assert resolve_address(item, *pair) == reverse(item, args=pair)


@pytest.mark.parametrize("given", [("x",), (-1,), (None,), (True,), (1, 2)])
def test_an_address_that_cannot_be_is_refused(given):
    with pytest.raises(NoReverseMatch):
        resolve_address("surfaces:thread", *given)
