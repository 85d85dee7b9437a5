"""The roof's addresses: the administration, and everything the floors below show."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from surfaces.views import doors

urlpatterns = [
    # One door with one lock: ours counts tries and ends the first password.
    path("admin/login/", doors.admin_door),
    path("admin/password_change/", RedirectView.as_view(pattern_name="surfaces:password")),
    path("admin/", admin.site.urls),
    path("", include("dialogue.urls")),
    path("", include("surfaces.urls")),
]

handler403 = "surfaces.views.doors.not_allowed"
handler404 = "surfaces.views.doors.not_found"
handler500 = "surfaces.views.doors.broken"
