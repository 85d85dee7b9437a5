"""Sign-ins to somebody's own account: from a new browser or network, and failed ones."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import Count, Max

from surfaces.notices.models.notice import Notice, NoticeReason
from surfaces.notices.recipients import Recipient
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.text.reasons import reason

DAY = timedelta(days=1)
TOLD_AT = (5, 20, 100, 500)  # failures of a day; each number is told once a day


def sign_ins(hearers: Sequence[Recipient], now: datetime) -> None:
    """Each operator hears of their own account only. Two queries for all of them."""
    if listening := [hearer for hearer in hearers if hearer.rule.hears_sign_ins]:
        Notice.objects.keep(_new_places(listening, now))
        Notice.objects.keep(_failures(listening, now))


def _new_places(hearers: Sequence[Recipient], now: datetime) -> Iterator[Notice]:
    rows = KnownBrowser.objects.filter(made_at__gt=now - DAY, is_first=False)
    for row in rows.order_by("pk"):
        words = reason("notice.new_sign_in", browser=row.browser, network=row.network)
        for hearer in hearers:
            if hearer.rule.operator_id == row.operator_id and hearer.rule.since <= row.made_at:
                yield hearer.notice(
                    NoticeReason.SIGN_IN,
                    f"browser:{row.pk}",
                    now=now,
                    moment=row.made_at,
                    words=words,
                )


def _failures(hearers: Sequence[Recipient], now: datetime) -> Iterator[Notice]:
    names = {hearer.rule.operator.username.lower() for hearer in hearers}
    rows = SignInAttempt.objects.filter(username__in=names, at__gt=now - DAY).order_by()
    counted = rows.values("username").annotate(n=Count("pk"), last=Max("at"))
    found = {row["username"]: row for row in counted.filter(n__gte=TOLD_AT[0])}
    for hearer in hearers:
        if row := found.get(hearer.rule.operator.username.lower()):
            number = max(each for each in TOLD_AT if each <= row["n"])
            yield hearer.notice(
                NoticeReason.SIGN_IN,
                f"failed:{now:%Y-%m-%d}@{number}",
                now=now,
                moment=row["last"],
                is_urgent=number > TOLD_AT[0],
                words=reason("notice.failed_sign_ins", n=row["n"]),
            )
