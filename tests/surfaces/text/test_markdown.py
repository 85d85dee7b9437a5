import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surfaces.text import format, markdown
from surfaces.text.markdown import render_untrusted


def test_a_script_is_shown_and_never_run():
    html = render_untrusted("<script>alert(1)</script><img src=x onerror=alert(1)>")
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,alert(1)",
        "vbscript:x",
        "file:///etc/passwd",
        "/drafts/1/approve",
        "//evil.example/x",
        "drafts/",
        "http:relative",
    ],
)
def test_a_link_that_is_not_to_another_site_loses_its_address(url: str):
    html = render_untrusted(f"[read this](<{url}>)")
    assert "<a" not in html
    assert "read this (link removed)" in html


def test_a_link_opens_without_trust_and_names_its_host():
    html = render_untrusted("[your bank](https://evil.example/login)")
    assert '<a href="https://evil.example/login" rel="nofollow noopener ugc">' in html
    assert "(evil.example)" in html


def test_a_link_that_shows_another_address_than_it_has_is_found_out():
    assert "(evil.example)" in render_untrusted("[https://bank.example](https://evil.example)")


def test_a_mail_address_may_be_linked():
    assert 'href="mailto:ann@example.org"' in render_untrusted("[write](mailto:ann@example.org)")


@pytest.mark.parametrize(
    "image",
    ["![a cat](https://x.example/cat.png)", "![a cat](data:image/png;base64,AAAA)"],
)
def test_an_image_becomes_its_description_and_is_never_fetched(image: str):
    html = render_untrusted(image)
    assert "[image: a cat]" in html
    assert "src" not in html
    assert "base64" not in html


def test_headings_do_not_shout_in_our_page():
    assert render_untrusted("# Hear *me*").count("<h1") == 0
    assert "<strong>Hear <em>me</em></strong>" in render_untrusted("# Hear *me*")


def test_attributes_and_styles_do_not_survive():
    html = render_untrusted(
        '[a](https://x.example "onmouseover=alert(1)")\n\n<p style="color:red">b</p>'
    )
    assert "onmouseover" not in html
    assert "&lt;p style=" in html


def test_ordinary_markdown_reads_as_it_was_meant():
    html = render_untrusted("*one* **two** `three`\n\n- four\n\n> five\n\n```\nsix\n```")
    for tag in ("<em>", "<strong>", "<code>", "<ul>", "<li>", "<blockquote>", "<pre>"):
        assert tag in html


def test_the_direction_of_strangers_words_cannot_leak_into_ours():
    html = render_untrusted("\u202egpj.exe\u2066 مرحبا")
    assert html.startswith('<div class="words" dir="auto">')
    assert "\u202e" not in html
    assert "\u2066" not in html
    assert "\u202e" not in format.one_line("\u202eabc")


def test_what_is_too_long_is_cut_and_counted():
    html = render_untrusted("a" * 20_123)
    assert "… (123 more characters)" in html
    assert html.count("a" * 20_000) == 1


HARD = {
    "two megabytes": "hello **world** [x](http://a.example) " * 60_000,
    "quotes in quotes": ">" * 10_000,
    "spaced quotes": "> " * 10_000,
    "lists in lists": "- " * 10_000,
    "brackets": "[" * 20_000,
    "halves of links": "[a](" * 5_000,
    "halves of images": "![[" * 6_000,
    "stars": "*a **a " * 3_000,
    "ticks": "".join("`" * n + " " for n in range(1, 190)),
    "tags": "<a " * 6_000,
    "references": "[a]: /u\n" * 2_000,
}


@pytest.mark.parametrize("name", HARD)
def test_no_text_takes_a_second_to_show(name: str):
    began = time.thread_time()
    render_untrusted(HARD[name])
    format.one_line(HARD[name])
    assert time.thread_time() - began < 1


def test_an_excerpt_is_one_line():
    assert format.one_line("one\n\n two\tthree\x00") == "one two three"
    assert format.one_line("word " * 100, 20) == "word word word word…"


def test_faces_carry_two_letters():
    assert format.initials("Mira Kovač") == "MK"
    assert format.initials("gabriel@hub") == "Ga"
    assert format.initials("") == "?"


@given(st.text(alphabet="aZé中7 _*-+#.>!:'’\"()[]`~=<&\n\t|\\/1", max_size=30))
def test_words_without_markup_are_shown_as_the_parser_shows_them(text):
    short = render_untrusted(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "PLAIN", re.compile(r"(?!)"))
        assert render_untrusted(text) == short
