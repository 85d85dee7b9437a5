"""What happens once the program is loaded."""

from typing import Any, NoReturn

from django.apps import AppConfig, apps
from django.core.management.base import CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import pre_migrate
from django.http import HttpRequest
from django.utils.http import parse_header_parameters

FIRST_OF_BEFORE = ("surfaces", "0001_ground_floor")


class ProjectConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Load the modules that register what can be set of a model; watch the tasks."""
        from config import logs
        from config.processes import heartbeat
        from dialogue.agents import presences  # noqa: F401
        from dialogue.agents.settings import services  # noqa: F401
        from dialogue.budgets import shared  # noqa: F401
        from surfaces.accounts import settings  # noqa: F401
        from surfaces.operators import services as operator_services  # noqa: F401
        from surfaces.settings import instance  # noqa: F401

        heartbeat.cluster_heartbeat()
        logs.mask_records()
        HttpRequest._set_content_type_params = read_content_type  # type: ignore[attr-defined]
        CommandParser.error = refuse_arguments  # type: ignore[assignment,method-assign]
        pre_migrate.connect(refuse_older_database, sender=apps.get_app_config("surfaces"))


def read_content_type(request: HttpRequest, meta: dict[str, Any]) -> None:
    """Leave the charset to middleware; Django would decode the query with it before any runs."""
    given = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
    request.content_type, request.content_params = given


def refuse_arguments(parser: CommandParser, message: str) -> NoReturn:
    """Wrong arguments of any command end with one sentence and status 2, without the usage."""
    if parser.called_from_command_line:
        parser.exit(2, f"{parser.prog}: {message}; see {parser.prog} --help.\n")
    raise CommandError(f"Error: {message}", returncode=2)


def refuse_older_database(using: str = DEFAULT_DB_ALIAS, **facts: Any) -> None:
    """The migrations were made anew before the first release: an older database stays as it is."""
    from django.db.migrations.recorder import MigrationRecorder

    if FIRST_OF_BEFORE in MigrationRecorder(connections[using]).applied_migrations():
        raise CommandError(
            "This database was made by a version before 0.4 and cannot be upgraded. "
            "Start with an empty database; nothing was changed."
        )
