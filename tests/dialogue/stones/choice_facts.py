"""Facts to choose a stone from: drawn at random, or made of a few words."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as some

from dialogue.stones.choice import (
    ChoiceFacts,
    CommentFacts,
    KernelFacts,
    PostFacts,
    StoneSource,
    drawn,
)
from tests.factories import NOON

DAY = timedelta(days=1)
SLOT = "2026-11-21#1"
A_KERNEL = KernelFacts(id=1, words="What is a border made of?")

comments = some.builds(
    CommentFacts,
    author=some.sampled_from("abcdef"),
    is_question=some.booleans(),
    is_ours=some.booleans(),
    is_spam=some.booleans(),
)
posts = some.lists(
    some.builds(
        PostFacts,
        id=some.integers(1, 1_000),
        title=some.text(max_size=20),
        created_at=some.floats(-1, 20).map(lambda days: NOON - timedelta(days=days)),
        comments=some.lists(comments, max_size=6),
    ),
    max_size=8,
    unique_by=lambda post: post.id,
)
kernels = some.lists(
    some.builds(
        KernelFacts,
        id=some.integers(1, 1_000),
        last_used_at=some.none() | some.integers(0, 90).map(lambda days: NOON - days * DAY),
    ),
    max_size=5,
    unique_by=lambda kernel: kernel.id,
)
facts = some.builds(
    ChoiceFacts,
    presence=some.integers(1, 10**9),
    slot=some.integers(1, 24).map(lambda number: f"2026-11-21#{number}"),
    share=some.floats(0, 1),
    posts=posts,
    kernels=kernels,
)


def make_facts(**given) -> ChoiceFacts:
    return ChoiceFacts(**({"presence": 7, "slot": SLOT, "share": 0.25} | given))


def make_talk(
    number: int, *, ago: float = 0.0, authors: str = "a", questions: int = 0
) -> PostFacts:
    """A post of ours, with one comment by each of `authors`, the first of them questions."""
    said = [
        CommentFacts(author=name, is_question=at < questions) for at, name in enumerate(authors)
    ]
    return PostFacts(
        id=number, title=f"On tides {number}", created_at=NOON - ago * DAY, comments=said
    )


def slots_where(kind: StoneSource, share: float = 0.25) -> list[str]:
    """Slots whose draw falls to that side."""
    names = [f"2026-11-21#{number}" for number in range(1, 60)]
    explores = kind == StoneSource.EXPLORE
    return [name for name in names if (drawn(7, name) < share) == explores]
