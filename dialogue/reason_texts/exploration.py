"""Sentences of exploration."""

from typing import Any

from django.utils.translation import gettext_lazy as _  # noqa: F401

TEXTS: dict[str, Any] = {}
