"""The settings of this installation. Part of `surfaces.urls`."""

from django.urls import path

from surfaces.settings import views

urlpatterns = [
    path("settings/", views.settings, name="settings"),
    path("settings/house/", views.house_settings, name="house_settings"),
    path("settings/house/undo", views.undo_house, name="undo_house"),
]
