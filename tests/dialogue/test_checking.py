from __future__ import annotations

import base64
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.checking import (
    Context,
    faults,
    is_near_any,
    shingles,
    similarity,
    strangers_called,
    words_of,
)
from dialogue.prompting import INSTRUCTIONS, OTHERS, written
from dialogue.voice.base import Brief, Said, Written
from surfaces.adapters.base import Traits

PLACE = Traits(
    kind="somewhere", label="Somewhere", base_url="", text_limit=500, title_limit=60, post_limit=800
)
GOOD = Written(
    terms="“The same” may mean two things.",
    pointer="You wrote “from day to day”.",
    exit="Which of the two would you miss?",
    text="“The same” may mean two things. You wrote “from day to day”. Which would you miss?",
)
SECRET = "zq8Kx-71Lm_pW"


class Counted(Traits):
    """A service that counts every character twice."""

    def length(self, text: str) -> int:
        return 2 * len(text)


def found(text: str = "", *, words: Written = GOOD, **known) -> list[str]:
    ordinary = {"traits": PLACE, "longest": 400, "people": frozenset({"ada", "iris"})}
    words = replace(words, text=text) if text else words
    return faults(words, Context(**(ordinary | known)))


def only(reasons: list[str]) -> str:
    assert len(reasons) == 1, reasons
    return reasons[0]


# Form


def test_good_words_have_no_fault():
    assert found() == []
    assert found(words=replace(GOOD, exit="")) == []


def test_a_fault_says_what_to_do_and_several_are_all_said():
    reasons = found(words=Written(terms="", pointer=" ", text=" "))
    assert reasons == [
        "The text is empty. Write what should be said.",
        "The terms are empty. Say which game we are in.",
        "The pointer is empty. Point at one concrete behaviour or passage.",
    ]


@pytest.mark.parametrize(("size", "allowed"), [(400, True), (401, False)])
def test_the_agents_own_longest_is_kept(size: int, allowed: bool):
    reasons = found("x" * size)
    assert (reasons == []) is allowed
    if not allowed:
        assert only(reasons) == "The text has 401 characters; 400 are allowed here. Shorten it."


def test_the_service_counts_as_it_counts():
    twice = Counted(kind="t", label="Twice", base_url="", text_limit=100, title_limit=9)
    assert found("x" * 50, traits=twice) == []
    assert "Twice takes 100" in only(found("x" * 51, traits=twice))


def test_a_post_needs_a_title_that_fits_and_may_be_longer():
    post = replace(GOOD, text="x" * 700)
    assert only(found(words=post, is_post=True, longest=800)) == "A post needs a title."
    titled = replace(post, title="On tides")
    assert found(words=titled, is_post=True, longest=800) == []
    long = replace(post, title="t" * 61)
    assert "The title has 61 characters" in only(found(words=long, is_post=True, longest=800))
    assert "Somewhere takes 500" in only(found(words=titled, longest=800))


@pytest.mark.parametrize("bad", ["nul \x00", "bell \x07", "half \ud800", "edge \x85"])
@pytest.mark.parametrize("where", ["text", "title", "terms", "pointer", "exit"])
def test_nothing_is_written_that_no_database_or_service_would_take(bad: str, where: str):
    reason = only(found(words=replace(GOOD, **{where: bad})))
    assert reason.startswith(f"The {where} holds")


@pytest.mark.parametrize("bad", ["a\u202eb", "a\u2066b", "a\u200bb", "a\U000e0041b", "\ufeffa"])
def test_nothing_is_written_that_nobody_can_see(bad: str):
    assert "nobody can see" in only(found(bad))


def test_pictures_and_other_scripts_are_seen():
    assert found("👩\u200d💻 ☀\ufe0f می\u200cخواهم 谢谢\u3000你") == []


def test_what_is_shaped_like_a_key_is_refused():
    assert "shaped like a key" in only(found("use sk-abcdefghijklmnopqrstuv"))


# Mentions


@pytest.mark.parametrize(
    "text",
    [
        "Thanks @ada.",
        "@ADA: what then?",
        "@Ada's point",
        "@ada, @iris!",
        "“@ada” wrote",
        "@ada你怎么看",
        "谢谢@ada，",
        "＠ada",
        "**@ada**",
        "(@ada)",
        "@ada — yes",
        "@ada...",
    ],
)
def test_whoever_wrote_in_the_thread_may_be_mentioned_and_we_too(text: str):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what does @bob think?", "bob"),
        ("@adam said", "adam"),
        ("@ada_lin", "ada_lin"),
        ("@ada-lin", "ada-lin"),
        ("@ada@other.example", "ada@other.example"),
        ("@ada:server.example", "ada:server.example"),
        ("@ada.bsky.social", "ada.bsky.social"),
        (".@bob", "bob"),
        ("and/@bob", "bob"),
        ("_@bob_", "bob_"),
        ("`@bob`", "bob"),
        ("[@bob](https://x.example/)", "bob"),
        ("你好@bob", "bob"),
        ("＠bob", "bob"),
        ("@\u2060bob", "bob"),
        ("<@80351110224678912>", "80351110224678912"),
        ("<@!80351110224678912>", "80351110224678912"),
        ("<@&165511591545143296>", "165511591545143296"),
        ("https://@bob", "bob"),
        ("@ада", "ада"),
    ],
)
def test_nobody_else_may(text: str, name: str):
    assert strangers_called(text, frozenset({"ada", "iris"})) == [name]


