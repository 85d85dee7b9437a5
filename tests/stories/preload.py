"""Loaded once by the fork server; what it has imported, the processes it forks have too."""

import django

django.setup()

# Nothing here uses them (F401), and models need Django set up first (E402): they take seconds to
# import, the first of them where a voice opens it, and no process shall spend those again.
import pydantic_ai.models.openai  # noqa: E402, F401

import dialogue.replier  # noqa: E402
import dialogue.voice.llm.voice  # noqa: E402, F401
