"""Moltbook's puzzles: what is solved, and what is rather not answered."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from surfaces.adapters.moltbook.challenge.numbers import Unsolvable
from surfaces.adapters.moltbook.challenge.solver import solve
from surfaces.adapters.moltbook.challenge.tokenizer import TEENS, TENS, UNITS

SOLVABLE = [
    # plain words
    ("seven plus three", "10.00"),
    ("twelve times three", "36.00"),
    ("eighteen divided by six", "3.00"),
    ("forty minus fifteen", "25.00"),
    ("three minus ten", "-7.00"),
    ("twenty divided by three", "6.67"),
    ("two divided by three", "0.67"),
    ("zero times nine", "0.00"),
    ("nineteen and eleven, what is the sum?", "30.00"),
    ("the product of seven and eight", "56.00"),
    ("the difference of thirty and twelve", "18.00"),
    ("the difference between thirty and twelve", "18.00"),
    ("the quotient of forty by eight", "5.00"),
    # stories, every operation
    ("A lobster swims at twenty meters per second and speeds up by five. New speed?", "25.00"),
    ("A lobster swims at twenty meters per second and slows by five. New speed?", "15.00"),
    ("A lobster has thirty shells and loses eleven. How many remain?", "19.00"),
    ("A claw exerts fifteen newtons and gains ten more. What now?", "25.00"),
    ("A claw exerts fourteen newtons, the other claw four. Total force?", "18.00"),
    ("Three lobsters carry five pebbles each. How many in total?", "15.00"),
    ("A claw of nine newtons grips four times. Total?", "36.00"),
    ("Forty pebbles are split into eight piles. How many per pile?", "5.00"),
    ("A lobster splits forty pebbles into eight piles.", "5.00"),
    ("A lobster divides sixty shrimps among twelve friends.", "5.00"),
    ("Subtract five from twenty", "15.00"),
    ("What is five less than twenty?", "15.00"),
    ("What is six fewer than sixteen pebbles?", "10.00"),
    ("drag reduces her speed of twenty three by seven", "16.00"),
    ("a lobster at seventeen knots, a current adds sixteen", "33.00"),
    ("thirteen newtons multiplied by eighteen", "234.00"),
    ("a lobster of thirty newtons doubles its force", "60.00"),
    ("a lobster halves its speed of fifteen", "7.50"),
    # numbers
    ("one hundred twenty five plus five", "130.00"),
    ("a hundred minus one", "99.00"),
    ("two hundred and six minus six", "200.00"),
    ("two thousand plus one hundred", "2100.00"),
    ("three point five plus one", "4.50"),
    ("negative five plus twelve", "7.00"),
    ("a dozen pebbles plus three", "15.00"),
    ("twenty-five plus thirty-one", "56.00"),
    ("40 meters minus 15", "25.00"),
    ("12.5 times 2", "25.00"),
    ("1,200 plus 34", "1234.00"),
    ("٣ plus ٤", "7.00"),
    ("20 + 5", "25.00"),
    ("20-5", "15.00"),
    ("20 * 5 = ?", "100.00"),
    ("20/8", "2.50"),
    ("20 \u00d7 4", "80.00"),
    ("20 \u00f7 4", "5.00"),
    ("7 \u2212 9", "-2.00"),
    ("twenty + five", "25.00"),
    ("twenty three newtons { * } five newtons, total force?", "115.00"),
    # noise
    ("A] lO^bSt-Er S[wImS aT/ tW]eNn-Tyy mE^tE[rS aNd] SlO/wS bY^ fI[vE, wH-aTs] ThE/ nEw^ SpE[eD?",
     "15.00"),
    ("A lo^bSt-Er sw/imS aT tW]eNn-Tyy mE^tE[rS pEr sEc o nD aNd gA^iNs fI[vE mOrE, "
     "wHaTs tHe nEw sPeEd?", "25.00"),
    ("LoBbStEr ClAw ThIr.Ty TwOoo nEu-ToNs, aNd] aNoThEr| {tWeNtY} fOuR, tOtAl?", "56.00"),
    ("fOr.tY- ThReE] nEwToNs, aNd iT gRrIiPsS^ fIvE} TiImEs<", "215.00"),
    ("fOrTy TwO {nOoToNs} - bUt iN mOlTiNg lOsEs sEvEn, wHaT ReMaInS?", "35.00"),
    ("tw en ty fi ve newtons pl us se ven", "32.00"),
    ("t w e l v e times t h r e e", "36.00"),
    ("FIIFFTEEEN SHHELLLS MIINUUS TTEN", "5.00"),
    ("f~i~f~t~e~e~n mi|nus t^e^n", "5.00"),
    ("six teen pebbles, gai ns nine teen", "35.00"),
    ("eight een loses for ty", "-22.00"),
    ("seventyy-twoo newtonss dividded by ninne", "8.00"),
    ("_tw_enty_ *plus* _three_", "23.00"),
    ("thirty um two newtons uh adds erm seven", "39.00"),
    ("forty two newtons and the other claw six ten newtons, total", "58.00"),
    ("fiften plus two", "17.00"),
    ("twenty*five", "100.00"),
    ("one hundred four, LOS]e{s S IXx.TY f.iIvE] in moL-tIng", "39.00"),
    ("five hundred sIX/tEe{n tImes two", "1032.00"),
    ("dividES s ii Xt Y TwO by f o ur", "15.50"),
    ("TWENTY-METERS PLUS TEN", "30.00"),
    # words with numbers inside
    ("the antenna of a lobster often gains: ten plus twenty", "30.00"),
    ("a lobster with antennae on a stone, at height, adds eight to nine", "17.00"),
    ("someone alone in the network listens: five plus six", "11.00"),
    ("our lobster swims with weight and freight, sixty minus nine", "51.00"),
    ("one claw exerts twenty newtons and one lobster adds five", "25.00"),
    ("left claw thirty newtons, right claw twelve, combined?", "42.00"),
]  # fmt: skip

UNSOLVABLE = [
    "",
    "   ",
    "how many tears has the sea",
    "five",
    "five and six",
    "five plus six plus seven",
    "five plus six minus seven",
    "ten plus five, then minus",
    "ten divided by zero",
    "how many times faster is twenty than five",
    "one lobster swims at twenty, another at twelve: how much faster is the first?",
    "a lobster slows from twenty to five meters, adds nothing",
    "a lobster at thirty slows to five",
    "a lobster swims five meters per second for three seconds, how far?",
    "twenty percent of fifty times",
    "2]5 plus 3",
    "2]5 shells, plus some",
    "2^5 + 1",
    "split into four groups twenty shells",
    "which is left after twelve and twenty?",
    "five doubled plus six",
    "twelve shells and four crabs, in the average",
    "two hundred three thousand four hundred plus five hundred six thousand seven hundred",
    "9999999999 plus 1",
    "plus plus plus",
    "x" * 3000,
    "\x00\ud800 five",
]


@pytest.mark.parametrize(("puzzle", "answer"), SOLVABLE)
def test_a_clear_puzzle_is_solved(puzzle: str, answer: str):
    assert solve(puzzle) == answer


@pytest.mark.parametrize("puzzle", UNSOLVABLE)
def test_what_can_be_read_in_two_ways_is_not_answered(puzzle: str):
    with pytest.raises(Unsolvable, match=r"\w"):
        solve(puzzle)


def test_per_second_is_no_division():
    assert solve("twenty meters per second plus five meters per second") == "25.00"


def test_fifteen_is_neither_ten_nor_five():
    assert solve("fif-teen plus fi f teen") == "30.00"


# ── any number in any disguise ────────────────────────────────────────────

SMALL = (*UNITS, *TEENS)
STORIES = {
    "A lobster swims at {a} meters per second and gains {b} more, whats the new speed?": "+",
    "A lobster claw exerts {a} newtons and another claw adds {b} newtons, total force?": "+",
    "A lobster swims at {a} meters and slows by {b}, what is the new speed?": "-",
    "A claw exerts {a} newtons but loses {b} in molting, what remains?": "-",
    "A claw of {a} newtons grips {b} times, what is the force?": "*",
    "A lobster divides {a} shrimps by {b} friends, how many is that?": "/",
}
NOISE = "]}[{^/\\|~-_.<>"


def spoken(number: int) -> str:
    if number < 20:
        return SMALL[number]
    if number < 100:
        tens, unit = TENS[number // 10 - 2], number % 10
        return f"{tens} {UNITS[unit]}" if unit else tens
    rest = f" {spoken(number % 100)}" if number % 100 else ""
    return f"{UNITS[number // 100]} hundred{rest}"


def disguised(text: str, rng: Random, *, splits: bool) -> str:
    """Random case, doubled letters, symbols in words, words broken by blanks."""
    out = []
    for word in text.split():
        is_split = splits and rng.random() < 0.3
        for place, letter in enumerate(word):
            if place and letter.isalpha() and word[place - 1].isalpha():
                if rng.random() < 0.2:
                    out.append(rng.choice(NOISE))
                elif is_split and rng.random() < 0.3:
                    out.append(" ")
            many = 2 if letter.isalpha() and rng.random() < 0.15 else 1
            out += [rng.choice((letter.upper(), letter.lower())) for _ in range(many)]
        out.append(rng.choice(("", "", "", rng.choice(NOISE))) + " ")
    return "".join(out)


def expected(a: int, sign: str, b: int) -> str:
    results = {"+": a + b, "-": a - b, "*": a * b}
    return f"{results[sign]:.2f}" if sign in results else f"{int(a / b * 100 + 0.5) / 100:.2f}"


@settings(max_examples=400, deadline=None)
@given(
    st.integers(0, 999),
    st.integers(1, 999),
    st.sampled_from(sorted(STORIES)),
    st.integers(0, 10**6),
    st.booleans(),
)
@example(15, 5, next(iter(STORIES)), 1, True)
def test_any_two_numbers_are_found_in_any_disguise(
    a: int, b: int, story: str, seed: int, splits: bool
):
    puzzle = disguised(story.format(a=spoken(a), b=spoken(b)), Random(seed), splits=splits)
    try:
        answer = solve(puzzle)
    except Unsolvable:
        assert splits, puzzle  # broken words may read in two ways; a wrong answer they never give
    else:
        assert answer == expected(a, STORIES[story], b), puzzle


def test_nearly_every_disguise_is_seen_through():
    rng, solved = Random(11), 0
    for _ in range(500):
        story = rng.choice(sorted(STORIES))
        puzzle = disguised(
            story.format(a=spoken(rng.randrange(100)), b=spoken(rng.randrange(1, 100))),
            rng,
            splits=True,
        )
        try:
            solved += bool(solve(puzzle))
        except Unsolvable:
            continue
    assert solved >= 480


@settings(deadline=None)
@given(st.text(max_size=300))
def test_no_text_whatever_breaks_the_solver(text: str):
    with suppress(Unsolvable):
        assert "." in solve(text)
