"""What agents add to the pages of surfaces."""

from django.utils.translation import gettext_lazy as _

from dialogue.agents.scope import accounts_of, agent_choices, agents_of
from dialogue.budgets.notices import spent_budgets
from dialogue.dashboard.today import agents_today, cost_per_day, voice_step
from dialogue.inbox.thread_annotations import of_messages, timeline_events
from surfaces.extension_points import AgentScope, Extension, NavLink

AGENTS = NavLink(
    view="dialogue:agents", label=_("Agents"), icon="agent", key="a", is_tab=True,
    text=_("Each agent: behavior, active hours, voice, budget, assigned accounts."),
)  # fmt: skip
EXTENSION = Extension(
    nav_items=(
        AGENTS,
        NavLink(
            view="dialogue:activations", label=_("Activations"), icon="clock", key="v",
            pages=frozenset({"dialogue:activation"}),
        ),
        NavLink(
            view="dialogue:stones", label=_("Stones"), icon="stone", key="o",
            pages=frozenset({"dialogue:stone"}),
        ),
    ),
    settings_links=(
        AGENTS,
        NavLink(
            view="dialogue:set_house_budget", label=_("Shared budget"), icon="clock",
            text=_("The maximum cost of all agents together, a day and a month."),
        ),
    ),
    connect_view="dialogue:connect",
    home_panels=(agents_today, cost_per_day),
    onboarding_steps=(voice_step,),
    thread_annotations=(of_messages,),
    timeline_events=(timeline_events,),
    notice_sources=(spent_budgets,),
    agent_scope=AgentScope(accounts_of=accounts_of, agents_of=agents_of, choices=agent_choices),
)  # fmt: skip
