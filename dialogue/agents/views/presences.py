"""The settings of a presence: show, change, undo."""

from django.shortcuts import get_object_or_404

from dialogue.agents.forms.settings import PresenceForm
from dialogue.agents.models.presence import Presence
from surfaces.settings.form_views import SettingsPage
from surfaces.web.requests import OperatorRequest

PAGE = SettingsPage(
    form=PresenceForm,
    template="dialogue/agents/presence_settings.html",
    name="dialogue:change_presence",
    undo_name="dialogue:undo_presence",
    key="pk",
    context=lambda _request, form: {"presence": form.row, "agent": form.row.agent},
)


def _presence(request: OperatorRequest, pk: int) -> Presence:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    return get_object_or_404(request.user.reach.narrow(rows, agent="agent__slug"), pk=pk)


change_presence, undo_presence = PAGE.views(_presence)
