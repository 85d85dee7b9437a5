"""The index of settings, and the settings of this installation."""

from django.conf import settings as django_settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces.extension_points import extensions
from surfaces.settings.form_views import SettingsPage
from surfaces.settings.forms import InstanceForm
from surfaces.settings.instance import current
from surfaces.web.requests import OperatorRequest

PAGE = SettingsPage(
    form=InstanceForm,
    template="surfaces/settings/instance.html",
    name="surfaces:house_settings",
    undo_name="surfaces:undo_house",
    guarded=frozenset({"two_factor_viewers", "two_factor_moderators", "two_factor_admins"}),
)

house_settings, undo_house = PAGE.views(lambda _request: current())


@require_safe
def settings(request: OperatorRequest) -> HttpResponse:
    links = [link for found in extensions() for link in found.settings_links]
    shown = {"house": current(), "links": links, "has_components": django_settings.STYLE_GUIDE}
    return render(request, "surfaces/settings/index.html", shown)
