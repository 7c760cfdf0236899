"""Looking at raw JSON: the fakes trust no decoder."""

from typing import Any, cast


def obj(value: object) -> dict[str, Any] | None:
    """The value as a JSON object, or `None`."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def seq(value: object) -> list[Any] | None:
    """The value as a JSON array, or `None`."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def is_int(value: object) -> bool:
    """A JSON whole number (`true` is none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def kind(value: object) -> str:
    """The word a typical server uses for a JSON value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
