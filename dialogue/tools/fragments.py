"""What several texts say together: a sentence in pieces, an address in words. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TypeVar

PIECE, SIGN_PIECE = 3, 5  # words in a row that may be a piece of a sentence that was cut up
PIECES = 8  # words in a row that are such pieces; a sign is half a word
MOST_WORDS = 8_000  # of one argument
PART_OF_EVERY = {"http", "https", "www"}  # address

T = TypeVar("T")
Piece = tuple[str, ...]
Places = dict[Piece, list[int]]
IsSign = Callable[[str], object]  # whether a word is one character of a script without blanks
Told = Iterable[tuple[T, Iterable[Sequence[str]]]]  # each source with the words of its forms


def shared_pieces(
    asked: Iterable[Sequence[str]], told: Told[T], *, is_sign: IsSign
) -> dict[T, set[Piece]]:
    """Of each source the pieces that stand in any of the asked texts, too."""
    wanted: set[Piece] = set()
    for words in asked:
        if _is_long(words[:MOST_WORDS], is_sign):
            wanted.update(_places(words[:MOST_WORDS], is_sign))
    return {source: _common(texts, wanted) for source, texts in told if wanted}


def pieced_together(
    words: Sequence[str], shared: Mapping[T, Set[Piece]], *, is_sign: IsSign
) -> list[T]:
    """Sources of the pieces of a run of words that consists of nothing else.

    `shared`: from `shared_pieces`, of this text and maybe of others.
    """
    words = words[:MOST_WORDS]
    if not shared or not _is_long(words, is_sign):
        return []
    weights = [0.5 if is_sign(word) else 1 for word in words]
    places = _places(words, is_sign)
    pieces = {source: here & places.keys() for source, here in shared.items()}
    covered = bytearray(len(words))
    for piece in set().union(*pieces.values()):
        for at in places[piece]:
            covered[at : at + len(piece)] = b"\1" * len(piece)
    runs = _runs(covered, weights)
    return [
        source for source, here in pieces.items()
        if any(begin <= at < end for piece in here for at in places[piece] for begin, end in runs)
    ]  # fmt: skip


def spelled_out(addresses: Iterable[Sequence[str]], told: Told[T]) -> list[T]:
    """Sources of the words of those addresses whose words all stand somewhere."""
    wanted = [set(words) - PART_OF_EVERY for words in addresses]
    asked = set[str]().union(*wanted)
    if not asked:
        return []
    here = {source: {word for words in texts for word in asked.intersection(words)}
            for source, texts in told}  # fmt: skip
    known = set[str]().union(*here.values())
    spelled = set[str]().union(*(words for words in wanted if words <= known))
    return [source for source, words in here.items() if words & spelled]


def _runs(covered: Sequence[int], weights: Sequence[float]) -> list[tuple[int, int]]:
    """Where words are covered one after the other, enough of them."""
    found, begin = [], 0
    for end in range(len(covered) + 1):
        if end < len(covered) and covered[end]:
            continue
        if sum(weights[begin:end]) >= PIECES:
            found.append((begin, end))
        begin = end + 1
    return found


def _is_long(words: Sequence[str], is_sign: IsSign) -> bool:
    return sum(0.5 if is_sign(word) else 1 for word in words) >= PIECES


def _places(words: Sequence[str], is_sign: IsSign) -> Places:
    """Where each piece begins."""
    places: Places = defaultdict(list)
    for size in (PIECE, SIGN_PIECE):
        for at in range(len(words) - size + 1):
            piece = tuple(words[at : at + size])
            if any(map(is_sign, piece)) == (size == SIGN_PIECE):
                places[piece].append(at)
    return places


def _common(texts: Iterable[Sequence[str]], wanted: set[Piece]) -> set[Piece]:
    sizes = set(map(len, wanted))
    found: set[Piece] = set()
    for words in texts:
        for size in sizes:
            found |= wanted.intersection(zip(*(words[at:] for at in range(size)), strict=False))
    return found
