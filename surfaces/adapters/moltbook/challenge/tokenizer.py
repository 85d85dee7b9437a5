"""Tokenize a Moltbook challenge in spite of its noise.

Letters may be doubled, words broken by blanks or symbols, fillers thrown in.
A word counts only if it begins and ends where a written word does, so the
"ten" in "antenna" and the "one" in "stone" are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import groupby


class Operation(Enum):
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"


class TokenRole(Enum):
    UNIT = "a number below ten"
    TEEN = "ten to nineteen"
    TENS = "twenty, thirty and so on"
    WHOLE = "a number that takes nothing more: digits, twentyfive"
    SCALE = "hundred, thousand"
    STRONG = "an operation"
    WEAK = "a hint at an operation"
    FACTOR = "a number and an operation in one: doubles, halves"
    ODD = "something this solver does not do"
    PLAIN = "any other word that matters for the order"
    NOISE = "a filler"


@dataclass(frozen=True, slots=True)
class Atom:
    """A known word, and where it stood: tokens `first` to `last`."""

    role: TokenRole
    word: str
    value: Decimal = Decimal(0)
    op: Operation | None = None
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class ChallengeToken:
    """A run of letters, a number in digits, or a lonely symbol."""

    text: str
    is_glued: bool = False  # no blank before it


UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
         "eighteen", "nineteen")  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"hundred": 100, "thousand": 1000}
STRONG = {
    Operation.PLUS: """plus add adds added adding sum gain gains gained gaining increase increases
        increased increasing accelerate accelerates accelerated accelerating speedsup speedup
        spedup speedingup""",
    Operation.MINUS: """minus subtract subtracts subtracted subtracting lose loses lost losing slow
        slows slowed slowsdown slowdown decrease decreases decreased decreasing reduce reduces
        reduced reducing drop drops dropped difference decelerate decelerates decelerated
        takesaway takeaway takenaway givesaway gaveaway sheds removes removed""",
    Operation.TIMES: "times multiply multiplies multiplied multiplying product",
    Operation.OVER: "divide divides divided dividing split splits quotient",
}
WEAK = {
    Operation.PLUS: """total combined combine combines together altogether more faster another other
        gives join joins""",
    Operation.MINUS: "remaining remain remains less fewer slower left",
    Operation.TIMES: "each work",
    Operation.OVER: "share shares shared equally",
}
FACTORS = {
    (Operation.TIMES, 2): "double doubles doubled twice",
    (Operation.TIMES, 3): "triple triples",
    (Operation.OVER, 2): "half halves halved",
}
WORDS = {
    TokenRole.ODD: """percent percentage squared cubed average remainder modulo quarter quarters
        thirds""",
    TokenRole.PLAIN: """from by into among between of to and point negative per far distance many
        much right than""",
    TokenRole.NOISE: "um uh erm hm like",
}
# What may be glued to a number, as in "twenty-meters".
GLUED = ("meter", "meters", "newton", "newtons", "centimeter", "centimeters", "knots", "feet")
BEFORE_NOUN = {"claw", "lobster", "molty", "crab", "of", "side", "antenna", "pincer", "leg"}


def _numbers() -> dict[str, Atom]:
    found = {word: Atom(TokenRole.UNIT, word, Decimal(n)) for n, word in enumerate(UNITS)}
    teens = enumerate(TEENS, start=10)
    found |= {word: Atom(TokenRole.TEEN, word, Decimal(n)) for n, word in teens}
    for n, word in enumerate(TENS):
        found[word] = Atom(TokenRole.TENS, word, Decimal(20 + 10 * n))
        for unit, small in enumerate(UNITS[1:], start=1):
            found[word + small] = Atom(TokenRole.WHOLE, word + small, Decimal(20 + 10 * n + unit))
    found["dozen"] = Atom(TokenRole.WHOLE, "dozen", Decimal(12))
    glued = {word + unit: atom for word, atom in found.items() for unit in GLUED}
    found |= {word: Atom(TokenRole.WHOLE, atom.word, atom.value) for word, atom in glued.items()}
    found |= {word: Atom(TokenRole.SCALE, word, Decimal(value)) for word, value in SCALES.items()}
    return found


def _vocabulary() -> dict[str, Atom]:
    found: dict[str, Atom] = {}
    for role, line in WORDS.items():
        found |= {word: Atom(role, word) for word in line.split()}
    for role, table in ((TokenRole.WEAK, WEAK), (TokenRole.STRONG, STRONG)):
        for op, line in table.items():
            found |= {word: Atom(role, word, op=op) for word in line.split()}
    for (op, value), line in FACTORS.items():
        found |= {word: Atom(TokenRole.FACTOR, word, Decimal(value), op) for word in line.split()}
    return found | _numbers()


def runs(word: str) -> tuple[str, tuple[int, ...]]:
    """ "twenntyy" becomes "twenty" and the lengths of its runs."""
    groups = [(letter, len(list(same))) for letter, same in groupby(word)]
    return "".join(letter for letter, _ in groups), tuple(length for _, length in groups)


def _by_shape() -> dict[str, list[tuple[tuple[int, ...], Atom]]]:
    shapes: dict[str, list[tuple[tuple[int, ...], Atom]]] = {}
    for word, atom in _vocabulary().items():
        shape, lengths = runs(word)
        shapes.setdefault(shape, []).append((lengths, atom))
    return shapes


SHAPES = _by_shape()
LONGEST_WORD = max(len(shape) for shape in SHAPES)
LONGEST_WINDOW = 14  # tokens that may be pieces of one word


def look_up(letters: str, *, lenient: bool) -> Atom | None:
    """Find a word whose letters these are, each at least as often; lenient: or once."""
    shape, lengths = runs(letters)
    for wanted, atom in SHAPES.get(shape, ()):
        if lenient or all(got >= want for got, want in zip(lengths, wanted, strict=True)):
            return atom
    return None


TIMES_SIGN, OVER_SIGN, MINUS_SIGN = "\u00d7", "\u00f7", "\u2212"
SIGN = rf"[-+*/{TIMES_SIGN}{OVER_SIGN}{MINUS_SIGN}]"
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# Symbols inside a word are noise; blanks and commas end it.
LETTERS = r"[a-z]+(?:[^\w\s,;:?!\"()]+[a-z]+)*"
# A sign means something only alone between blanks and brackets, or between digits.
LONELY = rf"(?<![^\s\[\](){{}}<>]){SIGN}(?![^\s\[\](){{}}<>])"
TOKEN = re.compile(rf"(?:{DIGITS})|{LETTERS}|{LONELY}|(?<=\d){SIGN}(?=\d)")
NOISE = re.compile(r"[^a-z]")
SPOKEN_SIGN = re.compile(r"([*+])")  # a slash in a word is the most common noise


def tokens_of(text: str) -> list[ChallengeToken]:
    """Cut a puzzle in lower case into tokens, without its fillers."""
    found: list[ChallengeToken] = []
    end = 0
    for match in TOKEN.finditer(text):
        gap, end = text[end : match.start()], match.end()
        is_glued = bool(found) and not any(letter.isspace() for letter in gap)
        for part in _parts(match.group()):
            known = look_up(part, lenient=False) if part.isalpha() else None
            if not (known and known.role is TokenRole.NOISE):
                found.append(ChallengeToken(part, is_glued))
    return found


def _parts(word: str) -> list[str]:
    """Usually one word without its noise; "five*six" is two numbers and a sign."""
    if not word[0].isalpha():
        return [word]
    pieces = SPOKEN_SIGN.split(word)
    spoken = [NOISE.sub("", piece) for piece in pieces[::2]]
    known = [look_up(piece, lenient=False) for piece in spoken]
    whole = look_up("".join(spoken), lenient=False)
    is_teen = bool(whole and whole.role is TokenRole.TEEN)
    if len(pieces) == 3 and all(atom and atom.value for atom in known) and not is_teen:
        return [spoken[0], pieces[1], spoken[1]]
    return ["".join(spoken)]


@dataclass(frozen=True, slots=True)
class _Path:
    """A way to read the tokens from some place on, as a chain."""

    letters: int = 0  # that belong to known words
    words: int = 0
    atom: Atom | None = None
    rest: _Path | None = None


def atoms_of(tokens: list[ChallengeToken], *, lenient: bool) -> list[Atom]:
    """Read tokens into known words so that the most letters make sense, in the fewest words.
    Taking the longest word each time would read "loses s ixty" as "losess ixty".
    """
    paths = [_Path()] * (len(tokens) + 1)
    for at in reversed(range(len(tokens))):
        best = paths[at + 1]
        for atom, letters in _starts(tokens, at, lenient=lenient):
            rest = paths[atom.last + 1]
            path = _Path(rest.letters + letters, rest.words + 1, atom, rest)
            best = max(best, path, key=lambda one: (one.letters, -one.words))
        paths[at] = best
    found, here = [], paths[0]
    while here.atom and here.rest:
        found.append(here.atom)
        here = here.rest
    return found


def _starts(tokens: list[ChallengeToken], at: int, *, lenient: bool) -> Iterator[tuple[Atom, int]]:
    """Every known word that begins with token `at`, and how many letters it takes."""
    text = tokens[at].text
    if text[0].isdigit():
        value = Decimal(text.replace(",", ""))
        yield Atom(TokenRole.WHOLE, text, value, first=at, last=at), len(text)
        return
    letters = ""
    for last in range(at, min(at + LONGEST_WINDOW, len(tokens))):
        if not tokens[last].text.isalpha() or len(runs(letters)[0]) > LONGEST_WORD:
            return
        letters += tokens[last].text
        atom = look_up(letters, lenient=lenient)
        if atom and atom.role is not TokenRole.NOISE:
            yield Atom(atom.role, atom.word, atom.value, atom.op, at, last), len(letters)
