"""Format values for pages: spans of time, initials, facts, one line of text."""

import re

# Embeddings, overrides and isolates: they rearrange letters and say nothing.
REARRANGING = re.compile("[\u202a-\u202e\u2066-\u2069]")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def one_line(text: str, most: int = 160) -> str:
    """Return the beginning of `text` on one line, not marked safe."""
    line = REARRANGING.sub("", CONTROLS.sub("", text[: most * 8]))
    line = " ".join(line.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def initials(name: str) -> str:
    """Two letters for a face: "Mira Kovač" MK, "gabriel@hub" Ga."""
    words = re.findall(r"\w+", name.strip("@").split("@")[0])
    if not words:
        return "?"
    if len(words) == 1:
        return str(words[0][:2].capitalize())
    return f"{words[0][0]}{words[1][0]}".upper()
