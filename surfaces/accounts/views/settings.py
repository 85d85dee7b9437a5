"""The settings of a surface."""

from django.shortcuts import get_object_or_404

from surfaces.accounts.forms import SurfaceForm
from surfaces.accounts.models.surface import Surface
from surfaces.operators import scope_queries
from surfaces.settings.form_views import SettingsPage
from surfaces.web.requests import OperatorRequest

PAGE = SettingsPage(
    form=SurfaceForm,
    template="surfaces/accounts/surface_settings.html",
    name="surfaces:surface_settings",
    undo_name="surfaces:undo_surface",
    key="slug",
    context=lambda _request, form: {"surface": form.row},
)


def _surface(request: OperatorRequest, slug: str) -> Surface:
    allowed = scope_queries.surfaces_within(request.user.reach)
    rows = Surface.objects.all() if allowed is None else Surface.objects.filter(pk__in=allowed)
    return get_object_or_404(rows, slug=slug)


surface_settings, undo_surface = PAGE.views(_surface)
