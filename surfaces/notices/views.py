"""Pages of notifications and notification rules."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_q.tasks import async_task

from surfaces.errors import RuleBroken
from surfaces.net import safe_urls
from surfaces.notices import content as notice_content
from surfaces.notices import rule_summary, rules
from surfaces.notices.forms import RuleForm, form_for
from surfaces.notices.models.notice import Notice
from surfaces.notices.models.rule import Channel, NoticeDelivery, NoticeRule
from surfaces.web import toasts
from surfaces.web.pagination import paginate
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import redirect_back, rule_errors_as_toasts, rule_errors_in_form

LOG = 30  # notices in the log, of all ways
DELIVERIES = 20  # of one rule, the last ones


@require_safe
def notices(request: OperatorRequest) -> HttpResponse:
    mine = Notice.objects.on_page(request.user).within_reach(request.user)
    page = paginate(_whole(mine), request.GET)
    shown = {"page": page, "rows": _told(page.rows), "unread": mine.unread().count()}
    return render(request, "surfaces/notices/list.html", shown)


@require_POST
def read_notices(request: OperatorRequest) -> HttpResponse:
    """One, or all up to the newest that was on the page."""
    mine = Notice.objects.on_page(request.user).unread()
    pk, through = (int_param(request.POST, name) for name in ("pk", "through"))
    rows = mine.filter(pk=pk) if pk is not None else mine.filter(pk__lte=through or 0)
    rows.update(read_at=timezone.now())
    return redirect_back(request, "surfaces:notices")


@require_safe
def notice_rules(request: OperatorRequest) -> HttpResponse:
    log = _whole(Notice.objects.filter(operator=request.user).within_reach(request.user))
    page = paginate(log, request.GET, size=LOG)
    sent = NoticeDelivery.objects.filter(rule__operator=request.user).exclude(state="dropped")
    newest = sent.select_related("rule").order_by("-id").first()
    shown = {
        "rules": [_described(rule) for rule in rules.of(request.user)],
        "page": page,
        "rows": _told(page.rows),
        "has_mail": settings.MAIL_IS_SET_UP,
        # A failure that was followed by a success is over.
        "failed": newest if newest and newest.why else None,
    }
    return render(request, "surfaces/notices/rules.html", shown)


@sensitive_variables("form", "kept")
@require_http_methods(["GET", "HEAD", "POST"])
def add_notice_rule(request: OperatorRequest) -> HttpResponse:
    usual = NoticeRule(operator=request.user, channel=Channel.PAGE, hears_items=True)
    form = form_for(request.user, usual, request.POST or None)
    if form.is_valid():
        with rule_errors_in_form(form):
            kept = rules.add(request.user, form.cleaned_data, now=timezone.now())
            if kept.new_secret:
                return _rule_page(request, kept.rule, secret=kept.new_secret)
            toasts.show_toast(request, _("Saved. The rule applies to events from now on."))
            return redirect("surfaces:notice_rules")
    shown = {"form": form, "has_mail": settings.MAIL_IS_SET_UP}
    status = 422 if form.errors else 200
    return render(request, "surfaces/notices/rule_add.html", shown, status=status)


@sensitive_variables("form", "kept")
@require_http_methods(["GET", "HEAD", "POST"])
def notice_rule(request: OperatorRequest, pk: int) -> HttpResponse:
    rule = _mine(request, pk)
    if request.method != "POST":
        return _rule_page(request, rule)
    form = form_for(request.user, rule, request.POST)
    if form.is_valid():
        with rule_errors_in_form(form):
            kept = rules.change(rule, form.cleaned_data, now=timezone.now())
            if kept.new_secret:
                return _rule_page(request, _mine(request, pk), secret=kept.new_secret)
            toasts.show_toast(request, _("Saved."))
            return redirect("surfaces:notice_rule", pk)
    return _rule_page(request, _mine(request, pk), form=form)


@require_POST
def switch_notice_rule(request: OperatorRequest, pk: int) -> HttpResponse:
    is_on = request.POST.get("on") == "1"
    rules.switch(_mine(request, pk), is_on=is_on, now=timezone.now())
    words = _("Enabled. It applies to events from now on.") if is_on else _("Disabled.")
    undo = {"undo": request.path, "on": "0" if is_on else "1"}
    toasts.show_toast(request, words, **undo)
    return redirect_back(request, "surfaces:notice_rules")


@require_POST
def remove_notice_rule(request: OperatorRequest, pk: int) -> HttpResponse:
    with rule_errors_as_toasts(request):
        rules.remove(_mine(request, pk))
        toasts.show_toast(request, _("Rule deleted."))
    return redirect("surfaces:notice_rules")


@require_POST
def test_notice_rule(request: OperatorRequest, pk: int) -> HttpResponse:
    with rule_errors_as_toasts(request), transaction.atomic():
        rules.send_test(_mine(request, pk), now=timezone.now())
        async_task("surfaces.tasks.notice")
        toasts.show_toast(request, _("Test queued. The result appears under Deliveries."))
    return redirect("surfaces:notice_rule", pk)


@sensitive_variables("secret")
@require_POST
def renew_notice_secret(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show the page itself, not a redirect: the secret is on this answer only."""
    rule = _mine(request, pk)
    try:
        secret = rules.renew_secret(rule)
    except RuleBroken as error:
        raise PermissionDenied(str(error)) from error
    return _rule_page(request, rule, secret=secret)


def _mine(request: OperatorRequest, pk: int) -> NoticeRule:
    own = NoticeRule.objects.filter(operator=request.user).prefetch_related("surfaces")
    return get_object_or_404(own.select_related("operator"), pk=pk)


def _whole(found: Any) -> Any:
    heavy = ["account__sealed_credential", "account__cursor"]
    return found.select_related("account__surface", "delivery").defer(*heavy)


def _told(found: list[Notice]) -> list[dict[str, Any]]:
    return [{"notice": notice, "line": notice_content.line_of(notice)} for notice in found]


def _described(rule: NoticeRule) -> dict[str, Any]:
    return {
        "rule": rule,
        "what": [*rule_summary.what(rule)],
        "when": [*rule_summary.when(rule)],
        "to": safe_urls.origin_of(rule.url) if rule.url else "",
    }


def _rule_page(
    request: OperatorRequest, rule: NoticeRule, *, form: RuleForm | None = None, secret: str = ""
) -> HttpResponse:
    shown = {
        **_described(rule),
        "form": form or form_for(request.user, rule),
        "new_secret": secret,
        "deliveries": rule.deliveries.order_by("-id")[:DELIVERIES],
        "has_mail": settings.MAIL_IS_SET_UP,
        "is_last": request.user.notice_rules.count() < 2,
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "surfaces/notices/rule.html", shown, status=status)
