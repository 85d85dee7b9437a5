"""What happens once the program is loaded."""

from __future__ import annotations

from django.apps import AppConfig


class Roof(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import signs

        signs.of_tasks()
