"""Logs: one JSON object per line, with the request's id, and never a secret."""

from __future__ import annotations

import json
import logging
import sys
from io import StringIO
from typing import Any

import pytest

from config.logs import JsonFormatter, TextFormatter, mask, request_id

SECRETS = [
    "Authorization: Bearer abcdef0123456789",
    "authorization=Bearer abcdef0123456789",
    "{'Authorization': 'Bearer abcdef0123456789'}",
    '{"token": "abcdef0123456789"}',
    "token=abcdef0123456789&x=1",
    "api_key: abcdef0123456789",
    "password='abcdef0123456789'",
    "postgresql://colloquy:abcdef0123456789@db.example:5432/colloquy",
    "redis://:abcdef0123456789@cache.example:6379",
    "moltbook_abcdef0123456789",
    "moltbook_sk_abcdef0123456789",
    "sk-abcdef0123456789",
    "GET /api/me?key=clq_abcdef0123456789_abcdef0123456789 HTTP/1.1",
    "GET /messages/?q=x&key=hub_abcdef0123456789 HTTP/1.1",
    "/inbox?to=whsec_abcdef0123456789/abcdef0123456789+abcdef0123456789==",
    "clq_abcdef0123456789",
    "hub_abcdef0123456789",
    "HUB_abcdef0123456789",
    "clq%5Fabcdef0123456789",
    "x?a=moltbook%5Fsk%5Fabcdef0123456789",
    "/?key=abcdef0123456789",
    "/?authorization=Bearer+abcdef0123456789",
    "/?authorization=Bearer%20abcdef0123456789",
    "/?next=%2F%3Ftoken%3Dabcdef0123456789",
    "a key (clq_abcdef0123456789) in brackets",
    "ghp_abcdef0123456789abcdef0123456789",
    "xoxb-abcdef0123456789",
    # What stands before a key was encoded or escaped.
    "GET /messages/?q=my%20clq_abcdef0123456789 HTTP/1.1",
    "GET /messages/?q=%22hub_abcdef0123456789%22 HTTP/1.1",
    "/?next=%2Finbox%3Fto%3Dwhsec_abcdef0123456789",
    "/?next=%252Finbox%253Ato%253Dwhsec_abcdef0123456789",
    "/?q=%0Amoltbook%5Fabcdef0123456789",
    "/?q=clq%255Fabcdef0123456789",
    "/?next=%2F%3Fa%26key%3Dabcdef0123456789",
    repr("a line\nclq_abcdef0123456789"),
    repr("a tab\tmoltbook_abcdef0123456789"),
    json.dumps("a colon\u2028hub_abcdef0123456789"),
    repr(b"\x00whsec_abcdef0123456789"),
    "%20ghp_abcdef0123456789abcdef0123456789",
    "github_pat_abcdef0123456789abcdef0123456789",
    "X-Api-Key: abcdef0123456789",
    "Cookie: a=b; sessionid=abcdef0123456789",
    "{'password': 'many words abcdef0123456789'}",
]


def record(message: str, *args: Any, error: bool = False, **extra: Any) -> logging.LogRecord:
    info = None
    if error:
        try:
            raise ValueError(message)
        except ValueError:
            info = sys.exc_info()
    made = logging.makeLogRecord(
        {"name": "surfaces.watcher.rounds", "levelno": 20, "levelname": "INFO", "msg": message,
         "args": args, "exc_info": info}
    )  # fmt: skip
    vars(made).update(extra)
    return made


def written(*args: Any, **given: Any) -> dict[str, Any]:
    line = JsonFormatter().format(record(*args, **given))
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_line_is_one_object_with_what_stands_beside_it():
    line = written("a round of %s failed", "iris", account_id=7)
    assert (line["say"], line["account_id"]) == ("a round of iris failed", 7)
    assert (line["level"], line["logger"]) == ("INFO", "surfaces.watcher.rounds")
    assert "request_id" not in line


def test_a_line_names_its_request():
    token = request_id.set("r-1234567890")
    try:
        assert written("hello")["request_id"] == "r-1234567890"
    finally:
        request_id.reset(token)


def test_words_of_strangers_stay_on_one_line():
    line = JsonFormatter().format(record('a\nb\r\n{"level": "ERROR"}', why="x\ny"))
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize("text", SECRETS)
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter("%(message)s")])
def test_a_secret_is_masked_wherever_it_stands(text: str, formatter: logging.Formatter):
    for made in (
        record(text),
        record("it said %s", text),
        record("beside", why=text),
        record("beside", facts={"inner": [text]}),
        record(text, error=True),
    ):
        line = formatter.format(made)
        assert "abcdef0123456789" not in line
        assert "***" in line


@pytest.mark.parametrize("name", ["token", "api_key", "sealed_credential", "Authorization"])
def test_what_is_called_a_secret_is_never_written(name: str):
    assert written("hello", **{name: "plain words"})[name] == "***"


def test_ordinary_words_are_left_alone():
    text = (
        "the token ring; a password is needed; https://moltbook.example/a:b@c;"
        " hub_services.join(x); hub_queries; the key is missing; github_pages;"
        " basic questions; q=a&before=3"
    )
    assert mask(text) == text


def test_the_access_log_of_a_web_server_is_masked_by_any_handler(monkeypatch: Any, caplog: Any):
    out = StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("uvicorn.access")
    monkeypatch.setattr(log, "disabled", False)  # as a server of another test may have left it
    caplog.set_level(logging.INFO, logger=log.name)
    log.addHandler(handler)
    try:
        line = '%s - "%s %s HTTP/%s" %d'
        log.info(line, "127.0.0.1:9", "GET", "/api/me?key=clq_abcdef0123456789", "1.1", 200)
        log.info("%(r)s %(s)s", {"r": "GET /?k=whsec_abcdef0123456789", "s": 200})
    finally:
        log.removeHandler(handler)
    first, second = out.getvalue().splitlines()
    assert first == '127.0.0.1:9 - "GET /api/me?key=*** HTTP/1.1" 200'
    assert second == "GET /?k=whsec_*** 200"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nowhere", "/messages/", "/api/me"])
def test_a_key_in_the_address_of_a_request_is_not_in_the_log(client: Any, caplog: Any, path: str):
    caplog.handler.setFormatter(JsonFormatter())
    with caplog.at_level(logging.DEBUG):
        client.get(f"{path}?key=clq_abcdef0123456789_abcdef0123456789&q=%FF")
    assert "abcdef0123456789" not in caplog.text


def test_a_request_has_an_id_and_the_answer_names_it(client: Any, db: None):
    given = client.get("/sign-in", headers={"X-Request-ID": "from-the-proxy-1"})
    assert given["X-Request-ID"] == "from-the-proxy-1"
    hostile = client.get("/sign-in", headers={"X-Request-ID": "x\r\ny: z" * 30})
    assert len(hostile["X-Request-ID"]) == 16
