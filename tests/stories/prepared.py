"""Loaded once by the fork server."""

import django

django.setup()

# What takes seconds to import, so that no process has to spend them again.
import pydantic_ai.models.openai  # noqa: E402, F401

import dialogue.rounds  # noqa: E402
import dialogue.voice.model  # noqa: E402, F401
