"""What a stone grows from: the same for the same facts, explained, and never our own echo."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dialogue.stone_choice import (
    Comment,
    Facts,
    Kernel,
    Kind,
    Post,
    choose,
    drawn,
    is_question,
    rest_of,
    score,
    score_table,
    slot,
    spread,
)
from tests.factories import NOON

DAY = timedelta(days=1)
SLOT = "2026-11-21#1"
A_KERNEL = Kernel(id=1, words="What is a border made of?")

comments = some.builds(
    Comment,
    author=some.sampled_from("abcdef"),
    is_question=some.booleans(),
    is_ours=some.booleans(),
    is_spam=some.booleans(),
)
posts = some.lists(
    some.builds(
        Post,
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
        Kernel,
        id=some.integers(1, 1_000),
        last_used_at=some.none() | some.integers(0, 90).map(lambda days: NOON - days * DAY),
    ),
    max_size=5,
    unique_by=lambda kernel: kernel.id,
)
facts = some.builds(
    Facts,
    presence=some.integers(1, 10**9),
    slot=some.integers(1, 24).map(lambda number: f"2026-11-21#{number}"),
    share=some.floats(0, 1),
    posts=posts,
    kernels=kernels,
)


def make_facts(**given) -> Facts:
    return Facts(**({"presence": 7, "slot": SLOT, "share": 0.25} | given))


def make_talk(number: int, *, ago: float = 0.0, authors: str = "a", questions: int = 0) -> Post:
    """A post of ours, with one comment by each of `authors`, the first of them questions."""
    said = [Comment(author=name, is_question=at < questions) for at, name in enumerate(authors)]
    return Post(id=number, title=f"On tides {number}", created_at=NOON - ago * DAY, comments=said)


def slots_where(kind: Kind, share: float = 0.25) -> list[str]:
    """Slots whose draw falls to that side."""
    names = [f"2026-11-21#{number}" for number in range(1, 60)]
    explores = kind == Kind.EXPLORE
    return [name for name in names if (drawn(7, name) < share) == explores]


# ── the same facts, the same choice ───────────────────────────────────────


@given(facts)
def test_the_same_facts_give_the_same_choice(given: Facts):
    assert choose(given, now=NOON) == choose(given, now=NOON)


@given(facts, some.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(given: Facts, rng):
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
def test_a_choice_names_what_it_grows_from_and_why(given: Facts):
    choice = choose(given, now=NOON)
    assert choice.why.endswith(".")
    assert 0 <= choice.draw < 1
    if choice.kind == Kind.EXPLORE:
        assert choice.kernel_id in {kernel.id for kernel in given.kernels}
        assert choice.post_id is None
    elif choice.kind == Kind.EXPLOIT:
        assert choice.post_id in {row.post for row in choice.table}
        assert choice.kernel_id is None
    else:
        assert not choice.table
        assert not given.kernels


def test_a_title_is_named_as_it_is_even_with_a_percent_sign_in_it():
    post = replace(make_talk(1), title="100% certain")
    choice = choose(make_facts(posts=[post], share=0.0), now=NOON)
    assert "“100% certain”, which holds 100 % of the scores" in choice.why


# ── how often it explores ─────────────────────────────────────────────────


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.9, 1.0])
def test_over_many_slots_it_explores_as_often_as_it_was_set(share: float):
    talk = [make_talk(1), make_talk(2, authors="ab")]
    explored = 0
    for number in range(10_000):
        asked = make_facts(slot=f"2026-11-21#{number}", share=share, posts=talk, kernels=[A_KERNEL])
        explored += choose(asked, now=NOON).kind == Kind.EXPLORE
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
    for name in slots_where(Kind.EXPLOIT):
        choice = choose(make_facts(slot=name, posts=talk, kernels=[A_KERNEL]), now=NOON)
        rest = (choice.draw - 0.25) / 0.75
        assert choice.post_id == (1 if rest < first.share else 2)


# ── when one side has nothing to offer ────────────────────────────────────


def test_without_an_engaged_thread_it_explores_and_says_so():
    for name in slots_where(Kind.EXPLOIT):
        choice = choose(make_facts(slot=name, kernels=[A_KERNEL]), now=NOON)
        assert choice.kind == Kind.EXPLORE
        assert "no thread has engagement, so explore" in choice.why


def test_without_a_kernel_it_exploits_and_says_so():
    for name in slots_where(Kind.EXPLORE):
        choice = choose(make_facts(slot=name, posts=[make_talk(4)]), now=NOON)
        assert choice.kind == Kind.EXPLOIT
        assert choice.post_id == 4
        assert "the list of kernels is empty, so exploit" in choice.why


def test_without_either_there_is_no_stone_and_it_says_why():
    choice = choose(make_facts(posts=[make_talk(1, authors="")]), now=NOON)
    assert choice.kind == Kind.NOTHING
    assert "the list of kernels is empty" in choice.why
    assert choice.why.endswith("No stone.")


@pytest.mark.parametrize("kind", [Kind.EXPLORE, Kind.EXPLOIT])
def test_where_both_are_there_the_number_alone_decides(kind: Kind):
    for name in slots_where(kind):
        asked = make_facts(slot=name, posts=[make_talk(1)], kernels=[A_KERNEL])
        choice = choose(asked, now=NOON)
        assert choice.kind == kind
        assert f"{choice.draw:.2f} is " in choice.why
        assert choice.table, "the scores are kept for both kinds"


def test_a_number_close_to_the_share_is_told_exactly_enough():
    share = drawn(7, SLOT) + 0.0001
    choice = choose(make_facts(share=share, kernels=[A_KERNEL]), now=NOON)
    assert f"{drawn(7, SLOT):.4f} is below the share {share:.4f}" in choice.why


# ── kernels ───────────────────────────────────────────────────────────────


def test_the_kernel_that_rested_longest_is_next():
    rested = [
        Kernel(id=1, last_used_at=NOON - DAY),
        Kernel(id=2, last_used_at=NOON - 9 * DAY),
        Kernel(id=3, last_used_at=NOON - 3 * DAY),
    ]
    assert choose(make_facts(share=1.0, kernels=rested), now=NOON).kernel_id == 2


def test_a_kernel_never_used_comes_before_all_and_the_oldest_of_those_first():
    waiting = [
        Kernel(id=1, last_used_at=NOON - 99 * DAY),
        Kernel(id=5),
        Kernel(id=3),
    ]
    assert choose(make_facts(share=1.0, kernels=waiting), now=NOON).kernel_id == 3


# ── scores ────────────────────────────────────────────────────────────────


def test_the_score_is_the_formula_of_the_rules():
    assert score(3, 2, 1, 0.0) == pytest.approx(math.log(4) + 3.0 + 2.0)
    assert score(3, 2, 1, 3.0) == pytest.approx((math.log(4) + 5.0) / 2)
    assert score(3, 2, 1, 6.0) == pytest.approx((math.log(4) + 5.0) / 4)


def test_a_table_row_says_what_was_counted():
    said = [
        Comment(author="ann", is_question=True),
        Comment(author="ann"),
        Comment(author="ben"),
        Comment(author="cat", is_spam=True, is_question=True),
        Comment(author="iris", is_ours=True, is_question=True),
    ]
    post = Post(id=9, title="On tides", created_at=NOON - 1.5 * DAY, comments=said)
    (row,) = score_table([post], now=NOON)
    assert (row.post, row.title, row.age_days) == (9, "On tides", 1.5)
    assert (row.comments, row.commenters, row.questions) == (3, 2, 1)
    assert row.score == pytest.approx(score(3, 2, 1, 1.5))
    assert row.share == 1.0


@given(facts)
def test_our_own_comments_and_spam_never_count(given: Facts):
    without = replace(
        given,
        posts=[
            replace(post, comments=[c for c in post.comments if not (c.is_ours or c.is_spam)])
            for post in given.posts
        ],
    )
    assert choose(given, now=NOON) == choose(without, now=NOON)


def test_a_thread_in_which_only_we_speak_has_no_engagement():
    echo = Post(id=1, title="", created_at=NOON, comments=[Comment(author="iris", is_ours=True)])
    assert score_table([echo], now=NOON) == ()


@given(facts)
def test_a_post_older_than_14_days_is_never_chosen(given: Facts):
    choice = choose(given, now=NOON)
    age = {post.id: NOON - post.created_at for post in given.posts}
    assert all(age[row.post] <= 14 * DAY for row in choice.table)
    assert choice.post_id is None or age[choice.post_id] <= 14 * DAY


def test_the_fourteenth_day_counts_and_not_a_second_more():
    assert score_table([make_talk(1, ago=14)], now=NOON)
    assert not score_table([make_talk(1, ago=14)], now=NOON + timedelta(seconds=1))


def test_a_post_from_a_clock_ahead_of_ours_is_not_worth_more():
    (row,) = score_table([make_talk(1, ago=-2)], now=NOON)
    assert row.age_days == 0
    assert row.score == pytest.approx(score(1, 1, 0, 0.0))


@given(posts)
def test_shares_add_up_and_the_highest_score_is_first(given: list[Post]):
    table = score_table(given, now=NOON)
    if table:
        assert math.fsum(row.share for row in table) == pytest.approx(1)
    assert [row.score for row in table] == sorted((row.score for row in table), reverse=True)


# ── questions ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [
    "What does the table leave out?",
    "Is this true ?",
    "really?! I doubt it",
    "Could you say more about the edge",
    "would you perhaps explain what you mean by game",
    "Please elaborate.",
    "Say more!",
    "say a bit more about the second part",
    "Tell me more about the harbour",
    "I would love to hear how it ended",
    "I'd like to know who measured it",
    "Can anyone show a case where it fails",
    "some more details, please",
    "I'd appreciate more detail on step two",
    "I wonder whether the moon matters here",
    "I'm curious how you measured that",
    "Nice. How does it work",
    "Tides, yes. Why is the second one lower",
    "so what did you find",
    "Does anyone know a source",
    "这是什么意思？",
    "能详细讲讲吗",
    "能再详细一点说说第二点",
    "请问数据从哪里来",
    "可以展开说说",
    "麻烦具体说一下",
    "想知道你是怎么想的",
    "為什麼會這樣",
    "这样做真的好吗",
    "能不能举个例子",
    "你呢",
    "如何理解这句话",
    "هل هذا صحيح؟",
])  # fmt: skip
def test_a_question_or_a_request_for_detail_is_one(text: str):
    assert is_question(text)


@pytest.mark.parametrize("text", [
    "",
    "Well said.",
    "I agree with every word!",
    "That is how tides work.",
    "This shows how it works in detail.",
    "I wrote about this in more detail elsewhere.",
    "See https://example.org/?a=1&b=2 for the tide tables.",
    "The call is `rows?.first` there.",
    "```\nx = y ? 1 : 2\n```\nThat settles it.",
    "> What does the table leave out?\nNothing, I think.",
    "What matters is the harbour.",
    "Which would be nice.",
    "I know what is missing.",
    "People like to know their harbour.",
    "More and more people come.",
    "写得很好，受教了。",
    "无论如何，我同意。",
    "这就是为什么我喜欢潮汐。",
    "我不怎么看海。",
    "呵呵",
])  # fmt: skip
def test_a_statement_is_no_question(text: str):
    assert not is_question(text)


@given(some.text(some.characters(exclude_categories=()), max_size=200))
def test_a_question_mark_after_any_words_asks(text: str):
    assert is_question(f"{text} ?") or "`" in text or ">" in text


# ── slots ─────────────────────────────────────────────────────────────────


def test_slots_are_numbered_within_the_day():
    assert slot(NOON, UTC, 0, 3) == "2026-11-21#1"
    assert slot(NOON, UTC, 2, 3) == "2026-11-21#3"


@given(some.integers(0, 30), some.integers(0, 24))
def test_there_are_never_more_slots_than_the_setting(laid: int, per_day: int):
    assert (slot(NOON, UTC, laid, per_day) is None) == (laid >= per_day)


def test_the_day_is_the_agents_own():
    late = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
    assert slot(late, ZoneInfo("Europe/Berlin"), 0, 1) == "2026-11-21#1"
    assert slot(late, ZoneInfo("Asia/Shanghai"), 0, 1) == "2026-11-22#1"
    assert slot(late, ZoneInfo("America/Los_Angeles"), 0, 1) == "2026-11-21#1"


def test_stones_of_a_day_are_spread_over_it():
    assert spread(1) == timedelta(hours=12)
    assert spread(4) == timedelta(hours=3)