def test_the_reason_names_whom():
    assert "@bob, @carl" in only(found("@bob and @carl, and @bob again"))


@pytest.mark.parametrize("call", ["everyone", "here", "all", "channel", "room", "所有人"])
def test_a_whole_place_is_never_called_whoever_bears_that_name(call: str):
    people = frozenset({"ada", call})
    for text in (f"hear this @{call}!", f"hear this@{call}", f"@{call.upper()}", f"@{call}，看"):
        assert strangers_called(text, people) == [call]
    assert strangers_called("@所有人快来看", people) == ["所有人"]


def test_names_of_other_services_are_known_as_they_stand_in_the_thread():
    people = frozenset(
        {"@ada@other.example", "Lin.bsky.social", "Ada Lovelace", "80351110224678912"}
    )
    text = "@ada@other.example, @lin.bsky.social, @Ada Lovelace and <@80351110224678912> agree"
    assert strangers_called(text, people) == []
    assert strangers_called("@ada", people) == ["ada"]
    assert strangers_called("@Ada Lovely", people) == ["ada"]


@pytest.mark.parametrize(
    "text",
    [
        "write to ada.b+c@example.org",
        "mail:bob@example.org.",
        "see https://medium.example/@bob/on-tides",
        "at 5 @ noon",
        "a @ b",
        "user@host",
    ],
)
def test_an_address_mentions_nobody(text: str):
    assert found(text) == []


def test_a_title_mentions_too():
    post = replace(GOOD, title="For @bob")
    assert "@bob" in only(found(words=post, is_post=True))


# Repeats


def numbered(first: int, last: int) -> str:
    return " ".join(f"word{number}" for number in range(first, last))


def test_a_repeat_is_four_fifths_of_all_shingles():
    # Nine shingles each; eight are shared, ten are there in all.
    one, other = numbered(0, 11), numbered(0, 10) + " else"
    assert similarity(shingles(words_of(one)), shingles(words_of(other))) == Fraction(8, 10)
    assert "repeats one of your last texts" in only(found(other, last_texts=("hello", one)))


def test_a_little_less_is_no_repeat():
    # Seventy-nine of a hundred: 79 shared, 89 and 90 shingles.
    one, other = numbered(0, 91), numbered(0, 81) + " " + numbered(100, 111)
    likeness = similarity(shingles(words_of(one)), shingles(words_of(other)))
    assert likeness == Fraction(79, 100)
    assert (
        found(other, longest=5_000, traits=replace(PLACE, text_limit=5_000), last_texts=(one,))
        == []
    )


def test_a_text_with_a_new_beginning_is_still_a_repeat():
    # Ten new words make ten new shingles beside forty old ones.
    one = numbered(0, 42)
    other = f"{numbered(100, 110)} {one}"
    assert similarity(shingles(words_of(one)), shingles(words_of(other))) == Fraction(4, 5)
    assert is_near_any(one, [other])
    assert not is_near_any(one, [f"another {other}"])


def test_case_dress_and_order_of_lines_hide_no_repeat():
    one = "The tide table leaves out the wind, and the wind decides the day."
    other = "the TIDE table — leaves out *the wind*; and the wind\n\ndecides the day!"
    assert is_near_any(other, [one])


def test_the_same_words_in_another_order_are_no_repeat():
    assert not is_near_any("one two three four five six", ["six five four three two one"])


@pytest.mark.parametrize(
    ("text", "last", "repeats"),
    [
        ("Yes.", "yes!", True),
        ("Yes, so", "yes so", True),
        ("Yes.", "Yes, so", False),
        ("Yes.", "No.", False),
        ("Yes, so", "Yes, so be it then", False),
    ],
)
def test_very_short_texts_are_compared_whole(text: str, last: str, repeats: bool):
    assert is_near_any(text, [last]) is repeats


