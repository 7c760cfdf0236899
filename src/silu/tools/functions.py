"""A Python function as a tool: name and text from the function, schema from its signature."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, get_type_hints, overload

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput
from silu.tools.schema import faults, inlined
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError
from silu.types.facts import Effect


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *, effects: Iterable[Effect] = ("execute",), name: str | None = None, idempotent: bool = False
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effects: Iterable[Effect] = ("execute",),
    name: str | None = None,
    idempotent: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function, plain or async, a tool for `silu.Agent`.

    Its docstring tells the model what it is for; its parameters need type hints and become the
    schema. A plain function runs on a thread. What it returns goes to the model as text, or as
    JSON where it is no text; a `ToolError` it raises is the model's to read. A parameter of type
    `ToolContext` is filled in by silu. `effects` says what it may do: unless told, anything.
    """

    def made(function: Callable[..., Any]) -> Tool:
        return _tool(
            function, name=name or function.__name__, effects=effects, idempotent=idempotent
        )

    return made if function is None else made(function)


def _tool(
    function: Callable[..., Any], *, name: str, effects: Iterable[Effect], idempotent: bool
) -> Tool:
    hints = get_type_hints(function)
    wants_context = [p for p, hint in hints.items() if hint is ToolContext and p != "return"]
    shape = msgspec.defstruct(
        name, _fields(function, hints, wants_context), forbid_unknown_fields=True, kw_only=True
    )

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        values = {field: getattr(shape_of(args), field) for field in shape.__struct_fields__}
        values |= dict.fromkeys(wants_context, context)
        if inspect.iscoroutinefunction(function):
            result = await function(**values)
        else:
            result = await asyncio.to_thread(function, **values)
        return _output(result)

    def shape_of(args: Args) -> msgspec.Struct:
        return msgspec.convert(args, shape)

    def check(args: Args) -> list[str]:
        try:
            shape_of(args)
        except msgspec.ValidationError as error:
            return [str(error).replace("$.", "").replace(" - at", " at")]
        return []

    description = inspect.getdoc(function) or name
    return Tool(
        spec=ToolSpec(name=name, description=description, parameters=schema_of(shape)),
        effects=frozenset(effects),
        run=run,
        idempotent=idempotent,
        check=check,
    )


def _fields(
    function: Callable[..., Any], hints: dict[str, Any], skipped: list[str]
) -> list[tuple[str, type] | tuple[str, type, Any]]:
    fields: list[tuple[str, type] | tuple[str, type, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in skipped:
            continue
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise UserError(
                f"{function.__name__} takes *args or **kwargs and cannot be a tool",
                code="bad_argument",
            )
        hint = hints.get(parameter.name)
        if hint is None:
            raise UserError(
                f"parameter {parameter.name} of {function.__name__} needs a type hint",
                code="bad_argument",
            )
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, parameter.default))
    return fields


def schema_of(shape: type[Any]) -> dict[str, Any]:
    """One JSON Schema object without a reference at the top: vendors want the object itself.

    `shape` is a msgspec struct, a dataclass or a TypedDict; `KeyError` for what has no name.
    """
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    top = parts.pop(str(schema["$ref"]).rpartition("/")[2])
    top.pop("title", None)
    return inlined({**top, "$defs": parts}) if parts else top


def value_shape(
    shape: type[Any] | Mapping[str, Any],
) -> tuple[dict[str, Any], Callable[[str], Any]]:
    """The JSON Schema object of a type or of a schema given as such, and how a JSON text of that
    shape is read: `msgspec.DecodeError` where it is another one.

    A msgspec struct, a dataclass or a TypedDict gives a value of that type, a schema a `dict`.
    """
    if isinstance(shape, Mapping):
        schema: dict[str, Any] = {**shape}
        return _an_object(schema), lambda text: _read_by(schema, text)
    try:
        schema = schema_of(shape)
    except (KeyError, TypeError) as error:
        raise _no_object() from error
    return _an_object(schema), msgspec.json.Decoder(shape).decode


def _an_object(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") != "object":
        raise _no_object()
    return schema


def _no_object() -> UserError:
    return UserError(
        "An answer's shape is an object.",
        code="bad_argument",
        setting="output",
        fix="Give a msgspec.Struct, a dataclass, a TypedDict or a JSON Schema of type object.",
    )


def _read_by(schema: dict[str, Any], text: str) -> dict[str, Any]:
    value = msgspec.json.decode(text, type=dict[str, Any])
    if found := faults(value, schema):
        raise msgspec.ValidationError("; ".join(found))
    return value


def _output(result: Any) -> ToolOutput:
    if isinstance(result, ToolOutput):
        return result
    if isinstance(result, str):
        return ToolOutput(text=result)
    try:
        text = msgspec.json.encode(result).decode()
    except (TypeError, msgspec.MsgspecError) as error:
        kind = type(cast("object", result)).__name__
        raise ToolError(f"the tool gave back {kind}, which cannot be shown") from error
    return ToolOutput(text=text, media_type="application/json")
