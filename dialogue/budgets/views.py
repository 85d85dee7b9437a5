"""The shared budget: show, change, undo."""

from dialogue.budgets.forms import SharedBudgetForm
from dialogue.budgets.shared import current
from surfaces.settings.form_views import SettingsPage

PAGE = SettingsPage(
    form=SharedBudgetForm,
    template="dialogue/budgets/shared.html",
    name="dialogue:set_house_budget",
    undo_name="dialogue:undo_house_budget",
)

set_house_budget, undo_house_budget = PAGE.views(lambda _request: current())
