"""A column that holds a reason."""

from typing import Any

from django.db import models
from django.db.models.query_utils import DeferredAttribute

from surfaces.text.reasons import StoredReason, as_reason


class ReasonAttribute(DeferredAttribute):
    """Whatever is set is a `StoredReason` from then on."""

    def __set__(self, row: models.Model, value: Any) -> None:
        is_expression = hasattr(value, "resolve_expression")
        row.__dict__[self.field.attname] = value if is_expression else as_reason(value)


class ReasonField(models.JSONField):
    """A code with its values; `{}` where there is no reason, never NULL.

    Queries look for a code by `KT("why__code")`: `why__code=` compares it with a whole reason.
    """

    descriptor_class = ReasonAttribute

    def __init__(self, **options: Any) -> None:
        options.setdefault("default", StoredReason)
        options.setdefault("blank", True)
        super().__init__(**options)

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs | {"default": dict}

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return super().get_prep_value(value)
        return super().get_prep_value(as_reason(value))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        given = super().from_db_value(value, expression, connection)
        return StoredReason(given) if isinstance(given, dict) else given
