"""Forms of tool calls: one field for each argument of the tool's schema, or a pattern for each."""

import json
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from hashlib import md5
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from pydantic import BaseModel, ValidationError

from dialogue.approvals.models import ToolCall
from dialogue.approvals.patterns import as_text, canonical, literal
from dialogue.approvals.rules import LONGEST_PATTERN
from dialogue.tools.base import LONGEST_ARGUMENTS
from dialogue.tools.registry import TOOLS
from surfaces.web.forms import StyledForm

LONG, LONGER = 120, 400  # characters: what is, or may be, longer is written in several lines
USUAL_DAYS = 30  # until a rule ends
Schema = Mapping[str, Any]


class TextField(forms.CharField):
    """A text as it is: browsers send other line ends."""

    def __init__(self, *, is_long: bool, **given: Any) -> None:
        rows = forms.Textarea(attrs={"rows": 5, "dir": "auto"})
        widget = rows if is_long else forms.TextInput(attrs={"dir": "auto"})
        super().__init__(widget=widget, strip=False, **given)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text and text.replace("\r\n", "\n")


class JSONField(forms.JSONField):
    def __init__(self, **given: Any) -> None:
        attrs = {"rows": 3, "spellcheck": "false", "class": "input mono"}
        super().__init__(widget=forms.Textarea(attrs=attrs), **given)


class ArgumentForm(StyledForm, forms.Form):
    """The arguments of a call, each a field, checked by the tool's own schema."""

    def __init__(self, call: ToolCall, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, prefix="arg")
        self._tool = TOOLS.get(call.tool)
        if self._tool is None:
            return
        found = self._tool.arguments.model_json_schema()
        required = set(found.get("required", ()))
        for name, schema in found.get("properties", {}).items():
            given = call.arguments.get(name, schema.get("default"))
            field = field_of(_plain(schema, found), given, is_required=name in required)
            field.label, field.initial = name, given
            self.fields[name] = field
        self.restyle()

    @property
    def is_possible(self) -> bool:
        """Whether the tool is known still and has arguments."""
        return bool(self.fields)

    def clean(self) -> dict[str, Any]:
        given = {n: v for n, v in super().clean().items() if v is not None}  # type: ignore[union-attr]
        if self._tool is None:
            raise forms.ValidationError(_("This tool no longer exists."))
        if not self.errors:
            self._check(self._tool.arguments, given)
        return given

    def _check(self, schema: type[BaseModel], given: dict[str, Any]) -> None:
        try:
            schema.model_validate_json(canonical(given))
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                at = str(each["loc"][0]) if each["loc"] else None
                words = each["msg"].removeprefix("Value error, ")
                self.add_error(at if at in self.fields else None, words)


def _plain(schema: Schema, whole: Schema) -> dict[str, Any]:
    """A property without references, and without the null of an optional one."""
    found = dict(schema)
    some = [one for one in found.pop("anyOf", ()) if one.get("type") != "null"]
    if len(some) == 1:
        found |= some[0]
    elif some:
        found["type"] = ""
    if "$ref" in found:
        found |= whole.get("$defs", {}).get(found["$ref"].rpartition("/")[2], {})
    return found


def field_of(schema: Schema, given: Any, *, is_required: bool) -> forms.Field:
    """The control for one property of a JSON schema; what has no control is written as JSON."""
    low, high = schema.get("minimum"), schema.get("maximum")
    match schema:
        case {"enum": [*values]}:
            by_name = {str(value): value for value in values}
            empty = [] if is_required else [("", "—")]
            return forms.TypedChoiceField(
                choices=empty + [(name, name) for name in by_name], coerce=by_name.get,
                required=is_required, empty_value=None,
            )  # fmt: skip
        case {"type": "boolean"}:
            return forms.BooleanField(required=False)
        case {"type": "integer"}:
            return forms.IntegerField(
                required=is_required, min_value=low, max_value=high, help_text=_bounds(low, high)
            )
        case {"type": "number"}:
            return forms.FloatField(required=is_required, min_value=low, max_value=high)
        case {"type": "string"}:
            longest = schema.get("maxLength")
            is_long = (longest or 0) > LONGER or len(str(given or "")) > LONG or _is_split(given)
            return TextField(
                is_long=is_long, required=is_required, min_length=schema.get("minLength"),
                max_length=longest or LONGEST_ARGUMENTS, empty_value=None if given is None else "",
                help_text=_("At most %(limit)s characters.") % {"limit": f"{longest:,}"}
                if longest else "",
            )  # fmt: skip
    return JSONField(required=is_required, help_text=_("As JSON."))


