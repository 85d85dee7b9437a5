"""Pages of the rules that always allow an agent's tool calls."""

from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals import presenters, rules, services
from dialogue.approvals.forms import ApprovalRuleForm
from dialogue.approvals.models import ApprovalRule, ToolCall, ToolCallState
from dialogue.dashboard.agents import agent_of, frame
from dialogue.tools.registry import TOOLS
from surfaces.errors import RuleBroken
from surfaces.operators.permissions import moderator_required
from surfaces.settings import instance
from surfaces.text.reasons import FORMATS
from surfaces.web import toasts
from surfaces.web.pagination import paginate
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import rule_errors_as_toasts

WHOLE = _lazy(
    "A rule holds on every account of the agent, and you do not have access to all of them."
    " Ask an operator who has."
)


@require_safe
def approval_rules(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "rules")
    page, now = paginate(_rules(shown["agent"]), request.GET), timezone.now()
    shown |= {"page": page, "rows": [(rule, ended(rule, now)) for rule in page.rows]}
    shown["why_not"] = "" if _sees_whole(request, shown["agent"]) else WHOLE
    return render(request, "dialogue/approvals/rules.html", shown)


def _rules(agent: Agent) -> Any:
    return ApprovalRule.objects.filter(agent=agent)


def ended(rule: ApprovalRule, now: datetime) -> str:
    if rule.revoked_at:
        by = rule.revoked_by.partition(":")[2] or rule.revoked_by
        return _("revoked by %(by)s") % {"by": by} if by else _("revoked")
    return _("ended") if rule.until and rule.until <= now else ""


@require_http_methods(["GET", "HEAD", "POST"])
@moderator_required
def make_rule(request: OperatorRequest, slug: str) -> HttpResponse:
    """The form, with the effect of the rule as it stands there; saved only as it was shown."""
    agent = agent_of(request, slug)
    _check_whole(request, agent)
    given = request.POST if request.method == "POST" else request.GET
    call = _call(request, agent, int_param(given, "call"))
    tool = call.tool if call else given.get("tool", "")
    if tool and tool not in TOOLS and call is None:
        raise Http404
    is_waiting = bool(call and call.state == ToolCallState.WAITING)
    data = request.POST if request.method == "POST" else None
    form = ApprovalRuleForm(tool, call.arguments if call else {}, data, is_waiting=is_waiting)
    if data is None or not form.is_valid():
        return _form(request, slug, tool, call, form, status=200 if data is None else 422)
    if "save" not in data or data.get("seen") != form.digest:
        return _form(request, slug, tool, call, form, must_look="save" in data)
    try:
        return _saved(request, agent, tool, call, form)
    except RuleBroken as error:
        form.add_error(None, str(error))
    return _form(request, slug, tool, call, form, status=422)


def _check_whole(request: OperatorRequest, agent: Agent) -> None:
    if not _sees_whole(request, agent):
        raise PermissionDenied(WHOLE)


def _sees_whole(request: OperatorRequest, agent: Agent) -> bool:
    """Whether all its accounts are within reach: patterns quote calls of any of them."""
    reach = request.user.reach
    if reach.accounts is None:
        return True
    spoken = Presence.objects.live().filter(agent=agent)
    return not spoken.exclude(account__in=reach.accounts).exists()


def _call(request: OperatorRequest, agent: Agent, pk: int | None) -> ToolCall | None:
    if pk is None:
        return None
    rows = ToolCall.objects.filter(agent=agent).defer("shown", "result")
    rows = request.user.reach.narrow(rows, account="presence__account", agent="")
    found: ToolCall = get_object_or_404(rows, pk=pk)
    return found


def _form(
    request: OperatorRequest,
    slug: str,
    tool: str,
    call: ToolCall | None,
    form: ApprovalRuleForm,
    *,
    status: int = 200,
    must_look: bool = False,
) -> HttpResponse:
    shown = frame(request, slug, "rules")
    asked = [tool.name for tool in TOOLS.values() if tool.risk != ToolRisk.READ]
    shown |= {
        "tool": tool, "tools": asked, "call": call, "form": form, "must_look": must_look,
        "digest": call.digest if call else "",
    }  # fmt: skip
    if tool:
        shown |= {"seen": form.digest, **_effect(request, shown["agent"], form)}
    return render(request, "dialogue/approvals/make_rule.html", shown, status=status)


def _effect(request: OperatorRequest, agent: Agent, form: ApprovalRuleForm) -> dict[str, Any]:
    """Stored calls that the rule would have let through, and those that operators denied."""
    found = rules.effect(
        agent, tool=form.tool, patterns=form.patterns, asks_when_untrusted=form.asks
    )
    shown = {"allowed": found.allowed, "denied": found.denied, "untrusted": found.untrusted}
    reach = request.user.reach
    seen = {call.pk for calls in shown.values() for call in calls}
    if reach.accounts is not None:
        rows = ToolCall.objects.filter(pk__in=seen)
        rows = reach.narrow(rows, account="presence__account", agent="")
        seen = set(rows.values_list("pk", flat=True))
    allowed = {call.pk for call in found.allowed}
    told = {
        name: [(call, presenters.summary(call), call.pk in allowed) for call in calls
               if call.pk in seen]
        for name, calls in shown.items()
    }  # fmt: skip
    return told | {"most": rules.MOST_SHOWN}


def _saved(
    request: OperatorRequest,
    agent: Agent,
    tool: str,
    call: ToolCall | None,
    form: ApprovalRuleForm,
) -> HttpResponse:
    by, now = request.user.actor, timezone.now()
    rule = rules.make_rule(
        agent, tool=tool, patterns=form.patterns, until=form.cleaned_data["until"],
        asks_when_untrusted=form.cleaned_data["asks_when_untrusted"], by=by, now=now,
    )  # fmt: skip
    words = _("%(tool)s is always allowed for %(agent)s with arguments like these.")
    words %= {"tool": rule.tool, "agent": agent}
    if not (call and form.cleaned_data.get("approves")):
        toasts.show_toast(request, words)
        return redirect("dialogue:approval_rules", agent.slug)
    return _approved(request, call, words, now)


def _approved(request: OperatorRequest, call: ToolCall, words: str, now: datetime) -> HttpResponse:
    """The call that the rule was made from runs, too; the rule stays if it was decided before."""
    delay = instance.current().time_to_undo
    digest = request.POST.get("digest", "")
    try:
        services.approve(call, digest=digest, by=request.user.actor, now=now, delay=delay)
    except RuleBroken as error:
        toasts.show_toast(request, words)
        toasts.show_error(request, error)
    else:
        approved = _("This call is approved.")
        if delay:
            approved = _("This call is approved; an undo takes that back and keeps the rule.")
        words = FORMATS["sentences"]([words, approved])
        seconds = str(int(delay.total_seconds()))
        undo = reverse("surfaces:desk_undo") if delay else ""
        toasts.show_toast(
            request, words, undo=undo, what=f"tool_call-{call.pk}:approve", seconds=seconds
        )
    return redirect("surfaces:desk")


@require_POST
@moderator_required
def revoke_rule(request: OperatorRequest, slug: str, pk: int) -> HttpResponse:
    agent = agent_of(request, slug)
    _check_whole(request, agent)
    rule = get_object_or_404(_rules(agent), pk=pk)
    with rule_errors_as_toasts(request):
        rules.revoke(rule, by=request.user.actor, now=timezone.now())
        words = _("Revoked. Such calls of %(agent)s follow its policy again.")
        toasts.show_toast(request, words % {"agent": agent})
    return redirect("dialogue:approval_rules", slug)
