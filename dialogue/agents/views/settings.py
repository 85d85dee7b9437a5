"""The settings of an agent: show, change, undo."""

from dialogue.agent_files.unfit import unfit_values
from dialogue.agents.forms.settings import AgentSettingsForm
from dialogue.dashboard.agents import agent_of, frame
from surfaces.settings.form_views import SettingsPage

PAGE = SettingsPage(
    form=AgentSettingsForm,
    template="dialogue/agents/settings.html",
    name="dialogue:agent_settings",
    undo_name="dialogue:undo_change",
    key="slug",
    context=lambda request, form: {
        **frame(request, form.row.slug, "settings", form.row),
        "unfit": list(unfit_values(form.row)),
    },
)
agent_settings, undo_change = PAGE.views(agent_of)
