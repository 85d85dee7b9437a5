"""What is said in a mail and in a call: counts and places first, strangers' words marked and short.

A subject holds no stranger's word. A mail speaks the language of who reads it, in their zone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Count
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext_lazy

from surfaces.desk import kinds
from surfaces.extension_points import reports_url
from surfaces.notices.email import Email
from surfaces.notices.models.notice import Notice, NoticeReason, NoticeState
from surfaces.notices.models.rule import NoticeDelivery
from surfaces.settings import instance
from surfaces.text.format import one_line
from surfaces.text.reasons import FORMATS

MOST_SHOWN = 20  # things named in one mail; the rest is counted
EXCERPT = 160  # characters of what a stranger said
MARKS = str.maketrans("«»", "‹›")
TITLES = {
    NoticeReason.WAITS: _lazy("%(what)s needs a decision: %(place)s"),
    NoticeReason.EXPIRES: _lazy("%(what)s expires: %(place)s"),
    NoticeReason.DOWN: _lazy("%(place)s is unreachable"),
    NoticeReason.BACK: _lazy("%(place)s has recovered"),
    NoticeReason.PAUSED: _lazy("Sending is paused everywhere"),
}
COUNTS = {  # in the order in which a subject names them
    NoticeReason.EXPIRES: ngettext_lazy("%(n)d expires soon", "%(n)d expire soon", "n"),
    NoticeReason.DOWN: ngettext_lazy("%(n)d surface is down", "%(n)d surfaces are down", "n"),
    NoticeReason.WAITS: ngettext_lazy(
        "%(n)d item needs a decision", "%(n)d items need a decision", "n"
    ),
    NoticeReason.BACK: ngettext_lazy("%(n)d surface is back", "%(n)d surfaces are back", "n"),
    NoticeReason.PAUSED: _lazy("sending is paused"),
    NoticeReason.HOUSE: ngettext_lazy("%(n)d instance alert", "%(n)d instance alerts", "n"),
    NoticeReason.SIGN_IN: ngettext_lazy("%(n)d sign-in alert", "%(n)d sign-in alerts", "n"),
    NoticeReason.REPORT: ngettext_lazy("%(n)d agent report", "%(n)d agent reports", "n"),
}

# Their words are the program's own.
OURS = {NoticeReason.HOUSE, NoticeReason.SIGN_IN, NoticeReason.REPORT}


@dataclass(frozen=True, kw_only=True, slots=True)
class NoticeLine:
    """One notice in words. `quote` is what somebody else wrote."""

    title: str
    link: str
    moment: datetime
    author: str = ""
    quote: str = ""
    is_urgent: bool = False

    @property
    def at(self) -> str:
        """In the zone that is active: "2026-11-22 14:02 CET"."""
        return f"{timezone.localtime(self.moment):%Y-%m-%d %H:%M %Z}"


def line_of(notice: Notice, *, base: str = "") -> NoticeLine:
    """In the language that is active. `base` goes before the link."""
    is_ours = notice.reason in OURS
    return NoticeLine(
        title=title_of(notice),
        link=base + page_of(notice),
        moment=notice.moment,
        author=one_line(notice.author, 60).translate(MARKS),
        quote="" if is_ours else one_line(str(notice.words), EXCERPT).translate(MARKS),
        is_urgent=notice.is_urgent,
    )


def title_of(notice: Notice) -> str:
    """Ours alone, but for the names that operators gave."""
    if notice.reason not in TITLES:
        return str(notice.words)
    account, kind = notice.account, kinds.called(notice.kind)
    place = f"{account.name} ({account.surface.name})" if account else ""
    what = str(kind.label) if kind else one_line(notice.kind, 20)
    return str(TITLES[NoticeReason(notice.reason)]) % {"what": what, "place": place}


def page_of(notice: Notice) -> str:
    if notice.desk_item:
        return reverse("surfaces:desk_item", args=[notice.kind, notice.item_id])
    if notice.account_id and notice.reason in {NoticeReason.DOWN, NoticeReason.BACK}:
        return reverse("surfaces:account", args=[notice.account_id])
    if notice.reason == NoticeReason.REPORT:
        return reports_url(notice.agent)
    is_own = notice.reason == NoticeReason.SIGN_IN
    return reverse("surfaces:sessions" if is_own else "surfaces:home")


def mail(delivery: NoticeDelivery, notices: Sequence[Notice], *, now: datetime) -> Email:
    operator = delivery.rule.operator
    language = operator.language or instance.current().language
    with translation.override(language), timezone.override(operator.zone):
        page = settings.COLLOQUY_URL + reverse("surfaces:notice_rules")
        lines = [line_of(notice, base=settings.COLLOQUY_URL) for notice in notices]
        shown = {
            "lines": lines,
            "house": instance.current().name,
            "more": delivery.count - len(lines),
            "is_test": delivery.is_test,
            "all_page": settings.COLLOQUY_URL + reverse("surfaces:desk"),
            "settings_page": page,
            "has_quotes": any(line.quote or line.author for line in lines),
            "now": now,
        }
        return Email(
            to=operator.email,
            subject=f"[{instance.current().name}] {_summary(delivery)}",
            text=render_to_string("surfaces/notices/email.txt", shown),
            key=str(delivery.key),
            settings_page=page,
            host=urlsplit(settings.COLLOQUY_URL).hostname or "localhost",
        )


def body(delivery: NoticeDelivery, notices: Sequence[Notice], *, now: datetime) -> dict[str, Any]:
    """For programs: names stay English, times are ISO 8601 in UTC."""
    items = []
    with translation.override("en"):
        for notice in notices:
            line = line_of(notice, base=settings.COLLOQUY_URL)
            items.append(
                {
                    "reason": notice.reason,
                    "kind": notice.kind,
                    "id": notice.item_id,
                    "title": line.title,
                    "account": notice.account.name if notice.account else "",
                    "agent": notice.agent,
                    "author": line.author,
                    "excerpt": line.quote,
                    "at": notice.moment.isoformat(),
                    "is_urgent": notice.is_urgent,
                    "url": line.link,
                }
            )
    data = {
        "house": instance.current().name,
        "operator": delivery.rule.operator.username,
        "is_test": delivery.is_test,
        "count": delivery.count,
        "items": items,
        "desk": settings.COLLOQUY_URL + reverse("surfaces:desk"),
    }
    return {"type": "desk.notice", "timestamp": now.isoformat(), "data": data}


def _summary(delivery: NoticeDelivery) -> str:
    if delivery.is_test:
        return _("Test")
    ours = Notice.objects.filter(delivery=delivery.pk, state=NoticeState.DUE)
    found = dict(ours.order_by().values_list("reason").annotate(n=Count("pk")))
    named = [reason for reason in COUNTS if reason in found]
    return FORMATS["list"]([str(COUNTS[reason] % {"n": found[reason]}) for reason in named])
