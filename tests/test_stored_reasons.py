"""Every reason that is stored is a code, every code has a sentence, every sentence its Chinese."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.utils.translation import override

from surfaces.text.fields import ReasonField
from surfaces.text.reasons import CODE, NOTE, SENTENCES, SEVERAL, fill

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    path
    for floor in ("surfaces", "dialogue")
    for path in sorted((ROOT / floor).rglob("*.py"))
    if not {"migrations", "management", "reason_texts"} & set(path.parts)
]
# Errors whose first argument is stored, or may be.
ERRORS = {
    "SurfaceError", "TryLater", "Limited", "Unconfirmed", "Refused", "NotThere", "AuthFailed",
    "Suspended", "PaymentRequired", "VoiceError", "VoiceLimited", "VoiceDown", "VoiceRefused",
    "VoiceBroken", "VoiceTooLong", "VoiceMisconfigured", "VoiceStopping", "OutOfBudget",
    "Malformed", "Skipped", "CannotTell", "UnsafeUrl",
}  # fmt: skip
# Named `why`, and not stored: problems of files, which are shown at once.
NOT_STORED = {
    "dialogue/agent_files/config.py", "dialogue/agent_files/plan.py",
    "dialogue/agent_files/services.py", "dialogue/agent_files/strict_yaml.py",
    "dialogue/agents/settings/values.py", "surfaces/settings/services.py",
}  # fmt: skip


def columns() -> set[str]:
    """The names of all columns that hold a reason."""
    floors = [apps.get_app_config("surfaces"), apps.get_app_config("dialogue")]
    return {
        field.name
        for floor in floors
        for model in floor.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, ReasonField)
    }


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def given_reasons(tree: ast.AST) -> Iterator[ast.expr]:
    """Whatever is put where reasons are stored."""
    names = columns() - {"words"}  # too ordinary a name; what is given there is checked by type
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg in names)
            if name_of(node.func) in ERRORS and node.args:
                yield node.args[0 if name_of(node.func) != "Skipped" else -1]
        elif isinstance(node, ast.Assign) and name_of(node.targets[0]) in names:
            yield node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in names:
                    yield value


def literals(node: ast.expr) -> Iterator[ast.expr]:
    """The texts that a value may be, not those inside calls."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (found for value in node.values for found in literals(value))


def is_sentence(node: ast.expr) -> bool:
    """A text of several words that is no code; a code that nobody registered."""
    if isinstance(node, ast.Constant):
        return " " in node.value or (
            bool(CODE.fullmatch(node.value)) and node.value not in SENTENCES
        )
    return " " in "".join(part.value for part in node.values if isinstance(part, ast.Constant))


def codes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in {"reason", "because"}:
            for found in literals(node.args[0]) if node.args else ():
                if isinstance(found, ast.Constant):
                    yield found.value
                else:
                    yield "".join(
                        part.value if isinstance(part, ast.Constant) else "*"
                        for part in found.values
                    )


def test_reasons_are_kept_in_columns_of_their_own():
    assert {"why", "stale_why", "reply_why", "state_why", "outcome"} <= columns()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_bare_sentence_is_put_where_a_reason_is_stored(path):
    if path.relative_to(ROOT).as_posix() in NOT_STORED:
        return
    bare = [
        ast.unparse(found)
        for given in given_reasons(ast.parse(path.read_text()))
        for found in literals(given)
        if is_sentence(found)
    ]
    assert bare == []


def test_every_code_in_the_source_has_a_sentence():
    used = {code for path in SOURCES for code in codes(ast.parse(path.read_text()))}
    unknown = {
        code
        for code in used - SENTENCES.keys() - {NOTE, SEVERAL}
        if "*" not in code or not any(known.startswith(code.split("*")[0]) for known in SENTENCES)
    }
    assert unknown == set()


def test_every_sentence_is_used():
    text = "\n".join(path.read_text() for path in SOURCES)
    families = {"action", "actor", "entity", "fact", "word"}
    used = {code for path in SOURCES for code in codes(ast.parse(path.read_text()))}
    patterns = {code.split("*")[0] for code in used if "*" in code}
    unused = {
        code
        for code in SENTENCES
        if code.split(".")[0] not in families
        and f'"{code}"' not in text
        and f"'{code}'" not in text
        and not any(code.startswith(beginning) for beginning in patterns)
    }
    assert unused == set()


def test_every_sentence_is_said_in_chinese():
    same = set()
    for code, sentence in SENTENCES.items():
        with override("en"):
            english = fill(sentence, {"n": 2})
        with override("zh-hans"):
            if fill(sentence, {"n": 2}) == english:
                same.add(code)
    assert same <= {"actor.colloquy", "fact.token"}


def test_a_bare_sentence_is_found():
    for source in (
        'draft.advance(State.FAILED, why="It broke.")',
        'draft.note(why=f"It broke: {error}")',
        'why = "It broke."',
        'facts = {"why": "" if ok else "It broke."}',
        'raise Refused("It broke.")',
    ):
        found = [one for given in given_reasons(ast.parse(source)) for one in literals(given)]
        assert any(is_sentence(one) for one in found), source
