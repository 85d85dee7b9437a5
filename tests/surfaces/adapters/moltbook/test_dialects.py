"""Which API a server speaks: found out by asking, once, and said where operators look."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from surfaces.adapters.base import Access
from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.moltbook.writer import MoltbookWriter
from surfaces.errors import AuthFailed, TryLater
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import Purse


def undecided(fake: FakeMoltbook, key: str, **more: Any) -> Access:
    return Access(token=key, base_url=fake.url, handle="iris", **more)


@pytest.mark.parametrize("dialect", ["open", "live"])
def test_the_dialect_is_found_out_by_asking_the_server(dialect: str):
    with FakeMoltbook(dialect=dialect) as fake:
        reader = Moltbook(undecided(fake, fake.add_agent("iris")))
        assert reader.who_am_i().dialect == dialect
        reader.close()


@pytest.mark.parametrize("dialect", ["open", "live"])
def test_a_first_post_is_written_in_the_dialect_of_the_server(dialect: str):
    with FakeMoltbook(dialect=dialect) as fake:
        fake.add_submolt("general")
        writer = MoltbookWriter(undecided(fake, fake.add_agent("iris")))
        sent = writer.create_post(title="On tides", text="words", community="general", key="k")
        writer.close()
        assert fake.posts[sent.remote_id].submolt == "general"
        assert [path for _, path, _ in fake.requests].count("/api/v1/home") == 1


def test_the_live_site_is_not_asked():
    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    reader = Moltbook(Access(token="moltbook_sk_1", transport=httpx.MockTransport(refuse)))
    assert reader._line.dialect == "live"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(200, html="<p>Welcome to nginx</p>"), TryLater),
        (httpx.Response(404, html="<p>Not Found</p>"), TryLater),
        (httpx.Response(401, json={"success": False, "error": "Invalid token"}), AuthFailed),
        (httpx.Response(500, json={"error": "database down"}), TryLater),
    ],
)
def test_an_answer_of_no_known_api_decides_nothing(answer: httpx.Response, error: type[Exception]):
    transport = httpx.MockTransport(lambda _: answer)
    access = Access(token="k", base_url="https://m.example/api/v1", transport=transport)
    with pytest.raises(error):
        Moltbook(access).who_am_i()


def test_the_hourly_limit_of_the_open_source_server_is_called_by_its_name():
    with FakeMoltbook(limits={"comment": (50, 3600)}) as fake:
        key, purse = fake.add_agent("iris"), Purse()
        post = fake.add_post("iris")
        writer = MoltbookWriter(undecided(fake, key, dialect="open", meter=purse))
        writer.reply(post_id=post, parent_id=None, text="words", key="k")
        writer.close()
    assert "comment_hour" in purse.taken
    assert "comment_day" not in purse.taken
    assert purse.told == [("comment_hour", 49, None)]
