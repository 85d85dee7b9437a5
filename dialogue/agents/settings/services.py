"""Change how an agent behaves and what it may cost: one audit event for all of its values."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents import presences
from dialogue.agents.settings import values
from dialogue.agents.settings.values import KERNELS, OF_AGENT, OF_SETTINGS
from dialogue.models import Agent, AgentSettings, Kernel
from surfaces.errors import NotAllowed
from surfaces.extension_points import end_waits
from surfaces.models import AuditEvent
from surfaces.settings.changes import Values
from surfaces.settings.fields import Column
from surfaces.settings.services import SettingsSpec


class AgentSpec(SettingsSpec[Agent]):
    """Its settings and kernels change under the lock of the agent's row."""

    model = Agent
    action = "agent.changed"
    fields = values.FIELDS

    def column(self, name: str) -> Column:
        return values.column(name)

    def read(self, row: Agent) -> dict[str, Any]:
        return values.agent_values(row)

    def clean(self, row: Agent, name: str, value: Any) -> Any:
        return values.clean(name, value)

    def same(self, one: Any, other: Any) -> bool:
        """Lists keep no order."""
        return sorted(one) == sorted(other) if isinstance(one, list) else super().same(one, other)

    def check(self, row: Agent, new: Values) -> None:
        for name in new.keys() - {KERNELS}:
            setattr(row if name in OF_AGENT else row.settings, name, new[name])
        row.settings.validate_constraints(exclude={"agent"})
        row.validate_constraints()

    def write(self, row: Agent, new: Values, *, by: str, now: datetime) -> None:
        if of_agent := {name: new[name] for name in OF_AGENT if name in new}:
            Agent.objects.filter(pk=row.pk).update(**of_agent)
        if of_settings := {name: new[name] for name in OF_SETTINGS if name in new}:
            AgentSettings.objects.filter(agent=row).update(**of_settings)
        if KERNELS in new:
            Kernel.keep(row, new[KERNELS], now=now)
        if "mode" in new:
            presences.obey(row, now=now)


@transaction.atomic
def clear_back_off(agent: Agent, *, by: str) -> None:
    """Let an agent try again at once, because a person fixed what made it fail."""
    row = Agent.objects.select_for_update().get(pk=agent.pk)
    if not row.failures and row.backs_off_until is None:
        raise NotAllowed(_lazy("%(name)s is not backing off."), name=agent)
    agent.note(failures=0, backs_off_until=None)
    end_waits(agent, "back_off")
    AuditEvent.objects.record("agent.cleared", actor=by, subject=agent, failures=row.failures)
