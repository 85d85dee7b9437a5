"""Look over what a voice wrote before it becomes a draft.

Pure. Each finding is a sentence that says what to do instead; the voice reads it when it
is asked once more, and operators read it beside the failed try. None repeats a secret.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dialogue.prompting import INSTRUCTIONS
from dialogue.quoting import MARKED, seen
from dialogue.voice.base import Written
from surfaces.adapters.base import Traits
from surfaces.checks import problems, unwritable

NEAR = Fraction(4, 5)  # of all shingles; from there on, a text repeats another
SHORTEST_SECRET = 8  # characters; anything shorter is a word
LONGEST_LEAK = 119  # characters in a row that may be the same as in a private text

Shingles = frozenset[tuple[str, ...]]

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(r"[^\W_]+")
_CJK_WORD = re.compile(f"[{_CJK}]+")
_MIXED = re.compile(f"[{_CJK}]|[^{_CJK}]+")

# Turned writing, spaces without width and tags; joiners and selectors belong to emoji.
_UNSEEN = re.compile(
    "[\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\U000e0000-\U000e007f]"
)
_DECORATION = re.compile(r"[\s#*_>|`-]+")

_URL = re.compile(r"https?://[a-z0-9.-]+\.[a-z]{2,}(?::\d+)?/\S*", re.IGNORECASE)
_MENTION = re.compile(r"(?<![A-Za-z0-9])[@＠﹫](?=\w)|<@[!&]?(?=\d+>)")
_NAME_GOES_ON = re.compile(rf"[.@:-]*(?![{_CJK}])\w")
_NO_NAME = re.compile(r"[^\w.@:-]")
# Words that call a whole place; some services hear them in the middle of a word, too.
_CALL = re.compile(
    r"(?i)[@＠﹫](everyone|here|all|channel|room|所有人|全体成员|全體成員)(?![a-z0-9_-]|\.[a-z])"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """All that the checks may depend on."""

    traits: Traits
    longest: int  # characters of the text
    is_post: bool = False
    people: frozenset[str] = frozenset()  # who wrote in the thread, and our own handle
    last_texts: tuple[str, ...] = ()  # ours, there
    private_texts: tuple[str, ...] = field(default=(), repr=False)  # e.g. the persona
    secrets: tuple[str, ...] = field(default=(), repr=False)


def faults(written: Written, context: Context) -> list[str]:
    """Everything that keeps these words from becoming a draft, in order; [] when nothing does."""
    return [
        *problems(
            text=written.text,
            title=written.title,
            is_post=context.is_post,
            traits=context.traits,
        ),
        *_too_long(written, context),
        *_missing_parts(written),
        *_unwritable_parts(written),
        *_unseen(written),
        *_strangers_called(written, context),
        *_repeats(written, context),
        *_leaks(written, context),
    ]


# ── its form ──────────────────────────────────────────────────────────────


def _too_long(written: Written, context: Context) -> Iterator[str]:
    if (length := len(written.text)) > context.longest:
        yield (
            f"The text has {length:,} characters; {context.longest:,} are allowed here. Shorten it."
        )


def _missing_parts(written: Written) -> Iterator[str]:
    if not written.terms.strip():
        yield "The terms are empty. Say which game we are in."
    if not written.pointer.strip():
        yield "The pointer is empty. Point at one concrete behaviour or passage."


def _unwritable_parts(written: Written) -> Iterator[str]:
    """The parts are kept beside the draft, so they must be storable as well."""
    for name in ("terms", "pointer", "exit"):
        yield from unwritable(getattr(written, name), name)


def _unseen(written: Written) -> Iterator[str]:
    if _UNSEEN.search(_sent(written)):
        yield "The text holds characters that nobody can see. Write it without them."


def _sent(written: Written) -> str:
    return f"{written.title}\n{written.text}"


# ── whom it calls ─────────────────────────────────────────────────────────


def _strangers_called(written: Written, context: Context) -> Iterator[str]:
    if any(_is_given_away(secret, _sent(written)) for secret in context.secrets):
        return  # the name may be the secret, and what is said here is kept
    if names := strangers_called(_sent(written), context.people):
        who = ", ".join(f"@{name}" for name in names[:3])
        yield f"The text mentions {who}: nobody of this thread. Leave the @ or the name out."


def strangers_called(text: str, people: frozenset[str]) -> list[str]:
    """The names behind an @ that nobody among `people` has.

    An e-mail address calls nobody, nor does the path of a link. Who calls everyone
    always calls strangers.
    """
    shown = seen(text)
    known = [name for person in people if (name := person.casefold().lstrip("@＠﹫"))]
    found = [match[1].casefold() for match in _CALL.finditer(shown)]
    rest = _URL.sub(" ", _CALL.sub(" ", shown))
    for match in _MENTION.finditer(rest):
        name = rest[match.end() : match.end() + 200].casefold()
        if not any(_is_named(name, person) for person in known):
            found.append(_first_name(name))
    return list(dict.fromkeys(found))


def _is_named(name: str, person: str) -> bool:
    return name.startswith(person) and not _NAME_GOES_ON.match(name, len(person))


def _first_name(name: str) -> str:
    return _NO_NAME.split(name, maxsplit=1)[0][:30].rstrip(".@:-")


# ── what it repeats ───────────────────────────────────────────────────────


def _repeats(written: Written, context: Context) -> Iterator[str]:
    if is_near_any(written.text, context.last_texts):
        yield "The text repeats one of your last texts here. Say something new, in other words."


def is_near_any(text: str, others: Iterable[str]) -> bool:
    """Whether any of `others` has nearly the same shingles."""
    mine, reach = shingles(words_of(text)), len(text) // 3
    return any(_is_near(mine, other, reach) for other in others)


def _is_near(mine: Shingles, other: str, reach: int) -> bool:
    # Most texts differ from their first lines on, and what they have alone only grows.
    beginning = words_of(other[:reach])[:-1]
    if len(beginning) >= 3 and 4 * len(shingles(beginning) - mine) > len(mine):
        return False
    return similarity(mine, shingles(words_of(other))) >= NEAR


def similarity(one: Shingles, other: Shingles) -> Fraction:
    """What they share of all they have (Jaccard), exactly."""
    return Fraction(len(one & other), len(one | other))


def shingles(words: Sequence[str]) -> Shingles:
    """Every three words in a row; of fewer words, the whole."""
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def words_of(text: str) -> list[str]:
    """Words without case and dress; in Chinese and Japanese, every character is one."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _CJK_WORD.search(word):
            words.append(word)
        else:
            words += word if _CJK_WORD.fullmatch(word) else _MIXED.findall(word)
    return words


