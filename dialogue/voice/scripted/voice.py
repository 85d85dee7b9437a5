"""The scripted voice: write terms, pointer and exit from templates, without a model.

It is the default voice, and its drafts are marked. The same brief and seed give the same text.
It never fails.
"""

from collections.abc import Callable, Iterable, Iterator
from random import Random

from dialogue.errors import ToolBroken
from dialogue.voice.base import (
    Brief,
    Ending,
    NothingToSay,
    Reply,
    SuspendedConversation,
    ThreadMessage,
    ToolBelt,
    UsageRecorder,
    built,
)
from dialogue.voice.scripted.classify import Intent, Phrases, classify
from dialogue.voice.scripted.passages import display_width, is_chinese, passages, plain, shorten
from dialogue.voice.scripted.phrases_en import ENGLISH
from dialogue.voice.scripted.phrases_zh import CHINESE

QUOTES = (90, 60, 36)  # lengths of a quote, from preferred to shortest
SHORT_QUOTES = (36, 20, 10)
KERNELS = (240, 120, 60)
TITLES = (60, 40, 24, 12)

TURNS = 8
NEEDS_MODEL = {
    "explore": "Nothing to engage with right now.",
    "task": "The scripted voice cannot do a task. Add a language model to the agent.",
}
CALLS_DECIDED = "The tool calls were decided. The scripted voice adds nothing to them."

Parts = tuple[str, str, str]
Pointer = Callable[[int], str]  # a sentence with a quote of at most so many characters


class ScriptedVoice:
    name = "scripted"

    def write(
        self,
        brief: Brief,
        watch: UsageRecorder,
        *,
        tools: ToolBelt | None = None,
        suspended: SuspendedConversation | None = None,
    ) -> Ending:
        """Write a reply, comment or post. It calls no tools, and chooses and plans nothing.

        In a conversation that waited, calls that were approved meanwhile run.
        """
        outcomes = tools.decided() if tools and suspended else {}
        for outcome in outcomes.values():
            if outcome.is_waiting and suspended:
                return suspended
            if outcome.is_fatal:
                raise ToolBroken(outcome.why or outcome.text)
        if outcomes and brief.purpose in NEEDS_MODEL:
            return NothingToSay(words=CALLS_DECIDED)
        if silence := NEEDS_MODEL.get(brief.purpose):
            return NothingToSay(words=silence)
        rng = Random(f"{brief.seed}")  # noqa: S311 - variety, not a secret
        pen = _stone if brief.purpose == "stone" else _reply
        written = pen(brief, rng)
        for _ in range(TURNS):  # a draft that was sent back gets another wording, if there is one
            if written.text != brief.before:
                break
            written = pen(brief, rng)
        return written


def _reply(brief: Brief, rng: Random) -> Reply:
    text = brief.answered.text if brief.answered else ""
    own = plain(text)
    says = own if any(letter.isalpha() for letter in own) else _all_said(brief)
    in_chinese = is_chinese(says)
    tongue = CHINESE if in_chinese else ENGLISH
    game = classify(own, in_chinese=in_chinese)
    return _fitting(_replies(brief, tongue, game, rng), brief.longest)


def _all_said(brief: Brief) -> str:
    return " ".join(plain(f"{said.title} {said.text}"[:500]) for said in brief.thread[-5:])


def _replies(brief: Brief, tongue: Phrases, game: Intent, rng: Random) -> Iterator[Parts]:
    """The same reply in ever shorter forms."""
    terms, exit = rng.choice(tongue.terms[game]), rng.choice(tongue.exits)
    pointer, short = _pointers(brief, tongue, game, rng)
    short_terms, short_exit = tongue.short_terms[game], rng.choice(tongue.short_exits)
    yield from ((terms, pointer(most), exit) for most in QUOTES)
    yield terms, pointer(QUOTES[-1]), ""
    for ending in (short_exit, ""):
        yield from ((short_terms, short(most), ending) for most in SHORT_QUOTES)


def _pointer(frame: str, quote: str, touch: str = "") -> Pointer:
    return lambda most: frame.format(quote=shorten(quote, most), touch=touch)


def _pointers(brief: Brief, tongue: Phrases, game: Intent, rng: Random) -> tuple[Pointer, Pointer]:
    """A pointer and a short one: to the comment, else to the thread, else without a quote."""
    comments = [*([brief.answered] if brief.answered else []), *reversed(brief.run)]
    quote = _quote(comments, rng, asks=game is Intent.ASKING)
    touch = rng.choice(tongue.touches[game])
    frame, short = rng.choice(tongue.pointers), rng.choice(tongue.short_pointers)
    if quote:
        return _pointer(frame, quote, touch), _pointer(short, quote)
    if quote := _quote(reversed(brief.thread), rng):
        return _pointer(rng.choice(tongue.elsewhere), quote), _pointer(short, quote)
    return _pointer(rng.choice(tongue.nowhere), ""), _pointer(tongue.short_nowhere, "")


def _quote(texts: Iterable[ThreadMessage], rng: Random, *, asks: bool = False) -> str:
    """One of the longest passages of the first text that has any; a question if there is one."""
    for said in texts:
        found = passages(said.text) or passages(said.title)
        if asks:
            found = [passage for passage in found if passage.asks] or found
        if found:
            fullest = sorted((passage.words for passage in found), key=display_width)[-3:]
            half = display_width(fullest[-1]) / 2
            return rng.choice([words for words in fullest if display_width(words) > half])
    return ""


def _fitting(tries: Iterable[Parts], longest: int, title: str = "") -> Reply:
    """The first that fits; else the last, which the check will refuse."""
    terms = pointer = exit = ""
    for terms, pointer, exit in tries:
        if len(built(terms, pointer, exit)) <= longest:
            break
    text = built(terms, pointer, exit)
    return Reply(terms=terms, pointer=pointer, exit=exit, text=text, title=title)


def _stone(brief: Brief, rng: Random) -> Reply:
    strangers = [said for said in reversed(brief.thread) if not said.is_ours]
    kernel = [ThreadMessage(author="", text=brief.kernel)] if brief.kernel else []
    in_chinese = is_chinese(brief.kernel or _all_said(brief))
    tongue = CHINESE if in_chinese else ENGLISH
    frames = tongue.stone_kernels if kernel else tongue.stone_threads
    asked = (passage for said in strangers for passage in passages(said.text) if passage.asks)
    question = next((passage.words for passage in asked), "")  # the newest of the thread
    quote = _quote(kernel, rng) if kernel else question
    quote = quote or _quote([*kernel, *strangers, *brief.thread], rng)
    pointer = _pointer(rng.choice(frames) if quote else tongue.stone_nowhere, quote)
    title = _title(quote, brief.longest_title, tongue, rng)
    return _fitting(_stones(pointer, tongue, rng), brief.longest, title)


def _stones(pointer: Pointer, tongue: Phrases, rng: Random) -> Iterator[Parts]:
    terms, exit = rng.choice(tongue.stone_terms), rng.choice(tongue.stone_exits)
    for ending in (exit, ""):
        yield from ((terms, pointer(most), ending) for most in KERNELS)
    yield min(tongue.stone_terms, key=len), "", ""


def _title(quote: str, longest: int, tongue: Phrases, rng: Random) -> str:
    frame = rng.choice(tongue.titles)
    for most in TITLES:
        title = frame.format(quote=shorten(quote, most))
        if quote and len(title) <= longest:
            return title
    return tongue.bare_title[:longest]
