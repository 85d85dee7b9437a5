"""Every page and every act of the first floor. An act is a POST; its name is its view's name."""

from __future__ import annotations

from django.urls import path

from dialogue.views import activations, agents, connecting, inbox, settings, stones, voice, wake

app_name = "dialogue"

urlpatterns = [
    path("agents/", agents.agents, name="agents"),
    path("agents/new", agents.new_agent, name="new_agent"),
    path("agents/budget", settings.set_house_budget, name="set_house_budget"),
    path("agents/budget/undo", settings.undo_house_budget, name="undo_house_budget"),
    path("agents/<slug:slug>/", agents.agent, name="agent"),
    path("agents/<slug:slug>/clear", agents.clear_back_off, name="clear_back_off"),
    path("agents/<slug:slug>/presences/add", agents.add_presence, name="add_presence"),
    path("presences/<int:pk>/change", settings.change_presence, name="change_presence"),
    path("presences/<int:pk>/undo", settings.undo_presence, name="undo_presence"),
    path("presences/<int:pk>/end", agents.end_presence, name="end_presence"),
    path("agents/<slug:slug>/settings/", settings.agent_settings, name="agent_settings"),
    path("agents/<slug:slug>/undo", settings.undo_change, name="undo_change"),
    path("agents/<slug:slug>/voice/", voice.agent_voice, name="agent_voice"),
    path("agents/<slug:slug>/voice/try", voice.try_voice, name="try_voice"),
    path("agents/<slug:slug>/models/add", voice.add_brain, name="add_brain"),
    path("models/<int:pk>/change", voice.change_brain, name="change_brain"),
    path("models/<int:pk>/move", voice.move_brain, name="move_brain"),
    path("models/<int:pk>/remove", voice.remove_brain, name="remove_brain"),
    path("agents/<slug:slug>/inbox/", inbox.agent_inbox, name="agent_inbox"),
    path("agents/<slug:slug>/wake/", wake.wake, name="wake"),
    path("agents/<slug:slug>/wake/set", wake.set_hook, name="set_hook"),
    path("agents/<slug:slug>/wake/test", wake.send_test, name="send_test"),
    path("agents/<slug:slug>/wake/<int:pk>/resend", wake.resend, name="resend"),
    path("stones/", stones.stones, name="stones"),
    path("stones/<int:pk>/", stones.stone, name="stone"),
    path("activations/", activations.activations, name="activations"),
    path("activations/<int:pk>/", activations.activation, name="activation"),
    #
    path("surfaces/connect", connecting.connect, name="connect"),
]
