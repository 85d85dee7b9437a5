"""An edit told word by word: nothing lost, nothing made up, and never slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surfaces.text.diff import DiffPiece, changes, shortened


def told(before: str, after: str) -> str:
    signs = {"same": "{}", "gone": "[-{}]", "new": "[+{}]"}
    return "".join(signs[piece.kind].format(piece.text) for piece in changes(before, after))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("leave it out", "leave that out", "leave [-it][+that] out"),
        ("leave out", "leave it out", "leave [+it ]out"),
        ("Why? Because.", "Why?\n\nBecause.", "Why?[- ][+\n\n]Because."),
        ("don't stop.", "do stop!", "[-don't][+do] stop[-.][+!]"),
        ("潮汐表遗漏了什么？", "潮汐表没写什么？", "潮汐表[-遗漏了][+没写]什么？"),
        ("नमस्ते दुनिया", "नमस्ते भारत", "नमस्ते [-दुनिया][+भारत]"),
        ("👩‍👩‍👧 hi", "👩‍👩‍👦 hi", "[-👩‍👩‍👧][+👩‍👩‍👦] hi"),
        ("", "all new", "[+all new]"),
        ("same", "same", ""),
    ],
)
def test_a_change_is_told_by_words_or_by_signs(before: str, after: str, said: str):
    assert told(before, after) == said


texts = st.text(alphabet="ab .,?\n潮汐é'🙂", max_size=80)


@given(texts, texts)
def test_both_texts_can_be_read_out_of_the_change(before: str, after: str):
    pieces = changes(before, after)
    if pieces:
        assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
        assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after
    else:
        assert before == after


def test_two_edits_far_apart_in_a_long_chinese_text_are_both_small():
    signs = [chr(0x4E00 + at * 7 % 3000) + "。" * (at % 40 == 39) for at in range(10_000)]
    after = [*signs]
    after[2_000], after[8_000] = "新", "旧"
    found = [piece for piece in changes("".join(signs), "".join(after)) if piece.kind == "new"]
    assert [piece.text for piece in found] == ["新", "旧"]


def test_what_cannot_be_compared_quickly_is_replaced_as_a_whole():
    signs = "".join(chr(0x4E00 + at * 7 % 5000) for at in range(10_000))
    assert [piece.kind for piece in changes(signs, signs[::-1])] == ["gone", "new"]


def test_what_stayed_is_cut_in_its_middle():
    far = "word " * 100
    pieces = shortened([DiffPiece("same", far), DiffPiece("new", "x "), DiffPiece("same", far)])
    assert pieces[0].text.startswith("… word")
    assert pieces[2].text.endswith("word …")
    assert all(len(piece.text) < 80 for piece in pieces)


def test_words_beside_a_change_keep_their_blank():
    far = " " + "word " * 100
    pieces = shortened([DiffPiece("new", "x"), DiffPiece("same", far), DiffPiece("gone", "y")])
    assert (pieces[1].text[:5], pieces[1].text[-5:]) == (" word", "word ")
