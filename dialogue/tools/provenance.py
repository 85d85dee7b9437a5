"""Provenance: whose words stand in the arguments of a tool call. Pure.

A text is compared as its letters and digits, in lower case: blanks, punctuation, width, accents,
invisible characters and markup between them make no difference, nor do Greek and Cyrillic letters
that look like Latin ones. Words rest on a source if they share

- five words in a row (eight characters in Chinese and Japanese), or 24 letters in a row, or
- one whole token: an address, an e-mail address, a @name, an id, a number of six digits or more, or
- all of a short argument, if it has four words.

They rest on several sources together if eight words in a row are pieces of three or more of them,
or if an address is put together of words that stand in them.

Both sides are also read as if they were URL-encoded, base64, base32, hexadecimal or escaped, and
the arguments backwards and in ROT13, each by itself and all of them together. Paraphrases,
translations and other ciphers are not found: no comparison of words finds them.
"""

import re
import unicodedata
from codecs import encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from dialogue.tools.encodings import LONGEST, decoded
from dialogue.tools.fragments import Piece, pieced_together, shared_pieces, spelled_out

WORDS = 5  # in a row
CJK_WORDS = 8  # where each character is a word
LETTERS = 24  # in a row
LEAST_WHOLE = 4  # words of a short argument that stands in a source as a whole
BLOCK = LETTERS // 2  # every run of LETTERS holds a block that begins at a multiple of this
DEEPEST = 20  # levels of nested values
SHORT = 120  # characters of an argument that may be a token as a whole
MOST_READ = 512  # sources whose forms are kept: each call of a conversation asks for the same

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# What a model is not shown, and marks on letters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u0300-\u036f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_CJK_WORD = re.compile(f"[{_CJK}]")
# Bounded and possessive, so that no text makes them slow.
_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'`|\\)\]}]+"
    r"|(?<!\w)(?:[\w-]{1,63}+\.){1,10}[a-z]{2,24}+(?!\w)[^\s<>\"'`|)\]}]*"
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,10}[\w-]{2,63}+")
_NAME = re.compile(r"(?<![\w.])@([\w.-]*\w)")
_NUMBER = re.compile(r"(?<!\w)\+?\d(?:[ ./()-]{0,2}\d){5,}(?!\w)")
_ID = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}(?!\w)")
_ENDS = ".,;:!?'\"()[]{}<>*_`~/"
# Small letters of other scripts that are read as Latin ones.
_LOOKS_LIKE = dict(
    zip(
        "авсԁеԍһніјкӏмոорԛѕтսѵԝхуαβεγηικμνορτυχωζıɑɡłøđ",
        "abcdeghhijklmnopqstuvwxyabeynikmvoptuxwziaglod",
        strict=True,
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Something whose text the model was shown."""

    kind: str  # message, memory, item (of a service, not stored), page, tool
    id: str = ""
    author: str = ""
    trust: int = 0  # `dialogue.memory.models.Trust`
    text: str = ""


def trace(arguments: Mapping[str, Any], sources: Sequence[Source]) -> dict[str, list[Source]]:
    """For each argument, the sources whose words are in it, least trusted first.

    Arguments that rest on none are left out.
    """
    asked = {name: _Asked.of(value) for name, value in arguments.items()}
    # A sentence may be parted between arguments.
    values = list(arguments.values())
    together = _Asked.of([*values, *reversed(values)]) if len(asked) > 1 else None
    found: dict[str, list[Source]] = {name: [] for name in asked}
    shown = {source: _forms(source.text[:LONGEST]) for source in dict.fromkeys(sources)}
    for source, told in shown.items():
        names = [name for name, argument in asked.items() if argument.rests_on_any(told)]
        if not names and together and together.rests_on_any(told):
            names = list(asked)
        for name in names:
            found[name].append(source)
    told_words = [(source, [text.words for text in told]) for source, told in shown.items()]
    plain = [text.words for argument in asked.values() for text in argument.plain]
    shared = shared_pieces(plain, told_words, is_sign=_CJK_WORD.fullmatch)
    for name, argument in asked.items():
        others = argument.put_together(told_words, shared)
        found[name] += [one for one in others if one not in found[name]]
    return {name: sorted(by, key=lambda one: one.trust) for name, by in found.items() if by}


def least_trust(found: Mapping[str, Iterable[Source]]) -> int | None:
    """The least trust of all sources of a call; None if it rests on none."""
    return min((source.trust for by in found.values() for source in by), default=None)


def resembles(text: str, source: str) -> bool:
    """Whether half of the words of `text` stand in `source`, in any order.

    Less than `trace` asks for: for what is kept, where a doubt lasts.
    """
    told = _forms(source[:LONGEST])
    theirs = {word for form in told for word in form.words}
    forms = decoded(text[:LONGEST])
    return any(_is_like(_Text(form), told, theirs) for form in [*forms, text[:LONGEST][::-1]])


def says(value: Any, words: str) -> bool:
    """Whether exactly these words stand in a value, as they are, encoded or backwards."""
    told = [*_texts(value)]
    forms = (form for text in (*told, "".join(told)) for form in decoded(text[:LONGEST]))
    return any(words in form or words in form[::-1] for form in forms)


def _tells(word: str) -> bool:
    return len(word) > 3 or not word.isascii() or word.isdigit()


class _Text:
    """A text in the forms that are compared."""

    def __init__(self, text: str) -> None:
        self.plain = _normal(text)
        self.words: list[str] = _WORD.findall(self.plain)
        self.letters = "".join(self.words)
        self.tokens = frozenset(_tokens(self.plain))


@lru_cache(maxsize=MOST_READ)
def _forms(text: str) -> tuple[_Text, ...]:
    return tuple(_Text(form) for form in decoded(text))


def _is_like(text: _Text, told: Iterable[_Text], theirs: Set[str]) -> bool:
    mine = {word for word in text.words if _tells(word)}
    if not mine:  # no more than a piece of something
        return bool(text.letters) and any(text.letters in form.letters for form in told)
    return 2 * len(mine & theirs) >= len(mine)


class _Asked:
    """An argument, indexed so that a source is walked through once."""

    def __init__(self, texts: Sequence[str]) -> None:
        forms = list(dict.fromkeys(form for text in texts for form in decoded(text)))
        turned = [other for form in forms for other in (form[::-1], encode(form, "rot13"))]
        self.plain = [_Text(form) for form in forms]
        read = [*self.plain, *(_Text(form) for form in turned)]
        short = [text for text in read if len(text.plain) <= SHORT]
        self.wholes = {text.letters for text in short if len(text.words) >= LEAST_WHOLE}
        self.grams = {gram for text in read for gram in _runs(text.words, WORDS)}
        self.long_grams = {gram for text in read for gram in _runs(text.words, CJK_WORDS)}
        self.blocks = {part for text in read for part in _pieces(text.letters, BLOCK)}
        self.parts = {part for text in read for part in _pieces(text.letters, LETTERS)}
        self.tokens = {token for text in read for token in text.tokens}
        # A short argument may be a name, or an id, that stands in a sentence there.
        self.tokens |= {text.plain.strip().lstrip("@") for text in short}
        self.tokens -= {""}

    @classmethod
    def of(cls, value: Any) -> Self:
        texts, room = [], LONGEST
        for text in _texts(value):
            texts.append(text[:room])
            room -= len(text)
            if room <= 0:
                break
        # Together as well: a sentence may be cut into the values of a list.
        return cls([*texts, " ".join(texts)] if len(texts) > 1 else texts)

    def rests_on_any(self, texts: Iterable[_Text]) -> bool:
        return any(self.rests_on(text) for text in texts)

    def rests_on(self, text: _Text) -> bool:
        return (
            not self.tokens.isdisjoint(text.tokens)
            or self._shares_letters(text.letters)
            or self._shares_words(text.words)
            or any(whole in text.letters for whole in self.wholes)
        )

    def put_together(
        self, told: Sequence[tuple[Source, list[list[str]]]], shared: Mapping[Source, Set[Piece]]
    ) -> list[Source]:
        """Sources whose pieces make up a sentence or an address of this argument."""
        found: dict[Source, None] = {}
        for text in self.plain:
            found |= dict.fromkeys(pieced_together(text.words, shared, is_sign=_CJK_WORD.fullmatch))
        addresses = [_WORD.findall(token) for token in sorted(self.tokens) if "." in token]
        found |= dict.fromkeys(spelled_out(addresses, told))
        return [*found]

    def _shares_letters(self, letters: str) -> bool:
        for at in range(0, len(letters) - BLOCK + 1, BLOCK):
            if letters[at : at + BLOCK] in self.blocks:
                begins = range(max(at - BLOCK, 0), at + 1)
                if any(letters[begin : begin + LETTERS] in self.parts for begin in begins):
                    return True
        return False

    def _shares_words(self, words: Sequence[str]) -> bool:
        for at, gram in enumerate(_runs(words, WORDS)):
            if gram in self.grams:
                if not all(map(_CJK_WORD.fullmatch, gram)):
                    return True
                if tuple(words[at : at + CJK_WORDS]) in self.long_grams:
                    return True
        return False


def _normal(text: str) -> str:
    text = _HIDDEN.sub("", text)
    if text.isascii():
        return text.lower()
    # NFKC is quadratic in runs of combining marks, so it gets short pieces.
    pieces = (text[at : at + 1_000] for at in range(0, len(text), 1_000))
    text = "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
    return text.casefold().translate(_BARE)


def _bare() -> dict[int, str]:
    """Latin, Greek and Cyrillic letters without their accents, as the Latin ones they look like."""
    letters = map(chr, (*range(0x80, 0x588), *range(0x1E00, 0x2000)))
    plain = {letter: unicodedata.normalize("NFD", letter)[:1] for letter in letters}
    return {ord(letter): _LOOKS_LIKE.get(base, base) for letter, base in plain.items()}


_BARE = _bare()


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(size)), strict=False)


def _pieces(letters: str, size: int) -> Iterator[str]:
    return (letters[at : at + size] for at in range(len(letters) - size + 1))


def _tokens(plain: str) -> Iterator[str]:
    for found in _URL.findall(plain):
        whole = found.strip(_ENDS)
        bare = re.sub(r"^[a-z]+://(?:www\.)?", "", whole)
        yield from (bare, bare.partition("/")[0])
    yield from _MAIL.findall(plain)
    yield from (name.strip(_ENDS) for name in _NAME.findall(plain))
    yield from (re.sub(r"\D", "", number) for number in _NUMBER.findall(plain))
    yield from _ID.findall(plain)


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text and number in a value, keys included."""
    if depth > DEEPEST:
        yield repr(value)[:LONGEST]
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _texts(inner, depth + 1)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
