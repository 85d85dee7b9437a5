"""What all agents together may cost."""

from dialogue.budgets.models import SharedBudget
from surfaces.settings.services import SettingsSpec


class SharedBudgetSpec(SettingsSpec[SharedBudget]):
    model = SharedBudget
    action = "house.changed"
    fields = ("money_per_day", "money_per_month", "tokens_per_day", "tokens_per_month")
    is_singleton = True


def current() -> SharedBudget:
    """The shared budget; the defaults, unsaved, where nobody changed anything yet."""
    return SharedBudget.objects.filter(pk=1).first() or SharedBudget(pk=1)
