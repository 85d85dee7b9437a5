import re

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.models import AuditEvent

pytestmark = pytest.mark.django_db


def lines(count: int, **given: str) -> None:
    for _ in range(count):
        AuditEvent.objects.record(
            given.get("action", "draft.approved"),
            actor=given.get("actor", "operator:mira"),
            subject=given.get("subject", "draft:1"),
            why=given.get("why", ""),
        )


def page(client: Client, query: str = "") -> str:
    response = client.get(reverse("surfaces:ledger") + query)
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_ledger_says_so(desk: Client):
    assert "No entries yet" in page(desk)


def test_a_line_says_who_did_what_to_what_and_why(desk: Client):
    lines(1, why="it repeats <us>")
    html = page(desk)
    for words in ("mira", "draft approved", "/drafts/1/", "it repeats &lt;us&gt;"):
        assert words in html


@pytest.mark.parametrize(
    "query", ["?actor=mira", "?actor=operator:mira", "?action=draft.sent", "?subject=draft:7"]
)
def test_filters_narrow_by_who_what_and_to_what(desk: Client, query: str):
    lines(1, actor="sender", action="message.stored", subject="message:9")
    lines(1, actor="operator:mira", action="draft.sent", subject="draft:7")
    html = page(desk, query)
    assert html.count("<tr>") == 2, "the head and one line"
    assert "draft sent" in html


def test_a_filter_that_finds_nothing_says_how_to_go_on(desk: Client):
    lines(1)
    assert "No entries match" in page(desk, "?actor=nobody")


def test_paging_shows_every_line_once_and_leads_back(desk: Client):
    lines(120)
    seen: list[str] = []
    html = page(desk)
    for _ in range(3):
        seen += re.findall(r'datetime="([^"]+)"', html)
        older = re.search(r'href="(\?[^"]+)" data-page="older"', html)
        if older is None:
            break
        html = page(desk, older[1].replace("&amp;", "&"))
    assert len(seen) == len(set(seen)) == 120
    newer = re.search(r'href="(\?[^"]+)" data-page="newer"', html)
    assert newer
    assert page(desk, newer[1].replace("&amp;", "&")).count("<tr>") == 51


def test_paging_keeps_the_filter(desk: Client):
    lines(60, actor="sender")
    assert re.search(r'href="\?actor=sender&amp;before=\d+"', page(desk, "?actor=sender"))


@pytest.mark.parametrize("query", ["?before=x", "?before=-1", f"?before={'9' * 40}", "?after=²"])
def test_a_key_that_is_none_is_refused_with_a_sentence(desk: Client, query: str):
    answer = desk.get(reverse("surfaces:ledger") + query)
    assert answer.status_code == 400
    assert "is not a valid value for" in answer.content.decode()


def test_a_far_page_is_found_by_key_and_not_by_counting(desk: Client, django_assert_num_queries):
    lines(60)
    last = AuditEvent.objects.order_by("pk")[5].pk
    html = page(desk, f"?before={last}")
    assert html.count("<tr>") == 6


def test_an_action_is_chosen_by_the_words_that_the_page_shows(desk: Client):
    html = page(desk, "?action=draft.sent")
    assert '<option value="draft.composed">draft written</option>' in html
    assert '<option value="draft.sent" selected>draft sent</option>' in html


def test_an_unknown_action_stays_chosen(desk: Client):
    assert '<option value="no.such" selected>no such</option>' in page(desk, "?action=no.such")
