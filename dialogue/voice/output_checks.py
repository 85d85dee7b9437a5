"""Check the text of a voice before it becomes a draft. Pure.

Each problem is a sentence that says what to do instead: for the voice in the second request,
and for operators beside the failed attempt. No sentence repeats a secret.
"""

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
    traits: Traits
    longest: int  # characters of the text
    is_post: bool = False
    people: frozenset[str] = frozenset()  # who wrote in the thread, and our own handle
    last_texts: tuple[str, ...] = ()  # ours, there
    private_texts: tuple[str, ...] = field(default=(), repr=False)  # e.g. the persona
    secrets: tuple[str, ...] = field(default=(), repr=False)


def find_problems(written: Reply, context: OutputContext) -> list[StoredReason]:
    """All problems of the text, in order; [] if there are none."""
    return [*_form_problems(written, context), *_content_problems(written, context)]


def _form_problems(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    yield from find_text_problems(
        text=written.text, title=written.title, is_post=context.is_post, traits=context.traits
    )
    if (length := len(written.text)) > context.longest:
        yield reason("check.too_long", length=length, longest=context.longest)
    if not written.terms.strip():
        yield reason("check.no_terms")
    if not written.pointer.strip():
        yield reason("check.no_pointer")
    # The parts are stored with the draft, so they must be storable as well.
    for name in ("terms", "pointer", "exit"):
        yield from unwritable(getattr(written, name), f"part.{name}")
    if _UNSEEN.search(f"{written.title}\n{written.text}"):
        yield reason("check.invisible")


def _content_problems(written: Reply, context: OutputContext) -> Iterator[StoredReason]:
    sent = f"{written.title}\n{written.text}"
    # A name may be the secret, and the sentence about it is stored.
    tells = any(_is_given_away(secret, sent) for secret in context.secrets)
    if not tells and (names := strangers_called(sent, context.people)):
        yield reason("check.mention", who=", ".join(f"@{name}" for name in names[:3]))
    if is_near_any(written.text, context.last_texts):
        yield reason("check.repeat")
    whole = "\n".join([sent, written.terms, written.pointer, written.exit])
    if MARKED.search(seen(whole)):
        yield reason("check.prompt_mark")
    if any(_is_told(private, whole) for private in (*context.private_texts, *INSTRUCTIONS)):
        yield reason("check.recites")
    if any(_is_given_away(secret, whole) for secret in context.secrets):
        yield reason("check.secret")


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
        people_named = (person for person in known if name.startswith(person))
        if all(_NAME_GOES_ON.match(name, len(person)) for person in people_named):
            found.append(_NO_NAME.split(name, maxsplit=1)[0][:30].rstrip(".@:-"))
    return list(dict.fromkeys(found))


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
