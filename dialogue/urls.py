"""URLs of agents. Actions are POST requests named like their views."""

from django.urls import path

from dialogue.activations import views as activation_views
from dialogue.agents.views import agents, connect, memory, presences, runs, settings, tools
from dialogue.approvals import views as approval_views
from dialogue.budgets import views as budgets
from dialogue.inbox import views as inbox_views
from dialogue.reports import views as report_views
from dialogue.stones import views as stone_views
from dialogue.voice import views as voice_views
from dialogue.wake_hooks import views as wake_hook_views

app_name = "dialogue"

urlpatterns = [
    path("agents/", agents.agents, name="agents"),
    path("agents/new", agents.new_agent, name="new_agent"),
    path("agents/budget", budgets.set_house_budget, name="set_house_budget"),
    path("agents/budget/undo", budgets.undo_house_budget, name="undo_house_budget"),
    path("agents/<slug:slug>/", agents.agent, name="agent"),
    path("agents/<slug:slug>/clear", agents.clear_back_off, name="clear_back_off"),
    path("agents/<slug:slug>/presences/add", agents.add_presence, name="add_presence"),
    path("presences/<int:pk>/change", presences.change_presence, name="change_presence"),
    path("presences/<int:pk>/undo", presences.undo_presence, name="undo_presence"),
    path("presences/<int:pk>/end", agents.end_presence, name="end_presence"),
    path("agents/<slug:slug>/settings/", settings.agent_settings, name="agent_settings"),
    path("agents/<slug:slug>/undo", settings.undo_change, name="undo_change"),
    path("agents/<slug:slug>/voice/", voice_views.agent_voice, name="agent_voice"),
    path("agents/<slug:slug>/voice/try", voice_views.try_voice, name="try_voice"),
    path("agents/<slug:slug>/models/add", voice_views.add_brain, name="add_brain"),
    path("models/<int:pk>/change", voice_views.change_brain, name="change_brain"),
    path("models/<int:pk>/move", voice_views.move_brain, name="move_brain"),
    path("models/<int:pk>/remove", voice_views.remove_brain, name="remove_brain"),
    path("agents/<slug:slug>/run", runs.run_agent, name="run_agent"),
    path("agents/<slug:slug>/tools/", tools.agent_tools, name="agent_tools"),
    path("agents/<slug:slug>/memory/", memory.agent_memory, name="agent_memory"),
    path("agents/<slug:slug>/memory/forget", memory.forget_all, name="forget_all"),
    path("memories/<int:pk>/forget", memory.forget, name="forget"),
    path("agents/<slug:slug>/inbox/", inbox_views.agent_inbox, name="agent_inbox"),
    path("agents/<slug:slug>/reports/", report_views.agent_reports, name="agent_reports"),
    path("agents/<slug:slug>/rules/", approval_views.approval_rules, name="approval_rules"),
    path("agents/<slug:slug>/rules/new", approval_views.make_rule, name="make_rule"),
    path(
        "agents/<slug:slug>/rules/<int:pk>/revoke", approval_views.revoke_rule, name="revoke_rule"
    ),
    path("agents/<slug:slug>/wake/", wake_hook_views.wake, name="wake"),
    path("agents/<slug:slug>/wake/set", wake_hook_views.set_hook, name="set_hook"),
    path("agents/<slug:slug>/wake/test", wake_hook_views.send_test, name="send_test"),
    path("agents/<slug:slug>/wake/<int:pk>/resend", wake_hook_views.resend, name="resend"),
    path("stones/", stone_views.stones, name="stones"),
    path("stones/<int:pk>/", stone_views.stone, name="stone"),
    path("activations/", activation_views.activations, name="activations"),
    path("activations/<int:pk>/", activation_views.activation, name="activation"),
    path("activations/<int:pk>/stop", activation_views.stop_activation, name="stop_activation"),
    path("surfaces/connect", connect.connect, name="connect"),
]
