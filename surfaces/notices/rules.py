"""What an operator asks to hear of: add, change, switch, try, take away. Each is in the ledger.

The secret of a webhook is made here and handed back once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _lazy

from surfaces import crypto
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.desk.models import DeskItem
from surfaces.errors import BadInput, NotAllowed
from surfaces.extension_points import end_waits
from surfaces.net import safe_urls, webhooks
from surfaces.notices import email as notice_email
from surfaces.notices.models.notice import Notice, NoticeState
from surfaces.notices.models.rule import Channel, NoticeDelivery, NoticeFrequency, NoticeRule
from surfaces.operators.models.operator import Operator

MOST = 20  # rules of one operator
PLAIN = (
    "is_on", "hears_items", "hears_expiring", "hears_down", "hears_house",
    "hears_sign_ins", "sends_reports", "kinds",
    "only_surfaces", "only_agents", "agents",
    "min_risk", "expires_minutes", "down_minutes", "pace", "every_hours", "daily_at",
    "quiet_from", "quiet_to", "urgent_breaks",
)  # fmt: skip
HEARS = [name for name in PLAIN if name.startswith(("hears_", "sends_"))]


@dataclass(frozen=True, slots=True)
class SavedRule:
    rule: NoticeRule
    new_secret: str = field(default="", repr=False)


def of(operator: Operator) -> list[NoticeRule]:
    return list(operator.notice_rules.prefetch_related("surfaces"))


@transaction.atomic
def add(operator: Operator, given: Mapping[str, Any], *, now: datetime) -> SavedRule:
    """From now on: what waited before is on the desk, and no news."""
    Operator.objects.select_for_update(no_key=True).get(pk=operator.pk)  # one at a time
    if operator.notice_rules.count() >= MOST:
        raise NotAllowed(_lazy("You have %(most)s rules. Delete one first."), most=MOST)
    channel = given["channel"]
    if channel not in Channel.values:
        raise BadInput(_lazy("Choose the page, mail or a webhook."))
    facts = {"from_item": _newest_item(), "since": now, **_checked(given)}
    rule = NoticeRule(operator=operator, channel=channel, **facts)
    secret = _address(rule, given)
    rule.save(force_insert=True)
    _narrow(rule, operator, given)
    _record("added", rule, operator)
    return SavedRule(rule, secret)


@transaction.atomic
def change(rule: NoticeRule, given: Mapping[str, Any], *, now: datetime) -> SavedRule:
    """The way stays: who wants another one makes another rule."""
    facts = _checked(given)
    heard = rule.is_on and rule.hears_items
    before = {name: getattr(rule, name) for name in facts}
    went_to = (rule.url, bytes(rule.sealed_secret))
    for name, value in facts.items():
        setattr(rule, name, value)
    if rule.is_on and rule.hears_items and not heard:
        rule.from_item = _newest_item()
    secret = _address(rule, given)
    rule.save(update_fields=[*facts, "from_item", "url", "sealed_secret"])
    _narrow(rule, rule.operator, given)
    end_waits(rule, *(name for name, value in facts.items() if before[name] != value))
    if (rule.url, bytes(rule.sealed_secret)) != went_to:
        end_waits(rule, "url")
    _record("changed", rule, rule.operator)
    return SavedRule(rule, secret)


@transaction.atomic
def switch(rule: NoticeRule, *, is_on: bool, now: datetime) -> None:
    """What came while it was off is not told afterwards."""
    facts = {"is_on": is_on} | ({"from_item": _newest_item()} if is_on else {})
    if NoticeRule.objects.filter(pk=rule.pk, is_on=not is_on).update(**facts):
        rule.is_on = is_on
        _record("switched_on" if is_on else "switched_off", rule, rule.operator)


@transaction.atomic
def remove(rule: NoticeRule) -> None:
    """The last one stays: without any, the usual one would come back."""
    operator = Operator.objects.select_for_update(no_key=True).get(pk=rule.operator_id)
    if operator.notice_rules.count() < 2:
        raise NotAllowed(_lazy("This is your last rule and cannot be deleted. Disable it instead."))
    due = Notice.objects.filter(rule=rule, state=NoticeState.DUE)
    due.update(state=NoticeState.DROPPED, why="notice.rule_deleted")
    _record("removed", rule, operator)
    rule.delete()


@transaction.atomic
def send_test(rule: NoticeRule, *, now: datetime) -> NoticeDelivery:
    """A mail or a call that says nothing, to see whether the way is open."""
    if rule.channel == Channel.PAGE:
        raise NotAllowed(_lazy("Notifications in the app need no test."))
    if NoticeDelivery.objects.filter(rule=rule, is_test=True, state="waiting").exists():
        raise NotAllowed(_lazy("A test is on its way already."))
    _record("tested", rule, rule.operator)
    return NoticeDelivery.objects.create(rule=rule, is_test=True, made_at=now, due_at=now)


@transaction.atomic
def renew_secret(rule: NoticeRule) -> str:
    if rule.channel != Channel.WEBHOOK:
        raise NotAllowed(_lazy("Only a webhook has a secret."))
    secret = webhooks.new_secret()
    NoticeRule.objects.filter(pk=rule.pk).update(sealed_secret=crypto.encrypt(secret))
    end_waits(rule, "secret")
    _record("secret_renewed", rule, rule.operator)
    return webhooks.PREFIX + secret


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: given[name] for name in PLAIN if name in given}
    for kind in ("surfaces", "agents"):
        facts |= {f"only_{kind}": True} if given.get(kind) else {}
    if (facts.get("quiet_from") is None) != (facts.get("quiet_to") is None):
        raise BadInput(_lazy("Quiet hours need both ends, or none."))
    if facts.get("quiet_from") is not None and facts["quiet_from"] == facts["quiet_to"]:
        raise BadInput(_lazy("Quiet hours must end at another hour than they begin."))
    if facts.get("pace") == NoticeFrequency.DAILY and facts.get("daily_at") is None:
        raise BadInput(_lazy("Enter the hour of the daily digest."))
    if not any(facts.get(name) for name in HEARS):
        raise BadInput(_lazy("Choose at least one event, or disable the rule."))
    return facts


def _address(rule: NoticeRule, given: Mapping[str, Any]) -> str:
    """Judge where a webhook leads; a new address has a new secret. Returns it, to be shown once."""
    if rule.channel == Channel.MAIL and not settings.MAIL_IS_SET_UP and rule.pk is None:
        raise BadInput(notice_email.NOT_SET_UP)
    if rule.channel == Channel.MAIL and not rule.operator.email:
        raise BadInput(notice_email.NO_ADDRESS)
    if rule.channel != Channel.WEBHOOK:
        return ""
    private = settings.WAKE_PRIVATE_ADDRESSES
    url = str(safe_urls.well_formed(given["url"].strip(), allow_private=private))
    safe_urls.check_length(url)  # spelled out in ASCII it may be longer than it was typed
    is_same = rule.url and safe_urls.origin_of(rule.url) == safe_urls.origin_of(url)
    rule.url = url
    if is_same and rule.sealed_secret:
        return ""
    secret = webhooks.new_secret()
    rule.sealed_secret = crypto.encrypt(secret)
    return webhooks.PREFIX + secret


def _narrow(rule: NoticeRule, operator: Operator, given: Mapping[str, Any]) -> None:
    reach = operator.reach
    chosen = Surface.objects.filter(pk__in=[surface.pk for surface in given.get("surfaces", ())])
    if reach.accounts is not None:
        chosen = chosen.filter(accounts__in=reach.accounts).distinct()
    rule.surfaces.set(chosen)


def _newest_item() -> int:
    return int(DeskItem.objects.aggregate(newest=Max("pk"))["newest"] or 0)


def _record(what: str, rule: NoticeRule, operator: Operator) -> None:
    facts: dict[str, Any] = {"way": rule.channel}
    if rule.url:
        facts["to"] = safe_urls.origin_of(rule.url)
    AuditEvent.objects.record(f"notice_rule.{what}", actor=operator.actor, subject=rule, **facts)
