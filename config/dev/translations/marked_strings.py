"""Find what is marked for translation in templates and in Python."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.extract import extract
from django.utils.translation.template import templatize

KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "_lazy": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "later": None,
    "now": None,
    "npgettext": ((1, "c"), 2, 3),
}
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)  # of HTML: to Python it would be a syntax error
APPS = ("config", "surfaces", "dialogue")
COUNTED = re.compile(r"""\|count:_?\(?(?:"([^"]+)"|'([^']+)')""")
COUNTED_IN_PYTHON = re.compile(r"""\bcount\([^()"]*(?:\([^()]*\))?[^()"]*, "([a-z, ]+)"\)""")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One thing to translate."""

    words: str
    many: str = ""
    context: str = ""


def of_tree(root: Path) -> Iterator[Entry]:
    for path in sorted((root / "templates").rglob("*.html")) + sorted(
        (root / "templates").rglob("*.txt")
    ):
        yield from of_template(path.read_text("utf-8"), path.name)
    for app in APPS:
        for path in sorted((root / app).rglob("*.py")):
            if "catalog" not in path.parts:
                yield from of_python(path.read_text("utf-8"))


def of_template(source: str, name: str = "") -> Iterator[Entry]:
    words = templatize(source, origin=name)
    yield from of_python(INDENT.sub("", words))
    for found in COUNTED.finditer(source):
        yield counted(found[1] or found[2])


def of_python(source: str) -> Iterator[Entry]:
    lines = io.BytesIO(source.encode())
    for _, words, _, context in extract("python", lines, KEYWORDS, options={"encoding": "utf-8"}):
        one, many = (words[0], words[1]) if isinstance(words, tuple) else (words, "")
        if one:
            yield Entry(one, str(many or ""), context or "")
    for found in COUNTED_IN_PYTHON.finditer(source):
        yield counted(found[1])


def counted(nouns: str) -> Entry:
    """What the filter `count` looks up: "{n} draft", "{n} drafts"."""
    one, _, many = nouns.partition(",")
    return Entry(f"{{n}} {one}", f"{{n}} {many or one + 's'}")
