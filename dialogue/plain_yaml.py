"""Read a small YAML file strictly: plain nodes, every problem with its line.

Nothing clever is taken: no tags, no anchors, no second document, no deep nesting. What cannot
be read ends in a `Problem`, never in an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

LARGEST = 256 * 1024  # bytes of one file
DEEPEST = 12  # levels
WRONG = object()  # what is returned after a problem was noted


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file, and where."""

    file: str
    line: int
    key: str
    why: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        said = f"{where}: {self.key} {self.why}." if self.key else f"{where}: {self.why}."
        return in_line(said)


@dataclass(slots=True)
class Reading:
    """One file being read: what is wrong so far, and on which line each key stands."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)

    def wrong(self, where: yaml.Node | int, key: str, why: str) -> object:
        line = where if isinstance(where, int) else where.start_mark.line + 1
        self.problems.append(Problem(self.file, line, key, why))
        return WRONG


# ── the file ──────────────────────────────────────────────────────────────


class _Plain(yaml.SafeLoader):
    """Composes nodes and nothing else; whatever is clever is refused before it is built."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # its stub names no types
        for found, why in (
            (isinstance(event, yaml.AliasEvent), "aliases (*) are not taken here; write it out"),
            (getattr(event, "anchor", None), "anchors (&) are not taken here"),
            (getattr(event, "tag", None), "tags (!) are not taken here"),
            (self.depth >= DEEPEST, f"more than {DEEPEST} levels are not taken here"),
        ):
            if found:
                raise yaml.composer.ComposerError(None, None, why, event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def compose(text: str, reading: Reading) -> yaml.Node | None:
    """Return the file's one document; None after noting why there is none."""
    try:
        node: yaml.Node | None = _Plain(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = ", ".join(filter(None, [error.context, error.problem])) or "it is no YAML"
        reading.wrong(mark.line + 1 if mark else 0, "", why)
        return None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reading.wrong(line, "", f"the character {error.character:#x} is not taken here")
        return None
    except (ValueError, OverflowError):
        reading.wrong(0, "", "an escape or a number stands for nothing that exists")
        return None
    if node is None:
        reading.wrong(0, "", "it is empty")
    return node


def visible(text: str) -> str:
    """Text for a terminal: what would steer it is spelled out."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def in_line(text: str) -> str:
    return " ".join(visible(text).split())
