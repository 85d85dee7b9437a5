"""Create agents."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from dialogue.models import Agent, AgentSettings
from surfaces.accounts.connect import SLUG
from surfaces.errors import BadInput
from surfaces.models import AuditEvent


@transaction.atomic
def make_agent(
    slug: str, *, name: str = "", by: str, is_autonomous: bool = False, is_demo: bool = False
) -> Agent:
    """Create an agent with cautious settings, or raise `BadInput`."""
    if not SLUG.fullmatch(slug):
        message = _lazy(
            "%(slug)s is no short name. Use letters, digits, dashes and underscores, at most 63."
        )
        raise BadInput(message, slug=repr(slug))
    agent = Agent(slug=slug, name=name.strip() or slug.replace("-", " ").title(), is_demo=is_demo)
    try:
        agent.full_clean()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    agent.save(force_insert=True)
    AgentSettings.objects.create(agent=agent, is_autonomous=is_autonomous)
    AuditEvent.objects.record("agent.made", actor=by, subject=agent, slug=slug)
    return agent
