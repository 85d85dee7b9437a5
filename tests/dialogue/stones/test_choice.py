"""What a stone grows from: the same for the same facts, and explained."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dialogue.stones.choice import (
    ChoiceFacts,
    KernelFacts,
    StoneSource,
    choose,
    drawn,
    rest_of,
    score_table,
)
from tests.dialogue.stones.choice_facts import (
    A_KERNEL,
    DAY,
    SLOT,
    facts,
    make_facts,
    make_talk,
    slots_where,
)
from tests.factories import NOON

# ── the same facts, the same choice ───────────────────────────────────────


@given(facts)
def test_the_same_facts_give_the_same_choice(given: ChoiceFacts):
    assert choose(given, now=NOON) == choose(given, now=NOON)


@given(facts, some.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(given: ChoiceFacts, rng):
    shuffled = replace(
        given,
        posts=[
            replace(post, comments=rng.sample(post.comments, len(post.comments)))
            for post in rng.sample(given.posts, len(given.posts))
        ],
        kernels=rng.sample(given.kernels, len(given.kernels)),
    )
    assert choose(shuffled, now=NOON) == choose(given, now=NOON)


def test_the_draw_is_another_one_in_every_slot_and_presence():
    draws = {drawn(presence, f"2026-11-21#{at}") for presence in range(50) for at in range(1, 21)}
    assert len(draws) == 1_000


@given(facts)
def test_a_choice_names_what_it_grows_from_and_why(given: ChoiceFacts):
    choice = choose(given, now=NOON)
    assert str(choice.why).endswith(".")
    assert 0 <= choice.draw < 1
    if choice.kind == StoneSource.EXPLORE:
        assert choice.kernel_id in {kernel.id for kernel in given.kernels}
        assert choice.post_id is None
    elif choice.kind == StoneSource.EXPLOIT:
        assert choice.post_id in {row.post for row in choice.table}
        assert choice.kernel_id is None
    else:
        assert not choice.table
        assert not given.kernels


def test_a_title_is_named_as_it_is_even_with_a_percent_sign_in_it():
    post = replace(make_talk(1), title="100% certain")
    choice = choose(make_facts(posts=[post], share=0.0), now=NOON)
    assert "“100% certain” (100 % of the scores)" in str(choice.why)


# ── how often it explores ─────────────────────────────────────────────────


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.9, 1.0])
def test_over_many_slots_it_explores_as_often_as_it_was_set(share: float):
    talk = [make_talk(1), make_talk(2, authors="ab")]
    explored = 0
    for number in range(10_000):
        asked = make_facts(slot=f"2026-11-21#{number}", share=share, posts=talk, kernels=[A_KERNEL])
        explored += choose(asked, now=NOON).kind == StoneSource.EXPLORE
    assert abs(explored / 10_000 - share) <= 0.02


def test_threads_are_picked_as_often_as_their_share_of_the_scores():
    talk = [make_talk(1, authors="abcdef", questions=3), make_talk(2, authors="ab"), make_talk(3)]
    table = score_table(talk, now=NOON)
    picked = dict.fromkeys([1, 2, 3], 0)
    for number in range(10_000):
        asked = make_facts(slot=f"s{number}", share=0.0, posts=talk)
        picked[choose(asked, now=NOON).post_id or 0] += 1
    for row in table:
        assert abs(picked[row.post] / 10_000 - row.share) <= 0.02


@given(some.floats(0, 1, exclude_max=True), some.floats(0, 1))
def test_the_rest_of_the_number_is_again_between_0_and_1(draw: float, share: float):
    assert 0 <= rest_of(draw, share) <= 1


def test_the_rest_of_the_number_picks_in_the_cumulated_shares():
    talk = [make_talk(1, authors="abc"), make_talk(2)]
    first = score_table(talk, now=NOON)[0]
    for name in slots_where(StoneSource.EXPLOIT):
        choice = choose(make_facts(slot=name, posts=talk, kernels=[A_KERNEL]), now=NOON)
        rest = (choice.draw - 0.25) / 0.75
        assert choice.post_id == (1 if rest < first.share else 2)


# ── when one side has nothing to offer ────────────────────────────────────


def test_without_an_engaged_thread_it_explores_and_says_so():
    for name in slots_where(StoneSource.EXPLOIT):
        choice = choose(make_facts(slot=name, kernels=[A_KERNEL]), now=NOON)
        assert choice.kind == StoneSource.EXPLORE
        assert "No thread has comments, so a topic seed is used instead" in str(choice.why)


def test_without_a_kernel_it_exploits_and_says_so():
    for name in slots_where(StoneSource.EXPLORE):
        choice = choose(make_facts(slot=name, posts=[make_talk(4)]), now=NOON)
        assert choice.kind == StoneSource.EXPLOIT
        assert choice.post_id == 4
        assert "There are no topic seeds, so a thread is continued instead" in str(choice.why)


def test_without_either_there_is_no_stone_and_it_says_why():
    choice = choose(make_facts(posts=[make_talk(1, authors="")]), now=NOON)
    assert choice.kind == StoneSource.NOTHING
    assert "There are no topic seeds" in str(choice.why)
    assert str(choice.why).endswith("No stone is written.")


@pytest.mark.parametrize("kind", [StoneSource.EXPLORE, StoneSource.EXPLOIT])
def test_where_both_are_there_the_number_alone_decides(kind: StoneSource):
    for name in slots_where(kind):
        asked = make_facts(slot=name, posts=[make_talk(1)], kernels=[A_KERNEL])
        choice = choose(asked, now=NOON)
        assert choice.kind == kind
        assert f"{choice.draw:.2f} is " in str(choice.why)
        assert choice.table, "the scores are kept for both kinds"


def test_a_number_close_to_the_share_is_told_exactly_enough():
    share = drawn(7, SLOT) + 0.0001
    choice = choose(make_facts(share=share, kernels=[A_KERNEL]), now=NOON)
    assert f"{drawn(7, SLOT):.4f} is below the exploration setting {share:.4f}" in str(choice.why)


# ── kernels ───────────────────────────────────────────────────────────────


def test_the_kernel_that_rested_longest_is_next():
    rested = [
        KernelFacts(id=1, last_used_at=NOON - DAY),
        KernelFacts(id=2, last_used_at=NOON - 9 * DAY),
        KernelFacts(id=3, last_used_at=NOON - 3 * DAY),
    ]
    assert choose(make_facts(share=1.0, kernels=rested), now=NOON).kernel_id == 2


def test_a_kernel_never_used_comes_before_all_and_the_oldest_of_those_first():
    waiting = [
        KernelFacts(id=1, last_used_at=NOON - 99 * DAY),
        KernelFacts(id=5),
        KernelFacts(id=3),
    ]
    assert choose(make_facts(share=1.0, kernels=waiting), now=NOON).kernel_id == 3
