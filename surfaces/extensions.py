"""The extension of `surfaces` itself: desk kinds and sources of notices."""

from datetime import timedelta

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F, Q, Value
from django_q.models import OrmQ, Schedule

from surfaces.accounts import waits as accounts
from surfaces.desk import account_items, comment_items, decisions, draft_items, viewers
from surfaces.desk.models import DeskItem, DeskViewer
from surfaces.drafts import waits as drafts
from surfaces.extension_points import Extension
from surfaces.models import Account, Draft, Worker
from surfaces.notices import waits as notices
from surfaces.notices.system_events import silent_workers
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.watcher import rounds
from surfaces.workers.wait_bounds import AT_MOST_NOW, WaitBound

# What no package of its own waits for: claims, signs of life, tries at the door, the task queue.
LEASES = (
    WaitBound(model=Account, column="watch_lease_until", longest=rounds.LEASE),
    WaitBound(
        model=Draft, column="lease_until", when=Q(state="sending"),
        longest=timedelta(seconds=settings.SEND_LEASE_SECONDS),
    ),
    WaitBound(model=DeskItem, column="later_until", longest=max(decisions.LATER.values())),
    WaitBound(model=DeskViewer, column="until", longest=viewers.LEASE),
    WaitBound(model=Worker, column="beat_at", longest=AT_MOST_NOW),
    WaitBound(model=SignInAttempt, column="at", longest=AT_MOST_NOW),
    WaitBound(
        model=Schedule, column="next_run", when=Q(schedule_type=Schedule.MINUTES),
        longest=ExpressionWrapper(F("minutes") * Value(timedelta(minutes=1)), DurationField()),
    ),
    WaitBound(
        model=OrmQ, column="lock", longest=timedelta(seconds=settings.Q_CLUSTER["retry"])
    ),
)  # fmt: skip
EXTENSION = Extension(
    desk_kinds=(*draft_items.KINDS, *comment_items.KINDS, *account_items.KINDS),
    notice_sources=(silent_workers,),
    wait_bounds=(*accounts.BOUNDS, *drafts.BOUNDS, *notices.BOUNDS, *LEASES),
    wait_endings=(drafts.end_waits, notices.end_waits),
)
