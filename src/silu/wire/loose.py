"""Reading JSON whose fields have other types than they should: what can be read is read."""

from typing import Any, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec.structs import fields

T = TypeVar("T", bound=msgspec.Struct)

_any = msgspec.json.Decoder().decode


def loosely(kind: type[T], data: bytes) -> T:
    """An event or document as `kind`, without the fields that do not fit.

    Raises `msgspec.DecodeError` when it is no JSON or no object at all.
    """
    found = _any(data)
    if not isinstance(found, dict):
        raise msgspec.ValidationError("a JSON object was expected")
    return _struct(kind, cast("dict[str, Any]", found))


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; nothing where it is none."""
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in found if isinstance(item, dict)]


def _struct(kind: type[T], found: dict[str, Any]) -> T:
    read: dict[str, Any] = {}
    for field in fields(kind):
        if field.encode_name in found:
            value = _value(field.type, found[field.encode_name])
            if value is not msgspec.UNSET:
                read[field.name] = value
    return kind(**read)


def _value(kind: Any, value: Any) -> Any:
    """The value as `kind`, or `UNSET` where it does not fit."""
    if kind is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value))
    for form in (kind, *get_args(kind)):
        if _is_struct(form) and isinstance(value, dict):
            return _struct(form, cast("dict[str, Any]", value))
        inner = get_args(form)
        if get_origin(form) is list and _is_struct(inner[0]) and isinstance(value, list):
            return [_struct(inner[0], item) for item in dicts(cast("list[Any]", value))]
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        return msgspec.UNSET


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
