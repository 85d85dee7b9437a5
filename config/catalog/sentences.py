"""Find the sentences that the program says in plain English, in its Python source.

They are stored or raised as they are and translated where they are shown, so nothing marks
them: every literal that reads like words for people counts, f-strings with their gaps named.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from config.catalog.silence import (
    CODE,
    DEAF,
    DEAF_CALLS,
    DEED,
    MACHINE,
    MARKED,
    NAMING,
    PHRASES,
    PIECED,
    PROSE,
    SAYING,
    SILENT,
    SILENT_FILES,
    SILENT_FOLDERS,
    SPEAKING,
    STRINGS,
    WITH_COLUMNS,
    WITH_FACTS,
    WORD,
)

MOST_FORMS = 8


def of_tree(root: Path) -> Iterator[str]:
    yield from PIECED
    for app in ("surfaces", "dialogue"):
        for path in sorted((root / app).rglob("*.py")):
            if _speaks(path.relative_to(root)):
                deaf = DEAF | {"help_text"} if "models" in path.parts else DEAF  # the admin's
                yield from of_source(path.read_text("utf-8"), deaf)
            if path.stem in PHRASES:
                yield from phrases(path.read_text("utf-8"))
            if path.relative_to(root).as_posix() in WITH_COLUMNS:
                yield from columns(path.read_text("utf-8"))


def _speaks(path: Path) -> bool:
    if path.as_posix() in SPEAKING | SILENT_FILES:
        return path.as_posix() in SPEAKING
    if path.parts[:2] == ("surfaces", "hub"):  # the words of the built-in community
        return False
    is_silent = path.stem in SILENT[path.parts[0]] and len(path.parts) == 2
    return not (is_silent or SILENT_FOLDERS & set(path.parts))


def of_source(source: str, deaf: frozenset[str] = DEAF) -> Iterator[str]:
    finder = Finder(deaf)
    finder.visit(ast.parse(source))
    yield from finder.found


def columns(source: str) -> Iterator[str]:
    """Names of columns, as the ledger's facts show them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = node.targets[0]
            if _name(node.value.func).endswith("Field") and isinstance(name, ast.Name):
                yield name.id.replace("_", " ")


def phrases(source: str) -> Iterator[str]:
    """What the spam filter calls its phrases: the first word of each."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and _name(node.func) in NAMING:
            yield _text(node.args[0])


class Finder(ast.NodeVisitor):
    def __init__(self, deaf: frozenset[str]) -> None:
        self.found: list[str] = []
        self._deaf = deaf

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else a docstring
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _name(node.func) in DEAF_CALLS | MARKED:
            return
        if _name(node.func) in SAYING:
            self.found += [_text(given) for given in node.args if _text(given)]
        if _name(node.func) in WITH_FACTS:
            self.found += [word.arg.replace("_", " ") for word in node.keywords if word.arg]
        self.visit(node.func)
        for given in node.args:
            self.visit(given)
        for keyword in node.keywords:
            if keyword.arg not in self._deaf:
                self.visit(keyword.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if DEED.fullmatch(node.value):
            self.found.append(node.value.replace(".", " ").replace("_", " "))
        else:
            self._keep([node.value])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._keep(_forms(node))
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                self.found += _marked_within(piece)
                self.visit(piece.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if any(_name(base) in {"TextChoices", "StrEnum"} for base in node.bases):
            for line in node.body:
                if isinstance(line, ast.Assign):
                    self._words(line.value)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """What a text is compared with is not shown."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in {"__str__", "__repr__"}:
            return
        for part in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
            self.visit(part)

    def _keep(self, forms: list[str]) -> None:
        self.found += [words for form in forms if (words := form.strip()) and is_prose(words)]

    def _words(self, value: ast.expr) -> None:
        """Values and labels of a choice, also single small words."""
        for one in value.elts if isinstance(value, ast.Tuple) else [value]:
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value:
                self.found.append(one.value.replace("_", " "))


def is_prose(words: str) -> bool:
    bare = re.sub(r"\{\w+\}", "", words)
    if CODE.search(words) or words in MACHINE or not re.search(r"[A-Za-z]{3}|^[A-Z]\w", bare):
        return False
    return bool(WORD.fullmatch(words) or PROSE.match(words))


def _marked_within(node: ast.expr) -> list[str]:
    """What is marked inside an f-string: tokenizers before Python 3.12 do not look there."""
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and call.args]
    return [text for call in calls if _name(call.func) in MARKED and (text := _text(call.args[0]))]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _forms(node: ast.JoinedStr) -> list[str]:
    """The sentence with named gaps; an `if` between two literals makes two sentences."""
    pieces: list[list[str]] = []
    names: list[str] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            pieces.append([str(value.value).replace("{", "").replace("}", "")])
        elif isinstance(value, ast.FormattedValue):
            pieces.append(_either(value.value, names))
    forms = itertools.islice(itertools.product(*pieces), MOST_FORMS)
    return ["".join(form) for form in forms]


def _either(value: ast.expr, names: list[str]) -> list[str]:
    if isinstance(value, ast.IfExp):
        return _either(value.body, names) + _either(value.orelse, names)
    if isinstance(value, ast.Constant):
        return [str(value.value)]
    if isinstance(value, ast.JoinedStr):
        return _forms_within(value, names)
    name = _gap(value)
    base, number = name, 2
    while name in names:
        name, number = f"{base}{number}", number + 1
    names.append(name)
    return [f"{{{name}}}"]


def _forms_within(node: ast.JoinedStr, names: list[str]) -> list[str]:
    pieces = [
        [str(one.value)] if isinstance(one, ast.Constant) else _either(one.value, names)  # type: ignore[attr-defined]
        for one in node.values
    ]
    return ["".join(form) for form in itertools.islice(itertools.product(*pieces), MOST_FORMS)]


def _gap(value: ast.expr) -> str:
    """Name a gap after what fills it: `{draft.account.name}` is {name}."""
    if isinstance(value, ast.Call):
        inner = _name(value.func)
        if isinstance(value.func, ast.Attribute) and inner in STRINGS:
            return _gap(value.func.value)
        if value.args and inner in {
            "str",
            "repr",
            "len",
            "plain",
            "sentence",
            "abs",
            "round",
            "int",
            "next",
            "min",
            "max",
        }:
            return _gap(value.args[0])
        return inner.strip("_").lower() or "value"
    if isinstance(value, ast.Subscript):
        return _gap(value.value)
    return _name(value).strip("_").lower() or "value"
