"""Arguments of tools: strict, bounded, and refused in words that a model can act on."""

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from surfaces.adapters.parsing import UNSTORABLE


class ToolArguments(BaseModel):
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
        hide_input_in_errors=True,
    )


def _storable(value: Any) -> Any:
    if isinstance(value, str) and UNSTORABLE.search(value):
        raise ValueError(
            "it contains NUL or half of a character (a lone surrogate); write the text without it"
        )
    return value


def _said(value: str) -> str:
    if not value:
        raise ValueError("it must not be empty")
    return value


def _one_line(value: str) -> str:
    if any(unicodedata.category(sign) in {"Cc", "Zl", "Zp"} for sign in value):
        raise ValueError("it must be one line")
    return value


def _visible(value: str) -> str:
    if any(unicodedata.category(sign) == "Cf" for sign in value):
        raise ValueError("it holds characters that nobody can see; write it without them")
    return value


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


def _as_text(value: Any) -> Any:
    """Models write the id of a message as a number as well."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number and 0 <= value < 10**18 else value


Text = Annotated[str, BeforeValidator(_storable), AfterValidator(_said)]
OptionalText = Annotated[str, BeforeValidator(_storable), BeforeValidator(_or_empty)]
Title = Annotated[OptionalText, AfterValidator(_one_line)]
Name = Annotated[Title, AfterValidator(_visible)]  # of a community or an author
Ref = Annotated[
    str, BeforeValidator(_storable), BeforeValidator(_as_text), BeforeValidator(_or_empty),
    Field(max_length=1_500),
]  # fmt: skip
Limit = Annotated[int, Field(ge=1, le=25)]
