"""Describe a rule in words for the list."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surfaces.desk import kinds
from surfaces.desk.models import Risk
from surfaces.notices.models.rule import Channel, NoticeFrequency, NoticeRule


def what(rule: NoticeRule) -> Iterator[str]:
    """What it hears of, one phrase each."""
    if rule.hears_items:
        yield _("new desk items")
    if rule.hears_expiring:
        minutes = rule.expires_minutes
        yield ngettext("expires in %(n)d min", "expires in %(n)d min", minutes) % {"n": minutes}
    if rule.hears_down:
        yield _("down for %(n)d min or credential rejected") % {"n": rule.down_minutes}
    if rule.hears_house:
        yield _("instance alerts")
    if rule.hears_sign_ins:
        yield _("sign-ins to your account")
    if rule.sends_reports:
        yield _("reports of agents")
    if rule.kinds:
        known = kinds.kinds()
        names = ", ".join(str(known[k].plural).lower() for k in rule.kinds if k in known)
        yield _("only %(names)s") % {"names": names}
    if rule.min_risk:
        yield _("high risk") if rule.min_risk == Risk.HIGH else _("medium or high risk")
    if places := [surface.name for surface in rule.surfaces.all()]:
        yield _("only on %(names)s") % {"names": ", ".join(places)}
    elif rule.only_surfaces:
        yield _("only on surfaces that were deleted")
    if rule.agents:
        yield _("only of %(names)s") % {"names": ", ".join(rule.agents)}
    elif rule.only_agents:
        yield _("only of agents that were deleted")


def when(rule: NoticeRule) -> Iterator[str]:
    """When it is told, one phrase each."""
    if rule.pace == NoticeFrequency.ONCE or rule.channel == Channel.PAGE:
        yield _("immediately")
    elif rule.pace == NoticeFrequency.DAILY and rule.daily_at:
        yield _("daily at %(at)s") % {"at": f"{rule.daily_at:%H:%M}"}
    else:
        n = rule.every_hours
        yield ngettext("every hour", "every %(n)d hours", n) % {"n": n}
    if rule.channel == Channel.PAGE:
        return
    if rule.quiet_from is not None and rule.quiet_to is not None:
        hours = {"begin": f"{rule.quiet_from:%H:%M}", "end": f"{rule.quiet_to:%H:%M}"}
        yield _("quiet from %(begin)s to %(end)s") % hours
    is_late = rule.pace != NoticeFrequency.ONCE or rule.quiet_from is not None
    if rule.urgent_breaks and is_late:
        yield _("urgent immediately")
