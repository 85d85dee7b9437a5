"""Read a small YAML file strictly, and know the line of every value in it.

Tags, anchors, a second document and deep nesting are refused. What is wrong is reported as a
sentence with file, line and key; nothing is raised.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from surfaces.drafts.text_checks import SECRETS

MAX_BYTES = 256 * 1024  # of one file
MAX_LEVELS = 12
WHOLE = re.compile(r"[-+]?(0|[1-9]\d{0,17})")
# A float that an export writes has up to 20 places: 17 digits after three zeros.
REAL = re.compile(r"[-+]?(\d{1,18}\.?\d{0,20}|\.\d{1,20})([eE][-+]?\d{1,3})?")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL stores none of these
SECRET_FOUND = "contains what looks like a key or token; remove it"  # noqa: S105
KINDS = {"map": "a section", "seq": "a list", "null": "empty", "timestamp": "a date"}

KeyPath = tuple[str | int, ...]


class _StrictLoader(yaml.SafeLoader):
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # its stub names no types
        refused = {
            "aliases (*)": isinstance(event, yaml.AliasEvent),
            "anchors (&)": getattr(event, "anchor", None),
            "tags (!)": getattr(event, "tag", None),
            f"more than {MAX_LEVELS} levels": self.depth >= MAX_LEVELS,
        }
        if found := [f"{what} are not supported" for what, is_there in refused.items() if is_there]:
            raise yaml.composer.ComposerError(None, None, found[0], event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


@dataclass(slots=True)
class YamlDocument:
    """One file: its plain data, the node of each value, and every problem found so far."""

    file: str
    data: Any = None
    nodes: dict[KeyPath, yaml.Node] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def load(self, text: str) -> None:
        """Parse the text; without `nodes` afterwards there is no data."""
        line, why = 0, "it is empty"
        try:
            if node := _StrictLoader(text).get_single_node():
                self.data = self._build(node, ())
                return
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 0
            why = ", ".join(filter(None, [error.context, error.problem])) or "it is not YAML"
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            why = f"the character {error.character:#x} is not allowed"
        except (ValueError, OverflowError):
            why = "it contains an escape sequence or a version that does not exist"
        self.add_problem(why, line)

    def add_problem(self, why: str, line: int = 0, *, key: str = "", file: str = "") -> None:
        """Add one sentence, about this file or the one beside it; line 0: the whole file."""
        where = file or self.file
        where = f"{where}, line {line}" if line else where
        self.problems.append(to_single_line(f"{where}: {key} {why}."))

    def report(self, path: KeyPath, why: str, at: yaml.Node | None = None) -> None:
        """Report a problem at the value of `path`, or at the section that should hold it."""
        above = path
        while at is None and self.nodes:
            at, above = self.nodes.get(above), above[:-1]
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        line = at.start_mark.line + 1 if at else 0
        self.add_problem(why, line, key=key.removeprefix("."))

    def describe(self, path: KeyPath) -> str:
        """Name a value in a message. Text is not repeated, because it may be a secret."""
        node = self.nodes.get(path, yaml.ScalarNode("", ""))
        kind = node.tag.rpartition(":")[2]
        is_told = kind in {"int", "float", "bool"}
        return to_single_line(node.value[:24]) if is_told else KINDS.get(kind, "text")

    def _build(self, node: yaml.Node, path: KeyPath) -> Any:
        self.nodes[path] = node
        if isinstance(node, yaml.SequenceNode):
            return [self._build(item, (*path, index)) for index, item in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return self._scalar(node, path)
        section = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if not 0 < len(name) <= 100 or UNSTORABLE.search(name):
                self.report(path, "has a key that is not a word", key)
            elif name in section:
                self.report((*path, name), "is given twice", key)
            else:
                section[name] = self._build(value, (*path, name))
        return section

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        """Text, a number, true, false or None; a date and an odd number stay a node."""
        kind, words = node.tag.rpartition(":")[2], str(node.value)
        if kind == "null":
            return None
        if kind == "bool":
            return words.lower() in {"true", "yes", "on"}
        if kind in {"int", "float"} and ":" not in words:  # 22:00 is no number of base 60 here
            digits = words.replace("_", "")
            if WHOLE.fullmatch(digits):
                return int(digits)
            return float(digits) if REAL.fullmatch(digits) else node
        if UNSTORABLE.search(words):
            self.report(path, "contains a NUL or an incomplete character")
        elif SECRETS.search(words):
            self.report(path, SECRET_FOUND)
        return node if kind == "timestamp" else words


def escape_control(text: str) -> str:
    """Spell out the characters that would control a terminal."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def to_single_line(text: str) -> str:
    return " ".join(escape_control(text).split())
