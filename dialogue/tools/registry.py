"""Every tool, by name."""

from dialogue.tools.base import Tool

TOOLS: dict[str, Tool] = {}
