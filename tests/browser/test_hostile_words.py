from __future__ import annotations

from playwright.sync_api import expect

from surfaces.models import Draft, Message
from tests.browser.pages import unanswered
from tests.factories import make_message

NASTY = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
TURNED = "\u202eevil\u202c مرحبا بالعالم 🌊 nothing\u200b here"


def answer(page, text):
    asked = unanswered()
    page.goto(f"/threads/{asked.post_id}/")
    node = page.locator(f"#m{asked.pk}")
    node.get_by_text("Reply", exact=True).click()
    # Put in as a paste puts it; typing two million letters would take the night.
    node.locator("textarea").evaluate("(box, words) => { box.value = words }", text)
    node.get_by_role("button", name="Save draft").click()
    page.wait_for_load_state()
    return node


def test_two_megabytes_pasted_into_an_answer_are_refused_with_a_sentence_and_kept(page_of_mira):
    page = page_of_mira("/")
    before = Draft.objects.count()
    node = answer(page, "word " * 399_999 + "words")
    expect(node.get_by_role("alert")).to_contain_text("The text has 2,000,000 characters")
    assert node.locator("textarea").evaluate("(box) => box.value.length") == 2_000_000
    assert Draft.objects.count() == before


def test_control_characters_are_refused_with_a_sentence(page_of_mira):
    node = answer(page_of_mira("/"), "before after \x07")
    expect(node.get_by_role("alert")).to_contain_text("control characters")


def test_strange_words_are_shown_as_words(page_of_mira):
    page = page_of_mira("/")
    for text in (NASTY, TURNED):
        node = answer(page, text)
        expect(node.locator(".draft .as-sent")).to_have_text(text)
        assert "owned" not in page.title()
        assert page.locator("main img").count() == 0


def test_strangers_cannot_widen_or_script_any_list(page_of_mira):
    post = Message.objects.posts().first()
    long = "https://example.org/" + "a" * 3_000
    make_message(post=post, author="W" * 200, content=f"{NASTY} {long} {TURNED}")
    page = page_of_mira("/", viewport={"width": 390, "height": 844})
    for path in ["/messages/", f"/threads/{post.pk}/"]:
        page.goto(path)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, path
        assert "owned" not in page.title()