def test_chinese_needs_no_spaces():
    assert words_of("潮汐表GPT漏了wind。ok") == ["潮", "汐", "表", "gpt", "漏", "了", "wind", "ok"]
    one = "潮汐表里没有写风，而风决定了这一天会怎样，你怎么看这件事呢？"
    assert is_near_any("潮汐表里没有写风，而风决定了这一天会怎样。你怎么看这件事？", [one])
    assert not is_near_any("风决定了这一天会怎样，可是潮汐表里没有写，我们该问谁？", [one])


TEXTS = st.lists(st.sampled_from(["a1", "b", "潮", "c c", "."]), max_size=40).map(" ".join)


@given(TEXTS, TEXTS)
def test_looking_at_the_beginning_first_never_changes_the_answer(one: str, other: str):
    whole = similarity(shingles(words_of(one)), shingles(words_of(other))) >= Fraction(4, 5)
    assert is_near_any(one, [other]) is whole
    assert is_near_any(other, [one]) is whole


# Leaks


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        " ".join(SECRET),
        "z q 8 k x 7 1 l m p w",
        "zq8\u200bKx-71Lm_pW",
        "ｚｑ８Ｋｘ－７１Ｌｍ＿ｐＷ",
        "\n".join(SECRET),
        SECRET[::-1],
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"my key is {SECRET}!".encode()).decode(),
        base64.b64encode(f"my key: {SECRET}, ok".encode()).decode(),
        base64.urlsafe_b64encode(f"k: {SECRET}".encode()).decode().rstrip("="),
    ],
)
@pytest.mark.parametrize("where", ["text", "title", "terms", "pointer", "exit"])
def test_a_secret_is_found_however_it_is_written(text: str, where: str):
    words = replace(GOOD, **{where: f"Well: {text}."})
    reasons = [reason for reason in found(words=words, secrets=(SECRET,)) if "secret" in reason]
    assert only(reasons) == "The text gives away a secret. Leave it out, in every form."


def test_a_secret_is_not_repeated_in_the_reason_or_in_the_context():
    assert SECRET not in "".join(found(f"it is {SECRET}", secrets=(SECRET,)))
    assert SECRET not in repr(Context(traits=PLACE, longest=9, secrets=(SECRET,)))


def test_a_secret_behind_an_at_sign_is_not_called_by_its_name():
    [reason] = found(f"ask @{SECRET} about it", secrets=(SECRET,))
    assert SECRET[:12].casefold() not in reason
    assert "secret" in reason


def test_a_short_secret_is_a_word_and_half_a_secret_tells_nothing():
    assert found("the tide is high", secrets=("tide is",)) == []
    assert found(f"it begins with {SECRET[:8]}", secrets=(SECRET,)) == []
    assert found("--------", secrets=("---------",)) == []


PERSONA = (
    "You keep a tide table by hand, and you distrust every number in it that you have not seen "
    "with your own eyes at the harbour wall before breakfast."
)


@pytest.mark.parametrize(("size", "allowed"), [(119, True), (120, False)])
def test_a_long_piece_of_the_persona_is_not_recited(size: int, allowed: bool):
    piece = PERSONA[0 : 0 + size]
    assert len(piece.strip()) == size
    reasons = found(f"«{piece}»", private_texts=("something else", PERSONA))
    assert (reasons == []) is allowed
    if not allowed:
        assert "recites what you were told" in only(reasons)


def test_other_line_ends_case_and_markdown_hide_no_recital():
    recited = "> **" + PERSONA.upper().replace(" ", "\n> ") + "**"
    assert "recites" in only(found(recited, private_texts=(PERSONA,)))


def test_our_instructions_are_private_without_being_told():
    for part in INSTRUCTIONS:
        assert "recites" in " ".join(found(part[-200:]))
    assert "recites" in " ".join(found(OTHERS.split("\n- ")[1]))


def test_the_marks_of_a_prompt_are_not_copied():
    brief = Brief(purpose="reply", name="Iris", handle="iris", comment=Said(author="a", text="hi"))
    begin = next(line for line in written(brief).user.split("\n") if line.startswith("⟦"))
    for copied in (begin, begin.strip("⟦⟧"), begin.replace("begin", "end"), begin[:13]):
        assert "a mark of the prompt" in only(found(f"It says {copied} there."))
    assert found("In ⟦x⟧ the brackets name a meaning; a1b2c3d4e5f6 does not.") == []


# Never a surprise


@given(st.text(max_size=300), st.text(max_size=40), st.lists(st.text(max_size=300), max_size=3))
def test_whatever_is_written_is_judged_in_sentences(text: str, title: str, others: list[str]):
    words = Written(terms=title, pointer=text, text=text, title=title)
    context = Context(
        traits=PLACE,
        longest=100,
        people=frozenset(others),
        last_texts=tuple(others),
        private_texts=tuple(others),
        secrets=tuple(others),
    )
    for reason in faults(words, context):
        assert reason.endswith(".")
        assert "\n" not in reason
