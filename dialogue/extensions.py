"""What agents add to the pages of surfaces."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dialogue import demo
from dialogue.activations import services as activations
from dialogue.activations import suspended
from dialogue.activations.live import live_mark
from dialogue.activations.models import Activation, ActivationState
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.agents.scope import accounts_of, agent_choices, agents_of
from dialogue.approvals import desk_items
from dialogue.approvals import thread_annotations as tool_calls
from dialogue.budgets.notices import spent_budgets
from dialogue.dashboard.today import agents_today, cost_per_day, voice_step
from dialogue.inbox import waits as notifications
from dialogue.inbox.thread_annotations import of_messages, timeline_events
from dialogue.reports.notices import hourly_reports
from dialogue.stones import waits as stones
from dialogue.wake_hooks import delivery as wake_hooks
from dialogue.wake_hooks.models import WakeEvent, WakeEventState
from surfaces.extension_points import AgentScope, Extension, NavLink
from surfaces.workers.wait_bounds import AT_MOST_NOW, WaitBound

AGENTS = NavLink(
    view="dialogue:agents", label=_("Agents"), icon="agent", key="a", is_tab=True,
    text=_("Each agent: behavior, active hours, voice, budget, assigned accounts."),
)  # fmt: skip
LEASES = (
    WaitBound(model=Agent, column="backs_off_until", longest=activations.LONGEST_BACK_OFF),
    WaitBound(model=Presence, column="since", longest=AT_MOST_NOW),
    # A trigger sets `explores_at` by it.
    WaitBound(model=Agent, column="last_activated_at", longest=AT_MOST_NOW),
    WaitBound(
        model=Activation, column="lease_until", when=Q(state=ActivationState.RUNNING),
        longest=activations.LEASE,
    ),
    WaitBound(
        model=Activation, column="look_at", when=Q(state=ActivationState.WAITING),
        longest=suspended.LOOK_AGAIN,
    ),
    WaitBound(
        model=WakeEvent, column="not_before", when=Q(state=WakeEventState.WAITING),
        longest=max(wake_hooks.WAITS),
    ),
    WaitBound(
        model=WakeEvent, column="lease_until", when=Q(state=WakeEventState.WAITING),
        longest=wake_hooks.LEASE,
    ),
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
    desk_kinds=desk_items.KINDS,
    home_panels=(agents_today, cost_per_day),
    onboarding_steps=(voice_step,),
    thread_annotations=(of_messages, tool_calls.of_messages),
    timeline_events=(timeline_events, tool_calls.timeline_events),
    reports_view="dialogue:agent_reports",
    notice_sources=(spent_budgets, hourly_reports),
    live_marks=(("activations", live_mark),),
    draft_guards=(demo.GUARD,),
    wait_bounds=(*notifications.BOUNDS, *stones.BOUNDS, *LEASES),
    wait_endings=(notifications.end_waits, stones.end_waits),
    agent_scope=AgentScope(accounts_of=accounts_of, agents_of=agents_of, choices=agent_choices),
)  # fmt: skip
