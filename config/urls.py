"""The roof's addresses: the administration, and everything the floors below show."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from surfaces.operators.views import sign_in

urlpatterns = [
    # One door with one lock: ours counts tries and ends the first password.
    path("admin/login/", sign_in.admin_sign_in),
    path("admin/password_change/", RedirectView.as_view(pattern_name="surfaces:password")),
    path("admin/", admin.site.urls),
    path("", include("dialogue.urls")),
    path("", include("surfaces.urls")),
]

handler400 = "surfaces.web.views.errors.bad_request"
handler403 = "surfaces.web.views.errors.not_allowed"
handler404 = "surfaces.web.views.errors.not_found"
handler500 = "surfaces.web.views.errors.broken"
