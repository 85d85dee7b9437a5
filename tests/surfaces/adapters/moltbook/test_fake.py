"""The fake Moltbook itself: it must be as strange as the real ones, and count honestly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.fakes import moltbook
from tests.fakes.moltbook import FakeMoltbook


def client(fake: FakeMoltbook, key: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=fake.url, headers=headers, timeout=5)


def test_the_open_server_answers_as_recorded():
    with FakeMoltbook() as fake, client(fake, fake.add_agent("Iris")) as iris:
        me = iris.get("/agents/me").json()["agent"]
        assert (me["name"], me["displayName"], me["isClaimed"]) == ("iris", "Iris", True)
        made = iris.post("/posts", json={"submolt": "general", "title": "t", "content": "c"})
        assert made.status_code == 201
        assert list(made.json()["post"]) == [
            "id", "title", "content", "url", "score", "comment_count", "created_at", "submolt",
            "post_type",
        ]  # fmt: skip
        said = iris.post(f"/posts/{made.json()['post']['id']}/comments", json={"content": " x "})
        assert sorted(said.json()["comment"]) == ["content", "created_at", "depth", "id", "score"]
        assert said.json()["comment"]["content"] == "x"
        missing = iris.get("/home")
        assert (missing.status_code, "code" in missing.json()) == (404, False)


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"content": "   "}, 400, "Content is required"),
        ({}, 400, "Content is required"),
        ({"content": 12345}, 500, "content.trim is not a function"),
        ({"content": "a\x00b"}, 500, 'invalid byte sequence for encoding "UTF8": 0x00'),
        ({"content": "x", "parent_id": "nope"}, 500, 'invalid input syntax for type uuid: "nope"'),
        ({"content": "x", "foo": 1}, 201, None),
    ],
)
def test_the_open_server_is_as_clumsy_as_recorded(body: Any, status: int, error: str | None):
    with FakeMoltbook() as fake, client(fake, fake.add_agent("iris")) as iris:
        answer = iris.post(f"/posts/{fake.add_post('bob')}/comments", json=body)
    assert (answer.status_code, answer.json().get("error")) == (status, error)


def test_the_live_site_refuses_unknown_fields():
    with FakeMoltbook(dialect="live") as fake, client(fake, fake.add_agent("iris")) as iris:
        answer = iris.post(f"/posts/{fake.add_post('bob')}/comments", json={"content": "x", "a": 1})
    assert answer.status_code == 400
    assert answer.json()["message"] == "property a should not exist"


def test_a_rejected_comment_costs_budget_too_but_a_refused_one_does_not():
    limits = {"comment": (2, 60.0)}
    with FakeMoltbook(limits=limits) as fake, client(fake, fake.add_agent("iris")) as iris:
        path = f"/posts/{fake.add_post('bob')}/comments"
        answers = [iris.post(path, json={"content": text}) for text in ("x", "", "y", "z")]
        assert [answer.status_code for answer in answers] == [201, 400, 429, 429]
        fake.advance(61)
        assert iris.post(path, json={"content": "later"}).status_code == 201


def test_the_ledger_sees_what_was_said_twice():
    with FakeMoltbook() as fake, client(fake, fake.add_agent("iris")) as iris:
        post = fake.add_post("bob")
        fake.fault("500-after", match="POST .*comments")
        answers = [iris.post(f"/posts/{post}/comments", json={"content": "x"}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [500, 201]
        assert fake.duplicates("iris") == [{"post_id": post, "parent_id": None, "times": 2}]
        assert len(fake.stored(author="iris", text="x")) == 2


def test_faults_by_chance_repeat_with_their_seed():
    struck = []
    for _ in range(2):
        with FakeMoltbook() as fake, client(fake, fake.add_agent("iris")) as iris:
            fake.faults_by_chance(5, {"500-before": 0.3, "html-403": 0.2})
            for _ in range(20):
                iris.get("/agents/me")
            struck.append(list(fake.faults.struck))
    assert struck[0] == struck[1]
    assert 2 < len(struck[0]) < 18


def test_writers_at_once_are_all_stored():
    with FakeMoltbook() as fake:
        post, key = fake.add_post("bob"), fake.add_agent("iris")

        def write(name: str) -> None:
            with client(fake, key) as iris:
                for number in range(10):
                    iris.post(f"/posts/{post}/comments", json={"content": f"{name} {number}"})

        threads = [Thread(target=write, args=[str(number)]) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(fake.stored(kind="comment")) == fake.posts[post].comment_count == 60


def test_another_process_can_drive_it():
    command = [sys.executable, str(Path(moltbook.__file__)), "--seed-demo", "--dialect", "live"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = json.loads(process.stdout.readline())
            with httpx.Client(base_url=said["admin"]) as admin:
                key = admin.post("agent", json={"name": "dora"}).json()["key"]
                post = admin.post("post", json={"author": "dora", "title": "t"}).json()["id"]
                admin.post("comment", json={"post": post, "author": "bob", "text": "hm"})
                admin.post("fault", json={"name": "500-before", "match": "agents/me"})
                headers = {"Authorization": f"Bearer {key}"}
                asked = [
                    httpx.get(f"{said['url']}/agents/me", headers=headers).status_code
                    for _ in range(2)
                ]
                assert asked == [500, 200]
                texts = [line["text"] for line in admin.get("ledger").json()]
                assert "hm" in texts
                assert admin.get("duplicates", params={"author": "bob"}).json() == []
                assert admin.post("nonsense", json={}).status_code == 400
        finally:
            process.terminate()
