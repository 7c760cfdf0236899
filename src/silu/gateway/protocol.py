"""The published shape of everything that crosses the gateway, generated from the structs.

`document()` is what `GET /api/v1/protocol.json` answers; `python -m silu.gateway.protocol` prints
the same without a server. `$defs` holds one schema a struct; `server_frames` and `client_frames`
list the frames, told apart by their constant `type`.
"""

import sys
from typing import Any

import msgspec
from msgspec import inspect

from silu.gateway.routes import ROUTES
from silu.types import api, facts, frames

VERSION = 1

_REF = "#/$defs/{name}"

_SERVER_STRUCTS: tuple[type[msgspec.Struct], ...] = (
    *facts.FACTS.values(),
    facts.DeltaData,
    frames.SnapshotFrame,
    frames.AckFrame,
    frames.ErrorFrame,
    frames.ListFrame,
    frames.HeartbeatFrame,
    api.ErrorBody,
    *dict.fromkeys(op.answer for op in ROUTES if op.answer is not None),
)

_CLIENT_STRUCTS: tuple[type[msgspec.Struct], ...] = (
    *frames.COMMANDS.values(),
    api.TokenPost,
    *dict.fromkeys(
        op.body for op in ROUTES if op.body is not None and issubclass(op.body, msgspec.Struct)
    ),
)

_DELTAS: dict[str, str] = {
    "thinking_delta": "ThinkingDeltaFrame",
    "content_delta": "ContentDeltaFrame",
    "tool_call_delta": "ToolCallDeltaFrame",
}

_OTHER_FRAMES = ("SnapshotFrame", "AckFrame", "ErrorFrame", "ListFrame", "HeartbeatFrame")

_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_TEXT_OR_NULL: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def document() -> dict[str, Any]:
    """The protocol as one JSON Schema document (draft 2020-12)."""
    defs = schemas()
    server = [*_fact_frames(defs), *_delta_frames(defs), *_OTHER_FRAMES]
    client = list(_client_frames(defs))
    defs["ServerFrame"] = {"oneOf": [{"$ref": _REF.format(name=name)} for name in server]}
    defs["ClientFrame"] = {"oneOf": [{"$ref": _REF.format(name=name)} for name in client]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "silu gateway protocol",
        "version": VERSION,
        "server_frames": server,
        "client_frames": client,
        "$defs": dict(sorted(defs.items())),
    }


def schemas(ref_template: str = _REF) -> dict[str, Any]:
    """One schema a struct, by name; in answers every field that is always sent is required."""
    _, defs = msgspec.json.schema_components(
        [*_SERVER_STRUCTS, *_CLIENT_STRUCTS], ref_template=ref_template
    )
    for struct in _sent(_SERVER_STRUCTS):
        schema = defs.get(struct.cls.__name__)
        if schema is not None and not struct.cls.__struct_config__.omit_defaults:
            schema["required"] = [
                field.encode_name for field in struct.fields if not _may_be_absent(field)
            ]
    return defs


def _sent(structs: tuple[type[msgspec.Struct], ...]) -> list[inspect.StructType]:
    """Every struct that can occur inside the given ones."""
    found: dict[type, inspect.StructType] = {}
    todo: list[Any] = list(inspect.multi_type_info(structs))
    while todo:
        match todo.pop():
            case inspect.StructType() as struct if struct.cls not in found:
                found[struct.cls] = struct
                todo.extend(field.type for field in struct.fields)
            case inspect.UnionType() as union:
                todo.extend(union.types)
            case inspect.ListType() | inspect.VarTupleType() as items:
                todo.append(items.item_type)
            case inspect.DictType() as table:
                todo.append(table.value_type)
            case _:
                continue
    return list(found.values())


def _may_be_absent(field: inspect.Field) -> bool:
    """True for `X | UnsetType`: such a field has neither a value by default nor to be given."""
    no_value = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    return no_value and not field.required


def _frame(kind: str, properties: dict[str, Any], doc: str | None) -> dict[str, Any]:
    frame: dict[str, Any] = {
        "type": "object",
        "properties": {"type": {"const": kind}, **properties},
        "required": ["type", *properties],
    }
    if doc:
        frame["description"] = doc
    return frame


def _fact_frames(defs: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for kind, struct in facts.FACTS.items():
        name = f"{struct.__name__}Frame"
        envelope = {
            "session_id": _STRING,
            "run_id": _TEXT_OR_NULL,
            "n": _INTEGER,
            "ts": _INTEGER,
            "data": {"$ref": _REF.format(name=struct.__name__)},
        }
        defs[name] = _frame(kind, envelope, defs[struct.__name__].get("description"))
        names.append(name)
    return names


def _delta_frames(defs: dict[str, Any]) -> list[str]:
    data = {"$ref": _REF.format(name="DeltaData")}
    for kind, name in _DELTAS.items():
        envelope = {"session_id": _STRING, "run_id": _STRING, "data": data}
        defs[name] = _frame(kind, envelope, "New text of a block: sent at once, without number.")
    return list(_DELTAS.values())


def _client_frames(defs: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for kind, struct in frames.COMMANDS.items():
        name = f"{struct.__name__}Command"
        frame = _frame(
            kind,
            {
                "frame_id": _STRING,
                "session_id": _TEXT_OR_NULL,
                "data": {"$ref": _REF.format(name=struct.__name__)},
            },
            defs[struct.__name__].get("description"),
        )
        frame["required"] = ["type", "frame_id", "data"]
        defs[name] = frame
        names.append(name)
    return names


def main() -> None:
    """Print the document, for tools that generate code from it."""
    text = msgspec.json.format(msgspec.json.encode(document()), indent=2)
    sys.stdout.write(text.decode() + "\n")


if __name__ == "__main__":
    main()