# ── what it tells ─────────────────────────────────────────────────────────


def _leaks(written: Written, context: Context) -> Iterator[str]:
    whole = "\n".join([_sent(written), written.terms, written.pointer, written.exit])
    if MARKED.search(seen(whole)):
        yield "The text holds a mark of the prompt. Quote only what people wrote."
    if any(_is_told(private, whole) for private in (*context.private_texts, *INSTRUCTIONS)):
        yield "The text recites what you were told. Say it in your own words, or leave it out."
    if any(_is_given_away(secret, whole) for secret in context.secrets):
        yield "The text gives away a secret. Leave it out, in every form."


def _is_told(private: str, whole: str) -> bool:
    """Whether a long part of `private` stands in `whole`, however it is set."""
    told, private = _undecorated(whole), _undecorated(private)
    size = LONGEST_LEAK + 1
    parts = {told[at : at + size] for at in range(len(told) - size + 1)}
    return any(private[at : at + size] in parts for at in range(len(private) - size + 1))


def _undecorated(text: str) -> str:
    return _DECORATION.sub(" ", seen(text)).casefold()


def _is_given_away(secret: str, whole: str) -> bool:
    """Whether `secret` stands in `whole`: as it is, spaced, turned round, or encoded."""
    if len(secret) < SHORTEST_SECRET:
        return False
    letters = _letters(whole)
    return secret in whole or any(form in letters for form in _forms(secret))


def _letters(text: str) -> str:
    shown = seen(text)
    # NFKC is quadratic in runs of combining marks, so it gets short pieces.
    pieces = (shown[at : at + 1_000] for at in range(0, len(shown), 1_000))
    whole = "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
    return "".join(_WORD.findall(whole.casefold()))


def _forms(secret: str) -> Iterator[str]:
    """Its letters; backwards; in hex; and in base64, wherever in a longer text it stood."""
    raw = secret.encode("utf-8", "surrogatepass")
    plain = _letters(secret)
    if len(plain) >= SHORTEST_SECRET:
        yield from (plain, plain[::-1])
    yield raw.hex()
    for before in range(3):
        encoded = b64encode(b"-" * before + raw).decode().rstrip("=")
        # The first and last signs also depend on their neighbours.
        yield _letters(encoded[(0, 2, 3)[before] : -1])
