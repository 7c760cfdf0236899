"""Checks arguments against the part of JSON Schema that tools use, in words a model can act on.

A fault names the place, what was expected and what came (shortened), so that the next call can
be right. Keywords we do not know are passed over: the tool itself still has the last word.
"""

import math
import re
from collections.abc import Callable
from typing import Any, cast

import msgspec

_ECHO = 80

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: (
        not isinstance(v, bool)
        and (isinstance(v, int) or (isinstance(v, float) and v.is_integer()))
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


def echo(value: object, *, limit: int = _ECHO) -> str:
    """A value as JSON, cut to `limit` characters: faults are quoted, never repeated in full."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


_MOST_NODES = 5_000
_LOCAL = "#/$defs/"


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its own definitions put where they are referred to: several models fill in
    nested arguments wrongly behind a reference (pydantic/pydantic-ai#10243).

    One that refers to itself, or would grow without end, stays as it is.
    """
    left = _MOST_NODES
    definitions: dict[str, Any] = schema.get("$defs", {})

    def put(node: Any, within: tuple[str, ...]) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise RecursionError
        if isinstance(node, list):
            return [put(item, within) for item in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        fields = cast("dict[str, Any]", node)
        here = {name: put(v, within) for name, v in fields.items() if name not in {"$ref", "$defs"}}
        ref = fields.get("$ref")
        if ref is None:
            return here
        name = str(ref).removeprefix(_LOCAL)
        if name in within or name not in definitions:
            raise RecursionError
        return {**put(definitions[name], (*within, name)), **here}

    try:
        return cast("dict[str, Any]", put(schema, ()))
    except RecursionError:
        return schema


def faults(value: Any, schema: dict[str, Any] | bool, where: str = "") -> list[str]:
    """Everything in `value` that the schema forbids, one sentence each; empty when it fits."""
    if isinstance(schema, bool):
        return [] if schema else [f"{_at(where)} is never allowed"]
    if wrong_type := _type_fault(value, schema, where):
        return [wrong_type]
    if (branches := schema.get("anyOf") or schema.get("oneOf")) and all(
        faults(value, branch, where) for branch in branches
    ):
        return [f"{_at(where)} fits none of the allowed forms, got {echo(value)}"]
    return [
        *_value_faults(value, schema, where),
        *_object_faults(value, schema, where),
        *_array_faults(value, schema, where),
    ]


def _at(where: str) -> str:
    return f"`{where}`" if where else "the arguments"


def _type_fault(value: Any, schema: dict[str, Any], where: str) -> str | None:
    wanted: str | list[str] | None = schema.get("type")
    if wanted is None:
        return None
    names = [wanted] if isinstance(wanted, str) else wanted
    if any(_TYPES[name](value) for name in names if name in _TYPES):
        return None
    return f"{_at(where)} must be {' or '.join(names)}, got {echo(value)}"


def _value_faults(value: Any, schema: dict[str, Any], where: str) -> list[str]:
    found: list[str] = []
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join(echo(choice) for choice in schema["enum"])
        found.append(f"{_at(where)} must be one of {choices}, got {echo(value)}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{_at(where)} must be {echo(schema['const'])}, got {echo(value)}")
    if isinstance(value, str):
        found += _length_fault(len(value), schema, where, unit="characters", suffix="Length")
        if "pattern" in schema and not _matches(schema["pattern"], value):
            found.append(f"{_at(where)} must match {schema['pattern']}, got {echo(value)}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            found.append(f"{_at(where)} must be at least {schema['minimum']}, got {value}")
        if value > schema.get("maximum", value):
            found.append(f"{_at(where)} must be at most {schema['maximum']}, got {value}")
    return found


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        # A pattern of another language's: its server checks it.
        return True


def _length_fault(
    length: int, schema: dict[str, Any], where: str, *, unit: str, suffix: str
) -> list[str]:
    low, high = schema.get(f"min{suffix}", 0), schema.get(f"max{suffix}", length)
    if length < low:
        return [f"{_at(where)} must have at least {low} {unit}, got {length}"]
    if length > high:
        return [f"{_at(where)} must have at most {high} {unit}, got {length}"]
    return []


def _object_faults(value: Any, schema: dict[str, Any], where: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, Any]", value)
    known: dict[str, Any] = schema.get("properties", {})
    prefix = f"{where}." if where else ""
    required = schema.get("required", [])
    # In the oldest drafts `required: true` stands on the field itself.
    needed: list[str] = [] if isinstance(required, bool) else required
    found = [f"`{prefix}{name}` is required" for name in needed if name not in fields]
    extra = schema.get("additionalProperties", True)
    for name, item in fields.items():
        if name in known:
            found += faults(item, known[name], f"{prefix}{name}")
        elif extra is False:
            names = ", ".join(known) or "none"
            found.append(f"`{prefix}{name}` is not a parameter; the parameters are: {names}")
        elif isinstance(extra, dict):
            found += faults(item, cast("dict[str, Any]", extra), f"{prefix}{name}")
    return found


def _array_faults(value: Any, schema: dict[str, Any], where: str) -> list[str]:
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    found = _length_fault(len(items), schema, where, unit="entries", suffix="Items")
    if isinstance(rule := schema.get("items"), dict | bool):
        for index, item in enumerate(items):
            found += faults(item, cast("dict[str, Any] | bool", rule), f"{where}[{index}]")
    return found
