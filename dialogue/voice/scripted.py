"""Write from a template, without any model: name the game, point at a passage, offer an exit.

It is the voice until a model is set, and every draft of it is marked as such. The same
brief gives the same words; another seed gives others. It never fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from dialogue.voice.base import Brief, Said, Watch, Written, built
from dialogue.voice.chinese import CHINESE
from dialogue.voice.english import ENGLISH
from dialogue.voice.games import Game, Tongue, game_of
from dialogue.voice.passages import cut, is_chinese, passages, plain, width

QUOTES = (90, 60, 36)  # characters of a quote, from what we like to what must do
SHORT_QUOTES = (36, 20, 10)
KERNELS = (240, 120, 60)
TITLES = (60, 40, 24, 12)

TURNS = 8

Parts = tuple[str, str, str]


class Scripted:
    name = "scripted"

    def write(self, brief: Brief, watch: Watch) -> Written:
        rng = Random(f"{brief.seed}")  # noqa: S311 - variety, not a secret
        pen = _stone if brief.purpose == "stone" else _reply
        written = pen(brief, rng)
        for _ in range(TURNS):  # who was sent back says it otherwise, if there is another way
            if written.text != brief.before:
                break
            written = pen(brief, rng)
        return written


# ── replies ───────────────────────────────────────────────────────────────


def _reply(brief: Brief, rng: Random) -> Written:
    text = brief.comment.text if brief.comment else ""
    own = plain(text)
    says = own if any(letter.isalpha() for letter in own) else _all_said(brief)
    in_chinese = is_chinese(says)
    tongue = CHINESE if in_chinese else ENGLISH
    game = game_of(own, in_chinese=in_chinese)
    return _fitting(_replies(brief, tongue, game, rng), brief.longest)


def _all_said(brief: Brief) -> str:
    return " ".join(plain(f"{said.title} {said.text}"[:500]) for said in brief.thread[-5:])


def _replies(brief: Brief, tongue: Tongue, game: Game, rng: Random) -> Iterator[Parts]:
    """The same reply again and again, each shorter than the one before."""
    terms, exit = rng.choice(tongue.terms[game]), rng.choice(tongue.exits)
    pointer, short = _pointers(brief, tongue, game, rng)
    short_terms, short_exit = tongue.short_terms[game], rng.choice(tongue.short_exits)
    for most in QUOTES:
        yield terms, pointer(most), exit
    yield terms, pointer(QUOTES[-1]), ""
    for most in SHORT_QUOTES:
        yield short_terms, short(most), short_exit
    for most in SHORT_QUOTES:
        yield short_terms, short(most), ""


class _Pointer:
    """A sentence around a quote that may have to be shorter."""

    def __init__(self, frame: str, quote: str, touch: str = "") -> None:
        self.frame, self.quote, self.touch = frame, quote, touch

    def __call__(self, most: int) -> str:
        return self.frame.format(quote=cut(self.quote, most), touch=self.touch)


def _pointers(brief: Brief, tongue: Tongue, game: Game, rng: Random) -> tuple[_Pointer, _Pointer]:
    """A pointer and a short one: into the comment, else into the thread, else at nothing."""
    comments = [*([brief.comment] if brief.comment else []), *reversed(brief.run)]
    quote, touch = _quote(comments, rng, asks=game is Game.ASKING), rng.choice(tongue.touches[game])
    frame, short = rng.choice(tongue.pointers), rng.choice(tongue.short_pointers)
    if quote:
        return _Pointer(frame, quote, touch), _Pointer(short, quote)
    if quote := _quote(reversed(brief.thread), rng):
        return _Pointer(rng.choice(tongue.elsewhere), quote), _Pointer(short, quote)
    return _Pointer(rng.choice(tongue.nowhere), ""), _Pointer(tongue.short_nowhere, "")


def _quote(texts: Iterable[Said], rng: Random, *, asks: bool = False) -> str:
    """One of the fullest passages of the first text that has any; a question where one asks."""
    for said in texts:
        found = passages(said.text) or passages(said.title)
        if asks:
            found = [passage for passage in found if passage.asks] or found
        if found:
            fullest = sorted((passage.words for passage in found), key=width)[-3:]
            return rng.choice([words for words in fullest if width(words) * 2 > width(fullest[-1])])
    return ""


def _fitting(tries: Iterable[Parts], longest: int, title: str = "") -> Written:
    """The first that fits; the last, if none does, so that the check can say so."""
    terms = pointer = exit = ""
    for terms, pointer, exit in tries:
        if len(built(terms, pointer, exit)) <= longest:
            break
    text = built(terms, pointer, exit)
    return Written(terms=terms, pointer=pointer, exit=exit, text=text, title=title)


# ── stones ────────────────────────────────────────────────────────────────


def _stone(brief: Brief, rng: Random) -> Written:
    strangers = [said for said in reversed(brief.thread) if not said.is_ours]
    kernel = [Said(author="", text=brief.kernel)] if brief.kernel else []
    in_chinese = is_chinese(brief.kernel or _all_said(brief))
    tongue = CHINESE if in_chinese else ENGLISH
    frames = tongue.stone_kernels if kernel else tongue.stone_threads
    quote = _question(strangers) if not kernel else _quote(kernel, rng)
    quote = quote or _quote([*kernel, *strangers, *brief.thread], rng)
    pointer = _Pointer(rng.choice(frames) if quote else tongue.stone_nowhere, quote)
    title = _title(quote, brief.longest_title, tongue, rng)
    return _fitting(_stones(pointer, tongue, rng), brief.longest, title)


def _question(texts: Iterable[Said]) -> str:
    """The newest question that somebody asked in the thread."""
    asked = (passage for said in texts for passage in passages(said.text) if passage.asks)
    return next((passage.words for passage in asked), "")


def _stones(pointer: _Pointer, tongue: Tongue, rng: Random) -> Iterator[Parts]:
    terms, exit = rng.choice(tongue.stone_terms), rng.choice(tongue.stone_exits)
    for most in KERNELS:
        yield terms, pointer(most), exit
    for most in KERNELS:
        yield terms, pointer(most), ""
    yield min(tongue.stone_terms, key=len), "", ""


def _title(quote: str, longest: int, tongue: Tongue, rng: Random) -> str:
    frame = rng.choice(tongue.titles)
    for most in TITLES:
        title = frame.format(quote=cut(quote, most))
        if quote and len(title) <= longest:
            return title
    return tongue.bare_title[:longest]
