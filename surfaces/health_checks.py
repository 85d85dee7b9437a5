"""Health checks of the ground floor for `doctor`. They read only and repair nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django_q.models import OrmQ, Schedule

from surfaces.accounts.models.account import Account, BadCredential
from surfaces.drafts.models import Draft
from surfaces.operators.models.operator import Operator
from surfaces.pauses import services as pause_services
from surfaces.workers import wait_bounds
from surfaces.workers.models import Worker
from surfaces.workers.status import WorkerGroup, worker_groups

OVERDUE = timedelta(minutes=2)
OLDEST_SERVER = 140000  # PostgreSQL 14


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `advice` is empty when nothing needs to be done."""

    about: str
    says: str
    advice: str = ""

    @property
    def is_well(self) -> bool:
        return not self.advice


def check_up(*, now: datetime) -> Iterator[Finding]:
    """Yield one finding per check; without a database, only that one."""
    try:
        yield _database()
        yield _database_role()
        tables = _migrations()
    except DatabaseError as error:
        advice = "Start PostgreSQL, or unset DATABASE_URL to use the embedded one."
        yield Finding("database", str(error).strip().splitlines()[0], advice)
        return
    yield tables
    if not tables.is_well:
        return
    yield _operators()
    yield _schedules()
    yield _queue(now)
    yield _watcher(now)
    yield _sender(now)
    yield from (_workers(group) for group in worker_groups(Worker.objects.all(), now))
    yield from _accounts()
    yield _clock(now)
    for row in pause_services.live():
        yield Finding("pause", f"{row}, by {row.by} since {row.since:%d %b %H:%M} UTC")


def _database() -> Finding:
    connection.ensure_connection()
    version = connection.connection.info.server_version
    says = f"PostgreSQL {version // 10000}.{version % 10000}"
    if not settings.ENV.database_url:
        says += f", embedded, in {settings.DATA_DIR}"
    advice = "" if version >= OLDEST_SERVER else "Use PostgreSQL 14 or newer."
    return Finding("database", says, advice)


EXCESS_RIGHTS = """
SELECT current_user, rolsuper, rolcreaterole, rolcreatedb, rolreplication OR rolbypassrls,
    EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND pg_has_role(current_user, relowner, 'USAGE')),
    has_schema_privilege('public', 'CREATE'),
    coalesce(has_table_privilege(to_regclass('public.surfaces_auditevent'),
                                 'UPDATE, DELETE, TRUNCATE, TRIGGER'), false)
FROM pg_roles WHERE rolname = current_user
"""
EXCESSES = (
    "is a superuser", "may create roles", "may create databases", "may bypass row security",
    "owns tables", "may create tables", "may change the audit log",
)  # fmt: skip


def _database_role() -> Finding:
    """The program's role should own nothing: who owns a table can switch its triggers off."""
    with connection.cursor() as cursor:
        cursor.execute(EXCESS_RIGHTS)
        name, *has = cursor.fetchone()
    found = [words for words, is_so in zip(EXCESSES, has, strict=True) if is_so]
    if not found:
        return Finding("database role", f"{name} owns nothing")
    advice = "Use two roles: docs/operate.md, Database roles."
    return Finding("database role", f"{name} {', '.join(found)}", advice)


def _migrations() -> Finding:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    says = f"{len(plan)} migrations are missing" if plan else "up to date"
    return Finding("tables", says, "Apply them: manage.py migrate." if plan else "")


def _operators() -> Finding:
    count = Operator.objects.filter(is_active=True).count()
    if count:
        return Finding("operators", f"{count} can sign in")
    says = "no active operator: nobody can sign in"
    return Finding("operators", says, "Create one: manage.py createsuperuser.")


def _schedules() -> Finding:
    missing = set(settings.SCHEDULES) - set(Schedule.objects.values_list("name", flat=True))
    if missing:
        says = f"missing: {', '.join(sorted(missing))}"
        return Finding("schedules", says, "Create them: manage.py sync_schedules.")
    return Finding("schedules", f"all {len(settings.SCHEDULES)} exist")


def _queue(now: datetime) -> Finding:
    if settings.ENV.redis_url:
        return Finding("queue", "in Redis")
    oldest = OrmQ.objects.order_by("lock").first()
    if oldest and oldest.lock and now - oldest.lock > OVERDUE:
        says = f"{OrmQ.objects.count()} tasks queued, the oldest since {oldest.lock:%H:%M} UTC"
        return Finding("queue", says, "Start a worker: manage.py qcluster.")
    return Finding("queue", f"{OrmQ.objects.count()} tasks queued")


def _watcher(now: datetime) -> Finding:
    if late := Account.objects.due(now - OVERDUE).count():
        says = f"{late} accounts are overdue for polling"
        return Finding("watcher", says, "Start a watcher: manage.py watch.")
    return Finding("watcher", "no account is overdue for polling")


def _sender(now: datetime) -> Finding:
    able = Account.objects.able_to_write(now)
    late = Draft.objects.due(now - OVERDUE).filter(account__in=able).count()
    if late and not pause_services.live():
        says = f"{late} approved drafts are overdue"
        return Finding("sender", says, "Start a sender: manage.py deliver.")
    return Finding("sender", f"{Draft.objects.under_way().count()} drafts being sent")


def _clock(now: datetime) -> Finding:
    """Times that only a clock that ran ahead can have written."""
    if found := wait_bounds.too_far_ahead(now=now):
        rows = ", ".join(f"{name} ({count})" for name, count in sorted(found.items()))
        advice = (
            f"Check this host's clock: it says {now:%d %b %Y, %H:%M} UTC. If it is right, running "
            "processes pull these times back within a minute."
        )
        return Finding("clock", f"too far in the future: {rows}", advice)
    return Finding("clock", "nothing waits for a time too far in the future")


def _workers(group: WorkerGroup) -> Finding:
    """By the heartbeats that Home shows. None is no fault: commands may run with `--once`."""
    about = f"process {group.kind.label.lower()}"
    running = f"{len(group.up)} of {group.of} running"
    if since := group.silent_since:
        says = f"{running}, no heartbeat since {since:%d %b %H:%M:%S} UTC"
        return Finding(about, says, f"Read its log, then start it again: {group.start}.")
    return Finding(about, running if group.of else "none registered")


def _accounts() -> Iterator[Finding]:
    for account in Account.objects.select_related("surface"):
        about = f"account {account.name}"
        state = account.get_state_display()
        try:
            has_credential = bool(account.credential) or not account.surface.traits.needs_token
        except BadCredential as error:
            yield Finding(about, str(error), "Connect it again with a token.")
            continue
        if not has_credential:
            yield Finding(about, "has no credential", "Connect it again with a token.")
        elif account.state in ADVICE:
            yield Finding(about, f"{state}: {account.state_why}", ADVICE[account.state])
        elif account.identity_note:
            advice = "Open the claim link that the service gave at registration."
            yield Finding(about, str(account.identity_note), advice)
        else:
            yield Finding(about, f"{state}, {account.mode}")


ADVICE = {
    "auth_failed": "Connect it again with a new token.",
    "suspended": "Wait until the suspension ends, or clear the error on the account's page.",
    "down": "Check the base URL. Polling is retried automatically.",
}
