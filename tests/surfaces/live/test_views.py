"""The answers to a page's script: a stream, or how things stand."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.live import views as live_views
from surfaces.live.snapshot import SharedSnapshot
from surfaces.live.streams import of_this_process
from surfaces.models import DeskItem
from tests.factories import make_account, make_message, make_operator, make_surface

pytestmark = pytest.mark.django_db
STREAM, NOW, NEWS = (reverse(f"surfaces:{name}") for name in ("live", "live_now", "live_news"))


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    """Tests ask faster than once a second."""
    monkeypatch.setattr(live_views, "_shared", SharedSnapshot(lasts=0))


def test_a_server_that_can_hold_no_stream_says_so_without_an_error(desk):
    assert desk.get(STREAM).status_code == 204


def test_a_server_that_can_is_given_a_stream_and_gzip_leaves_it_alone(desk, operator):
    async_body = []
    answer = desk.get(
        STREAM, headers={"Accept-Encoding": "gzip"}, **{live_views.ASYNC_BODY: async_body}
    )
    assert answer["Content-Type"].startswith("text/event-stream")
    assert answer["Content-Encoding"] == "identity"
    assert b"".join(answer.streaming_content).startswith(b"retry: ")
    [held] = async_body
    [stream] = held.args
    assert stream.operator == operator.pk
    assert stream.session == desk.cookies["sessionid"].value


def test_beyond_the_limit_a_browser_is_asked_to_come_later(desk, monkeypatch):
    monkeypatch.setattr(of_this_process(), "most", 0)
    async_body = []
    answer = desk.get(STREAM, **{live_views.ASYNC_BODY: async_body})
    assert (answer.status_code, answer["Retry-After"], async_body) == (503, "15", [])


@pytest.mark.parametrize("path", [STREAM, NOW, NEWS])
def test_who_is_signed_out_is_told_so_and_sent_nowhere(path):
    assert Client().get(path).status_code == 401


def test_who_asks_is_told_how_things_stand_and_only_if_that_changed(desk):
    make_message(spam_status="suspect")
    answer = desk.get(NOW)
    assert answer.json()["counts"]["suspect"] == "1"
    assert answer.json()["newest"] == DeskItem.objects.get().pk
    again = desk.get(NOW, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    make_message(spam_status="suspect")
    assert desk.get(NOW, headers={"If-None-Match": answer["ETag"]}).status_code == 200


def test_news_are_what_came_since_and_the_page_would_show(desk):
    old = make_message(spam_status="suspect")
    after = DeskItem.objects.get(item_id=old.pk).pk
    new = make_message(spam_status="suspect")
    asked = {"after": after, "queue": "kind=suspect"}
    assert desk.get(NEWS, asked).json() == {"count": 1, "words": "1"}
    elsewhere = {**asked, "queue": f"kind=suspect&account={old.account_id}"}
    assert desk.get(NEWS, elsewhere).json()["count"] == 0
    here = {**asked, "queue": f"account={new.account_id}"}
    assert desk.get(NEWS, here).json()["count"] == 1


@pytest.mark.parametrize(
    ("after", "status"), [("", 200), ("x", 400), ("-1", 400), ("9" * 30, 400), ("\0", 400)]
)
def test_an_odd_id_is_refused(desk, after, status):
    answer = desk.get(NEWS, {"after": after, "queue": "kind=%00&q=%00"})
    assert answer.status_code == status


def test_a_limited_operator_hears_nothing_of_elsewhere():
    mira, here = make_operator(), make_account(surface=make_surface())
    mira.surfaces.add(here.surface)
    make_message(spam_status="suspect")
    make_message(account=here, spam_status="suspect")
    client = Client()
    client.force_login(mira)
    assert client.get(NOW).json()["counts"]["desk"] == "1"
    assert client.get(NEWS, {"after": 0, "queue": ""}).json()["count"] == 1


def test_how_things_stand_costs_few_queries(desk, django_assert_max_num_queries):
    for _ in range(3):
        make_message(spam_status="suspect")
    with django_assert_max_num_queries(8):
        desk.get(NOW)


def test_the_switch_of_a_page_is_shown_anew(desk):
    page = desk.get(reverse("surfaces:live_sending")).content.decode()
    assert page.strip().startswith('<details class="sending"')
    assert 'data-pauses=""' in page


def test_many_who_ask_for_the_same_within_a_second_share_the_answer():
    shared, asked = SharedSnapshot(), []
    for key in "aab":
        shared.get(key, lambda key=key: asked.append(key))
    assert asked == ["a", "b"]
