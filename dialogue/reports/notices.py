"""Tell operators what agents saw and did, once an hour.

The reports of an hour are told together, some minutes after it ended; one that is late waits for
the next time. So each rule has at most one digest an hour, over all its agents.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from dialogue.models import AgentReport
from dialogue.reports.models import COUNTS
from dialogue.reports.services import HOUR, WINDOW, hour_of
from surfaces.notices.system_events import SystemEvent
from surfaces.text.reasons import StoredReason, reason

SETTLING = timedelta(minutes=10)  # after the hour, until its rows were counted


def hourly_reports(now: datetime) -> Iterator[SystemEvent]:
    """Reports that were not told yet. In the transaction of the round they become told."""
    begins = hour_of(now - SETTLING) + SETTLING
    if AgentReport.objects.filter(told_at__gte=begins, told_at__lte=now).exists():
        return
    ended = {"hour__lte": begins - SETTLING - HOUR, "hour__gte": now - WINDOW}
    untold = AgentReport.objects.filter(told_at=None, **ended).order_by("hour", "agent", "account")
    # What is counted at this moment is told an hour later.
    rows = untold.select_related("agent", "account").select_for_update(
        of=("self",), skip_locked=True, no_key=True
    )
    told = list(rows.defer("agent__persona", "account__sealed_credential", "account__cursor"))
    for report in told:
        yield SystemEvent(
            key=f"report:{report.hour:%Y-%m-%dT%H}:{report.agent_id}:{report.account_id}",
            words=in_words(report),
            since=report.ends_at,
            account=report.account_id,
            surface=report.account.surface_id,
            agent=report.agent.slug,
            is_report=True,
        )
    AgentReport.objects.filter(pk__in=[report.pk for report in told]).update(told_at=now)


def in_words(report: AgentReport) -> StoredReason:
    counted = [(name, getattr(report, name)) for name in COUNTS]
    return reason(
        "report.hour",
        name=report.agent.name or report.agent.slug,
        account=report.account.name,
        begin=report.hour,
        counts=[reason(f"report.{name}", n=count) for name, count in counted if count],
    )
