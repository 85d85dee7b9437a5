"""Learned words: what each says, forgetting one, and undo that stays exact."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.core.exceptions import BadRequest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from surfaces.adapters.types import Item, ItemKind
from surfaces.errors import NotAllowed
from surfaces.models import AuditEvent, SpamToken
from surfaces.spam import classify, feedback, learned_words, scoring
from surfaces.spam.learned_words import LearnedWord, WordFilter
from tests.factories import NOON, make_account, make_message, make_operator

pytestmark = pytest.mark.django_db
WORDS = "/spam-filter/words/"
MIRA = "operator:mira"


def page(wish: WordFilter) -> list[LearnedWord]:
    return learned_words.list_learned_words(wish, learned_words.taught(), {}).rows


def teach(rows: dict[str, tuple[int, int]], *, spam: int = 20, clean: int = 20) -> None:
    rows = {"": (spam, clean), **rows}
    SpamToken.objects.bulk_create(
        SpamToken(token=t, in_spam=s, in_clean=c) for t, (s, c) in rows.items()
    )


def text(response: Any) -> str:
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def test_each_word_says_which_way_and_how_strongly_it_speaks():
    teach({"airdrop": (15, 0), "reef": (1, 12), "the": (18, 18), "moon": (9, 3)})
    says = {word.token: word.says for word in page(WordFilter())}
    assert says == {
        "the": "none: equally frequent in both",
        "airdrop": "strongly spam",
        "reef": "clearly clean",
        "moon": "slightly spam",
    }


def test_until_enough_was_taught_words_say_nothing():
    teach({"airdrop": (9, 0)}, spam=9, clean=20)
    assert page(WordFilter())[0].says == "none yet: too few messages"
    assert page(WordFilter(side="spam")) == []


@pytest.mark.parametrize(("side", "found"), [("spam", {"airdrop"}), ("clean", {"reef"})])
def test_a_side_is_what_the_filter_would_listen_to(side: str, found: set[str]):
    rows = {"airdrop": (15, 0), "reef": (1, 12), "the": (18, 18), "faint": (10, 11)}
    teach(rows)
    counts = scoring.TokenCounts(20, 20)
    words = {word.token for word in page(WordFilter(side=side))}
    assert words == found
    assert all(abs(scoring.odds(*rows[word], counts)) >= scoring.QUIET for word in words)


def test_words_are_found_by_their_beginning_and_places_by_their_name():
    teach({"airdrop": (2, 0), "air": (1, 0), "fair": (1, 0), "url:airdrop.example": (1, 0)})
    found = {word.token for word in page(WordFilter.of({"q": " AIR "}))}
    assert found == {"airdrop", "air", "url:airdrop.example"}
    assert page(WordFilter.of({"q": "a%_"})) == []


def test_pages_walk_by_key_and_show_every_word_once():
    teach({f"word{n:03}": (n % 3, n % 5 + 1) for n in range(120)})
    seen: list[str] = []
    given: dict[str, str] = {}
    for _ in range(4):
        found = learned_words.list_learned_words(WordFilter(), learned_words.taught(), given)
        seen += [word.token for word in found.rows]
        if not found.older:
            break
        given = dict(parse_qsl(found.older))
    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize("after", ["x", "²", "-1~reef", "9" * 3000, "~reef"])
def test_a_key_that_is_none_is_refused(after: str):
    with pytest.raises(BadRequest, match="is not a valid value"):
        learned_words.list_learned_words(WordFilter(), learned_words.taught(), {"after": after})


# ── forgetting ────────────────────────────────────────────────────────────


def test_a_forgotten_word_is_listened_to_no_more_until_it_counts_again():
    teach(dict.fromkeys(("blarg", "zonk", "wibble"), (19, 0)))
    item = Item(remote_id="a", kind=ItemKind.COMMENT, post_id="p", author="x", created_at=NOON,
                content="blarg zonk wibble")  # fmt: skip
    account = make_account()

    def score() -> float:
        return classify.classify_items(account, [item], NOON)["a"].score or 0

    assert (before := score()) > 0
    for word in ("blarg", "zonk", "wibble"):
        learned_words.forget(word, by=MIRA)
    assert score() == 0
    for word in ("blarg", "zonk", "wibble"):
        learned_words.remember(word, by=MIRA)
    assert score() == before


def test_forgetting_keeps_the_undo_of_a_decision_exact():
    """What was learnt goes on being counted, so no count ever falls below nothing."""
    one, two = make_message(content="blarg"), make_message(content="blarg")
    feedback.mark(one, is_spam=True, by=MIRA, now=NOON)
    learned_words.forget("blarg", by=MIRA)
    feedback.mark(two, is_spam=False, by=MIRA, now=NOON)
    feedback.unmark(one, by=MIRA, now=NOON)
    feedback.unmark(two, by=MIRA, now=NOON)
    row = SpamToken.objects.get(token="blarg")
    assert (row.in_spam, row.in_clean, row.is_forgotten) == (0, 0, True)
    learned_words.remember("blarg", by=MIRA)
    assert not SpamToken.objects.exists()


def test_forgetting_writes_the_ledger_and_refuses_what_is_not_there():
    teach({"blarg": (3, 1), "x" * 200: (1, 0)})
    learned_words.forget("blarg", by=MIRA)
    learned_words.forget("x" * 200, by=MIRA)
    line = AuditEvent.objects.filter(subject="word:blarg").get()
    assert (line.action, line.actor, line.facts["in_spam"]) == ("word.forgotten", MIRA, 3)
    for word in ("blarg", "unknown", ""):
        with pytest.raises(NotAllowed):
            learned_words.forget(word, by=MIRA)


# ── the page ──────────────────────────────────────────────────────────────


def test_an_admin_forgets_a_word_and_takes_it_back(admin: Client):
    teach({"blarg": (19, 0)})
    page = text(admin.post(f"{WORDS}forget", {"token": "blarg"}, follow=True))
    assert "Word “blarg” ignored." in page
    assert "ignored: no weight" in page
    assert SpamToken.objects.get(token="blarg").is_forgotten
    text(admin.post(f"{WORDS}remember", {"token": "blarg"}, follow=True))
    assert not SpamToken.objects.get(token="blarg").is_forgotten


def test_only_admins_forget(desk: Client):
    teach({"blarg": (19, 0)})
    assert "Only administrators can ignore words." in text(desk.get(WORDS))
    assert desk.post(f"{WORDS}forget", {"token": "blarg"}).status_code == 403
    assert not SpamToken.objects.get(token="blarg").is_forgotten


def test_an_empty_page_says_what_to_do(desk: Client):
    assert "No words yet" in text(desk.get(WORDS))
    teach({"blarg": (19, 0)})
    assert "No words match" in text(desk.get(WORDS, {"q": "zzz"}))


def test_strangers_words_stay_words(desk: Client):
    teach({"<b>now</b>": (2, 0)})
    assert "<b>now</b>" not in text(desk.get(WORDS))


def test_the_page_takes_few_queries_however_many_words(desk: Client):
    teach({f"word{n}": (n, 1) for n in range(80)})
    with CaptureQueriesContext(connection) as asked:
        assert text(desk.get(WORDS)).count("<tr>") == 51
    assert len(asked) <= 12