def _is_split(given: Any) -> bool:
    return "\n" in str(given or "")


def _bounds(low: Any, high: Any) -> str:
    if low is None or high is None:
        return ""
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


class ApprovalRuleForm(StyledForm, forms.Form):
    """Always allow: a pattern for each argument, and how long."""

    until = forms.DateField(
        label=_lazy("Until"),
        required=False,
        help_text=_lazy("The last day on which it allows calls. Empty: until it is revoked."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": _lazy("Enter a date like 2026-12-31.")},
    )
    asks_when_untrusted = forms.BooleanField(
        label=_lazy("Ask when other people’s words are in it"),
        required=False,
        help_text=_lazy(
            "On: a call whose arguments rest on text by other people still waits for an operator."
            " Off: whoever the agent reads may steer this call."
        ),
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )
    approves = forms.BooleanField(
        label=_lazy("Approve this call, too"),
        required=False,
        help_text=_lazy("Off: the rule begins with the next call; this one keeps waiting."),
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )

    def __init__(
        self, tool: str, arguments: Mapping[str, Any], data: Any = None, *, is_waiting: bool = False
    ) -> None:
        today = timezone.localdate()
        first = {"until": today + timedelta(days=USUAL_DAYS), "asks_when_untrusted": True,
                 "approves": True}  # fmt: skip
        super().__init__(data, initial=first)
        self.tool = tool
        known = TOOLS[tool].arguments.model_fields if tool in TOOLS else {}
        self.names = list(dict.fromkeys([*known, *arguments]))
        for name in self.names:
            given = _exactly(arguments[name]) if name in arguments else ""
            is_long = len(given) > LONG or _is_split(given)
            self.fields[f"of-{name}"] = TextField(
                is_long=is_long, label=name, required=False, initial=given,
                max_length=LONGEST_PATTERN,
            )  # fmt: skip
        if not is_waiting:
            del self.fields["approves"]
        self.order_fields([f"of-{name}" for name in self.names])
        self.restyle()

    @property
    def pattern_fields(self) -> list[forms.BoundField]:
        return [self[f"of-{name}"] for name in self.names]

    @property
    def patterns(self) -> dict[str, str]:
        """As shown, or as they were sent."""
        given = self.cleaned_data if self.is_bound and self.is_valid() else None
        fields = {name: f"of-{name}" for name in self.names}
        if given is not None:
            return {name: given[field] for name, field in fields.items()}
        return {name: str(self[field].value() or "") for name, field in fields.items()}

    @property
    def asks(self) -> bool:
        given = self.cleaned_data if self.is_bound and self.is_valid() else self.initial
        return bool(given.get("asks_when_untrusted"))

    @property
    def digest(self) -> str:
        """Of what decides about calls: the effect is shown before exactly this is saved."""
        told = json.dumps([self.tool, self.patterns, self.asks], ensure_ascii=False, sort_keys=True)
        return md5(told.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()

    def clean_until(self) -> datetime | None:
        """The end of that day, where the operator is."""
        day: date | None = self.cleaned_data["until"]
        if day is None:
            return None
        if day < timezone.localdate():
            raise forms.ValidationError(_("This day is over. Enter today or a later day."))
        return timezone.make_aware(datetime.combine(day, time(23, 59, 59)))


def _exactly(value: Any) -> str:
    """The pattern that only this value fits, or its beginning if it is longer than a pattern."""
    text = as_text(value)
    if len(pattern := literal(text)) <= LONGEST_PATTERN:
        return pattern
    beginning = text[: LONGEST_PATTERN - 1]
    kept = beginning[: LONGEST_PATTERN - 1 - beginning.count("*")].rstrip("\\")
    return f"{literal(kept)}*"
