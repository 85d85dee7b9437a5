"""What an imported file said that its setting could not take: it is kept with the agent.

The settings page names it until the setting gets another value, or a file is imported again.
"""

import json
from collections.abc import Iterator

from dialogue.agent_files.config import kept_only
from dialogue.agent_files.schema import KEYS
from dialogue.agents.models.agent import Agent
from dialogue.agents.settings.values import column
from surfaces.settings.fields import default_of


def unfit_values(agent: Agent) -> Iterator[tuple[str, str]]:
    """Key of config.yaml and value of each. `agent` comes with its settings."""
    for key, value in kept_only(agent.carried).items():
        name = KEYS.get(key)
        if name and getattr(agent.settings, name) == default_of(column(name)):
            yield key, json.dumps(value, ensure_ascii=False)
