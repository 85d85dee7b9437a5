"""Check the text of a voice before it becomes a draft. Pure.

Each problem is a sentence that says what to do instead: for the voice in the second request,
and for operators beside the failed attempt. No sentence repeats a secret.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dialogue.voice.base import Reply
from dialogue.voice.prompts import INSTRUCTIONS
from dialogue.voice.quoting import MARKED, seen
from surfaces.adapters.base import Traits
from surfaces.drafts.text_checks import find_text_problems, unwritable
from surfaces.text.reasons import StoredReason, reason

NEAR = Fraction(4, 5)  # share of common shingles from which a text repeats another
SHORTEST_SECRET = 8  # characters; a shorter secret is a common word
LONGEST_LEAK = 119  # characters in a row that may be the same as in a private text

Shingles = frozenset[tuple[str, ...]]

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(r"[^\W_]+")
_CJK_WORD = re.compile(f"[{_CJK}]+")
_MIXED = re.compile(f"[{_CJK}]|[^{_CJK}]+")

# Direction controls, zero-width spaces and tags; joiners and selectors belong to emoji.
_UNSEEN = re.compile(
    "[\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\U000e0000-\U000e007f]"
)
_DECORATION = re.compile(r"[\s#*_>|`-]+")

_URL = re.compile(r"https?://[a-z0-9.-]+\.[a-z]{2,}(?::\d+)?/\S*", re.IGNORECASE)
_MENTION = re.compile(r"(?<![A-Za-z0-9])[@＠﹫](?=\w)|<@[!&]?(?=\d+>)")
_NAME_GOES_ON = re.compile(rf"[.@:-]*(?![{_CJK}])\w")
_NO_NAME = re.compile(r"[^\w.@:-]")
# Mentions of everybody; some services accept them within a word, too.
_CALL = re.compile(
    r"(?i)[@＠﹫](everyone|here|all|channel|room|所有人|全体成员|全體成員)(?![a-z0-9_-]|\.[a-z])"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputContext:
    """All facts that the checks depend on."""

    traits: Traits
    longest: int  # characters of the text
    is_post: bool = False
    people: frozenset[str] = frozenset()  # who wrote in the thread, and our own handle
    last_texts: tuple[str, ...] = ()  # ours, there
    private_texts: tuple[str, ...] = field(default=(), repr=False)  # e.g. the persona
    secrets: tuple[str, ...] = field(default=(), repr=False)


def find_problems(written: Reply, context: OutputContext) -> list[StoredReason]:
    """All problems of the text, in order; [] if there are none."""
    return [
        *find_text_problems(
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


def _too_long(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    if (length := len(written.text)) > context.longest:
        yield reason("check.too_long", length=length, longest=context.longest)


def _missing_parts(written: Reply) -> Iterator[StoredReason]:
    if not written.terms.strip():
        yield reason("check.no_terms")
    if not written.pointer.strip():
        yield reason("check.no_pointer")


def _unwritable_parts(written: Reply) -> Iterator[StoredReason]:
    """The parts are stored with the draft, so they must be storable as well."""
    for name in ("terms", "pointer", "exit"):
        yield from unwritable(getattr(written, name), f"part.{name}")


def _unseen(written: Reply) -> Iterator[StoredReason]:
    if _UNSEEN.search(_sent(written)):
        yield reason("check.invisible")


def _sent(written: Reply) -> str:
    return f"{written.title}\n{written.text}"


# ── whom it calls ─────────────────────────────────────────────────────────


def _strangers_called(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    if any(_is_given_away(secret, _sent(written)) for secret in context.secrets):
        return  # the name may be the secret, and this sentence is stored
    if names := strangers_called(_sent(written), context.people):
        who = ", ".join(f"@{name}" for name in names[:3])
        yield reason("check.mention", who=who)


def strangers_called(text: str, people: frozenset[str]) -> list[str]:
    """Mentioned names that are not in `people`.

    E-mail addresses and paths of links are no mentions. A mention of everybody always counts.
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


def _repeats(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    if is_near_any(written.text, context.last_texts):
        yield reason("check.repeat")


def is_near_any(text: str, others: Iterable[str]) -> bool:
    """Whether any of `others` has nearly the same shingles."""
    mine, reach = shingles(words_of(text)), len(text) // 3
    return any(_is_near(mine, other, reach) for other in others)


def _is_near(mine: Shingles, other: str, reach: int) -> bool:
    # Most texts differ early: stop once the difference is too large.
    beginning = words_of(other[:reach])[:-1]
    if len(beginning) >= 3 and 4 * len(shingles(beginning) - mine) > len(mine):
        return False
    return similarity(mine, shingles(words_of(other))) >= NEAR


def similarity(one: Shingles, other: Shingles) -> Fraction:
    """Jaccard similarity."""
    return Fraction(len(one & other), len(one | other))


def shingles(words: Sequence[str]) -> Shingles:
    """Sets of three consecutive words; of fewer words, the whole."""
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def words_of(text: str) -> list[str]:
    """Lower-case words without punctuation; each Chinese or Japanese character is one."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _CJK_WORD.search(word):
            words.append(word)
        else:
            words += word if _CJK_WORD.fullmatch(word) else _MIXED.findall(word)
    return words


# ── what it tells ─────────────────────────────────────────────────────────


def _leaks(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    whole = "\n".join([_sent(written), written.terms, written.pointer, written.exit])
    if MARKED.search(seen(whole)):
        yield reason("check.prompt_mark")
    if any(_is_told(private, whole) for private in (*context.private_texts, *INSTRUCTIONS)):
        yield reason("check.recites")
    if any(_is_given_away(secret, whole) for secret in context.secrets):
        yield reason("check.secret")


def _is_told(private: str, whole: str) -> bool:
    """Whether a long part of `private` is contained in `whole`, ignoring format."""
    told, private = _undecorated(whole), _undecorated(private)
    size = LONGEST_LEAK + 1
    parts = {told[at : at + size] for at in range(len(told) - size + 1)}
    return any(private[at : at + size] in parts for at in range(len(private) - size + 1))


def _undecorated(text: str) -> str:
    return _DECORATION.sub(" ", seen(text)).casefold()


def _is_given_away(secret: str, whole: str) -> bool:
    """Whether `secret` is contained in `whole`: plain, spaced, reversed or encoded."""
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
    """Plain, reversed, hex, and base64 at every offset."""
    raw = secret.encode("utf-8", "surrogatepass")
    plain = _letters(secret)
    if len(plain) >= SHORTEST_SECRET:
        yield from (plain, plain[::-1])
    yield raw.hex()
    for before in range(3):
        encoded = b64encode(b"-" * before + raw).decode().rstrip("=")
        # The first and last characters also depend on their neighbours.
        yield _letters(encoded[(0, 2, 3)[before] : -1])
