"""A rule in words, for who reads a list of rules."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surfaces.desk import kinds
from surfaces.models import NoticeRule
from surfaces.models.desk import Risk
from surfaces.models.notice_rule import Channel, Pace


def what(rule: NoticeRule) -> list[str]:
    """What it hears of, one phrase each."""
    return [*_heard(rule), *_limits(rule)]


def _heard(rule: NoticeRule) -> Iterator[str]:
    if rule.hears_items:
        yield _("new on the desk")
    if rule.hears_expiring:
        minutes = rule.expires_minutes
        yield ngettext("expires in %(n)d min", "expires in %(n)d min", minutes) % {"n": minutes}
    if rule.hears_down:
        yield _("down for %(n)d min or refused") % {"n": rule.down_minutes}
    if rule.hears_house:
        yield _("the house")


def _limits(rule: NoticeRule) -> Iterator[str]:
    if rule.kinds:
        known = kinds.kinds()
        yield _("only %(names)s") % {
            "names": ", ".join(str(known[k].plural).lower() for k in rule.kinds if k in known)
        }
    if rule.min_risk:
        yield _("high risk") if rule.min_risk == Risk.HIGH else _("some risk or more")
    if places := [surface.name for surface in rule.surfaces.all()]:
        yield _("only on %(names)s") % {"names": ", ".join(places)}
    if rule.agents:
        yield _("only of %(names)s") % {"names": ", ".join(rule.agents)}


def when(rule: NoticeRule) -> list[str]:
    """When it is told, one phrase each."""
    return list(_hours(rule))


def _hours(rule: NoticeRule) -> Iterator[str]:
    if rule.pace == Pace.ONCE or rule.channel == Channel.PAGE:
        yield _("at once")
    elif rule.pace == Pace.DAILY and rule.daily_at:
        yield _("daily at %(at)s") % {"at": f"{rule.daily_at:%H:%M}"}
    else:
        n = rule.every_hours
        yield ngettext("every hour", "every %(n)d hours", n) % {"n": n}
    if rule.channel == Channel.PAGE:
        return
    if rule.quiet_from is not None and rule.quiet_to is not None:
        hours = {"begin": f"{rule.quiet_from:%H:%M}", "end": f"{rule.quiet_to:%H:%M}"}
        yield _("quiet from %(begin)s to %(end)s") % hours
    is_late = rule.pace != Pace.ONCE or rule.quiet_from is not None
    if rule.urgent_breaks and is_late:
        yield _("urgent at once")
