from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser
from time import thread_time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from surfaces.drafts import services as draft_services
from surfaces.models import Message
from surfaces.spam import feedback
from tests.factories import NOON, make_account, make_draft, make_message, make_operator, make_post

pytestmark = pytest.mark.django_db
LIST = "/threads/"
VOID = {"br", "hr", "img", "input", "link", "meta", "path", "circle", "use", "rect"}


def text(response) -> str:
    return response.content.decode()


def page_of(post: Message, query: str = "") -> str:
    return f"/threads/{post.pk}/{query}"


class Balance(HTMLParser):
    """Fails where a list or an item is shut that was not opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.deepest = 0

    def handle_starttag(self, tag, attrs):
        if tag in {"ol", "ul", "li", "article"}:
            self.open.append(tag)
            self.deepest = max(self.deepest, self.open.count("ol"))

    def handle_endtag(self, tag):
        if tag in {"ol", "ul", "li", "article"}:
            assert self.open.pop() == tag


def balance(page: str) -> Balance:
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    return balance


# ── the list ──────────────────────────────────────────────────────────────


def test_the_empty_list_says_what_to_do_next(desk):
    page = text(desk.get(LIST))
    assert "No threads yet" in page
    assert "/posts/new" in page


def test_a_row_counts_what_stands_under_the_post(desk):
    post = make_post(title="On reefs", comment_count=9)
    question = make_message(post=post)
    make_message(post=post, spam_status="spam")
    make_message(post=post, direction="outgoing")
    make_draft(target=question)
    page = text(desk.get(LIST))
    assert "On reefs" in page
    assert '3<span class="meta"> of 9</span>' in page
    assert "1 waiting" in page


def test_a_post_without_a_title_is_called_by_its_words(desk):
    make_post(title="", content="No title, only words.")
    assert "No title, only words." in text(desk.get(LIST))


def test_only_posts_are_threads_and_ours_can_be_told_apart(desk):
    ours, theirs = make_post(title="On reefs"), make_post(title="On moons", direction="incoming")
    make_message(post=ours, content="just a comment")
    page = text(desk.get(LIST, {"direction": "incoming"}))
    assert theirs.title in page
    assert ours.title not in page
    assert "just a comment" not in text(desk.get(LIST))


def test_the_queries_of_the_list_do_not_grow_with_its_rows(desk):
    make_message()
    few = _queries(desk, LIST)
    for _ in range(20):
        make_draft(target=make_message())
    assert _queries(desk, LIST) == few <= 12


# ── one thread ────────────────────────────────────────────────────────────


def test_a_thread_is_a_tree_with_ours_marked(desk):
    post = make_post(content="What is a surface?")
    question = make_message(post=post, content="What does the word add?")
    make_message(post=post, parent=question, direction="outgoing", content="An edge.")
    page = text(desk.get(page_of(post)))
    assert page.index("What is a surface?") < page.index("the word add?") < page.index("An edge.")
    assert page.count('class="node is-ours"') == 2
    assert balance(page).deepest >= 2


def test_a_draft_stands_under_what_it_answers(desk):
    draft = make_draft(text="Because it moves.")
    page = text(desk.get(page_of(draft.target.post)))
    place = page.index(f'id="draft-{draft.pk}"')
    assert page.index(f'id="m{draft.target.pk}"') < place
    assert "Because it moves." in page[place:]
    assert f"/drafts/{draft.pk}/" in page[place:]


def test_the_margin_says_why(desk, noon):
    post = make_post()
    make_message(post=post, reply_why="Nothing was asked.")
    make_message(post=post, reply_status="failed", reply_attempts=10, reply_why="It timed out.")
    make_message(post=post, spam_status="suspect", spam_reasons=[["link", "A new domain"]])
    make_message(post=post, deleted_at=noon)
    judged = make_message(post=post)
    feedback.mark(judged, is_spam=False, by="operator:jonas", now=noon)
    gone = make_draft(target=make_message(post=post))
    draft_services.withdraw(gone, by="operator:mira", now=noon, why="Off topic")
    page = text(desk.get(page_of(post)))
    for words in ["Nothing was asked.", "It timed out.", "A new domain", "Deleted on the surface.",
                  "Jonas marked it as clean.",
                  "Draft withdrawn by mira.", "Off topic"]:  # fmt: skip
        assert words in page


def test_what_we_said_names_who_approved_it(desk):
    post = make_post()
    question = make_message(post=post, reply_status="sent")
    ours = make_message(post=post, parent=question, direction="outgoing")
    make_draft(target=question, state="sent", sent_at=NOON, message=ours,
               decided_by="operator:jonas", decided_at=NOON + timedelta(seconds=31))  # fmt: skip
    assert "Approved by jonas" in text(desk.get(page_of(post)))
    assert "after 31 s" in text(desk.get(page_of(post)))


def test_one_message_is_told_from_seen_to_sent(desk, noon):
    draft = make_draft()
    draft_services.edit(draft, text="Better words.", by="operator:mira", now=noon)
    target = draft.target
    page = text(desk.get(page_of(target.post, f"?message={target.pk}")))
    for words in ["Message timeline", "Read by the watcher", "Draft edited", "Waiting for review"]:
        assert words in page
    assert 'aria-current="true"' in page


def test_a_comments_address_leads_to_its_thread(desk):
    message = make_message()
    response = desk.get(f"/threads/{message.pk}/")
    assert response.url == f"/threads/{message.post_id}/?message={message.pk}#m{message.pk}"


def test_a_message_that_is_gone_shows_the_thread(desk):
    message = make_message(content="still here")
    assert "still here" in text(desk.get(page_of(message.post, "?message=999999")))


@pytest.mark.parametrize(
    "query", ["?message=x", "?from=-1", "?from=%00", "?message=99999999999999999999"]
)
def test_a_broken_query_is_refused(desk, query):
    assert desk.get(page_of(make_message().post, query)).status_code == 400


def test_strangers_words_stay_words(desk):
    post = make_post(title="<script>t()</script>", content="<img src=x onerror=alert(1)>",
                     url="javascript:alert(1)", submolt="<b>m</b>")  # fmt: skip
    make_message(post=post, author='"><script>', content="[click](javascript:alert(1)) مرحبا")
    page = text(desk.get(page_of(post)))
    for bad in ["<script>t()", "<img", 'href="javascript', '"><script>', "<b>m</b>"]:
        assert bad not in page
    assert 'dir="auto"' in page


def test_a_link_out_says_nothing_about_us(desk):
    page = text(desk.get(page_of(make_post(url="https://moltbook.example/post/1"))))
    assert 'href="https://moltbook.example/post/1" rel="nofollow noopener noreferrer"' in page


def test_text_of_two_megabytes_is_shown_cut(desk):
    post = make_post()
    make_message(post=post, content="word " * 400_000)
    response = desk.get(page_of(post))
    assert response.status_code == 200
    assert len(response.content) < 200_000
    assert "more characters" in text(response)


def test_an_empty_thread_says_so(desk):
    assert "No comments yet" in text(desk.get(page_of(make_post())))


def test_a_viewer_reads_and_finds_nothing_to_press(client):
    message = make_message()
    client.force_login(make_operator(role="viewer"))
    page = text(client.get(page_of(message.post)))
    assert message.content in page
    assert f"/messages/{message.pk}/answer" not in page


def test_the_queries_of_a_thread_do_not_grow_with_it(desk):
    post = make_post()
    parent = make_message(post=post)
    few = _queries(desk, page_of(post))
    for _ in range(30):
        parent = make_message(post=post, parent=parent)
        make_draft(target=make_message(post=post))
    assert _queries(desk, page_of(post)) == few <= 12


def test_a_thread_of_ten_thousand_comments_opens_page_by_page(desk):
    post = make_post()
    grow(post, 10_000)
    started = thread_time()
    page = text(desk.get(page_of(post)))
    assert thread_time() - started < 6
    assert page.count('<article class="node') == 201
    assert "Show 9,800 more messages" in page
    assert balance(page).deepest <= 9, "deep talks do not open lists without end"


def test_a_chosen_message_of_a_long_thread_is_on_the_page_that_opens(desk):
    post = make_post()
    grow(post, 1_200)
    last = Message.objects.comments().order_by("-created_at").first()
    page = text(desk.get(page_of(post, f"?message={last.pk}")))
    assert f'id="m{last.pk}"' in page
    assert "Show the previous" in page


def grow(post: Message, count: int) -> None:
    """Talks of a thousand turns each."""
    base = {"account": post.account, "post": post, "kind": "comment", "direction": "incoming",
            "author": "a stranger", "content": "and then?", "seen_at": NOON}  # fmt: skip
    first = post.pk + 1_000_000
    Message.objects.bulk_create(
        Message(
            pk=first + i,
            parent_id=first + i - 1 if i % 1_000 else None,
            remote_id=f"c{i}",
            created_at=NOON + timedelta(seconds=i),
            **base,
        )
        for i in range(count)
    )


def test_threads_of_other_accounts_are_kept_apart(desk):
    mine, other = make_account(), make_account()
    make_post(account=mine, title="Mine")
    make_post(account=other, title="Other")
    page = text(desk.get(LIST, {"account": mine.pk}))
    assert "Mine" in page
    assert "Other" not in page


def _queries(desk, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        desk.get(url)
    return len(queries)


def test_a_thread_points_at_the_first_draft_that_waits(desk):
    post = make_post()
    make_message(post=post)
    draft = make_draft(target=make_message(post=post))
    page = text(desk.get(page_of(post)))
    assert page.count('aria-current="true"') == 1
    assert f'id="m{draft.target_id}" aria-current="true"' in page
    assert "Message timeline" in page


def test_where_nothing_waits_the_newest_message_is_told_but_not_pointed_at(desk):
    post = make_post()
    make_message(post=post, content="older", created_at=NOON - timedelta(hours=1))
    newest = make_message(post=post, content="newest", spam_score=0.1)
    make_message(post=post, spam_status="spam", created_at=NOON + timedelta(hours=1))
    page = text(desk.get(page_of(post)))
    assert 'aria-current="true"' not in page
    assert f'<a href="#m{newest.pk}">' in page
    assert "score 0.10, under 0.40" in page


@pytest.mark.parametrize(("said", "parts"), [
    ("Terms: one. Pointer: two. Exit: three?", ["Terms", "Pointer", "Exit"]),
    ("Before. Terms: one. Exit: three?", ["Terms", "Exit"]),
    ("Pointer: two. Terms: one.", []),
    ("Terms: one, and Terms: again", []),
    ("Only Terms: one part", []),
    ("<b>Terms:</b> none", []),
])  # fmt: skip
def test_our_words_stand_under_the_names_of_their_parts(desk, said, parts):
    draft = make_draft(text=said)
    page = text(desk.get(f"/drafts/{draft.pk}/"))
    assert [name for name in ("Terms", "Pointer", "Exit") if f">{name}: </dt>" in page] == parts
    assert "<b>Terms" not in page


def test_the_button_to_the_surface_never_opens_the_page_a_link_post_points_to(desk):
    account = make_account()
    place = account.surface
    elsewhere = make_post(account=account, url="https://evil.example/paper")
    there = make_post(account=account, url=f"{place.base_url}/post/1")
    pages = [desk.get(f"/threads/{post.pk}/").content.decode() for post in (elsewhere, there)]
    assert [f"Open on {place.name}" in page for page in pages] == [False, True]
    assert "Links to" in pages[0]
