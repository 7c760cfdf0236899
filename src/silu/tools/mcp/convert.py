"""From what a server tells to what silu uses: names, effects, schemas, results. No I/O."""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from silu.tools.base import ToolPicture
from silu.tools.schema import faults, inlined
from silu.types.facts import Effect

MAX_TOOLS = 128
"""Tools of one server; several vendors refuse longer lists."""

MAX_SCHEMA = 20_000
"""Characters of a tool's schema as JSON: a bigger one would fill the context by itself."""

MAX_DESCRIPTION = 4_000
MAX_RESULT = 2_000_000
"""Characters of a result that are kept; what the model is shown at once is far less."""

MAX_NAME = 64
"""Characters of a tool's name: the least that vendors allow."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

SEPARATOR = "__"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTool:
    """A tool of a server: `name` as the model sees it, `title` as the server calls it."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    effects: frozenset[Effect]
    idempotent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools that can be used, and a sentence for each that was left out."""

    tools: tuple[RemoteTool, ...] = ()
    problems: tuple[str, ...] = ()


def listing(server: str, told: Iterable[Any], only: Iterable[str] | None = None) -> Listing:
    """Read a server's tool list (the SDK's `Tool` values)."""
    wanted = None if only is None else set(only)
    tools: dict[str, RemoteTool] = {}
    problems: list[str] = []
    for item in told:
        if wanted is not None and item.name not in wanted:
            continue
        tool = _tool(server, item)
        if isinstance(tool, str):
            problems.append(tool)
        elif tool.name in tools:
            problems.append(f"{item.name}: a second tool of this name was left out")
        elif len(tools) >= MAX_TOOLS:
            problems.append(f"{item.name}: left out, {MAX_TOOLS} tools of a server are the most")
        else:
            tools[tool.name] = tool
    return Listing(tools=tuple(tools.values()), problems=tuple(problems))


def _tool(server: str, item: Any) -> RemoteTool | str:
    schema = inlined(dict(item.input_schema))
    size = len(msgspec.json.encode(schema))
    if size > MAX_SCHEMA:
        return f"{item.name}: left out, its schema of {size} bytes is too big"
    if schema.get("type") != "object":
        return f"{item.name}: left out, its schema describes no object"
    schema.setdefault("properties", {})
    text = (item.description or item.title or item.name).strip()
    if len(text) > MAX_DESCRIPTION:
        text = f"{text[:MAX_DESCRIPTION]}…"
    return RemoteTool(
        name=full_name(server, item.name),
        title=item.name,
        description=text,
        schema=schema,
        effects=effects(item.annotations),
        idempotent=_idempotent(item.annotations),
    )


def checked(args: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Faults of arguments by a server's schema, as far as it can be read here: the server itself
    has the last word."""
    try:
        return faults(args, schema)
    except (AttributeError, KeyError, TypeError, ValueError):
        # JSON Schema lets much stand where our check expects something plainer.
        return []


def without_patterns(schema: Any) -> Any:
    """The schema without its regular expressions: they are of another language than Python's,
    and a stranger's can take for ever."""
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        return {
            name: without_patterns(value)
            for name, value in fields.items()
            if name != "pattern" or not isinstance(value, str)
        }
    if isinstance(schema, list):
        return [without_patterns(item) for item in cast("list[Any]", schema)]
    return schema


def full_name(server: str, tool: str) -> str:
    """`server__tool` in the letters that every vendor takes, at most 64 of them."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}{SEPARATOR}{tool}")
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def effects(annotations: Any) -> frozenset[Effect]:
    """What a tool may do, by its own word: without a word it may do anything (`execute`).

    A reading tool reaches into the open world unless it says that it does not (the protocol's
    default), so that plan mode lets it run only when the person agrees.
    """
    if annotations is None or annotations.read_only_hint is not True:
        return frozenset({"execute"})
    if annotations.open_world_hint is False:
        return frozenset({"read"})
    return frozenset({"read", "network"})


def _idempotent(annotations: Any) -> bool:
    if annotations is None:
        return False
    return annotations.read_only_hint is True or annotations.idempotent_hint is True


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteResult:
    text: str
    ok: bool
    pictures: tuple[ToolPicture, ...] = ()


def result(told: Any) -> RemoteResult:
    """Read a call's result (the SDK's `CallToolResult`)."""
    pieces: list[str] = []
    pictures: list[ToolPicture] = []
    for block in told.content:
        match block.type:
            case "text":
                pieces.append(block.text)
            case "image" if (picture := _picture(block)) is not None:
                pictures.append(picture)
            case "resource":
                pieces.append(_resource(block.resource))
            case "resource_link":
                pieces.append(f"[resource {block.name}: {block.uri}]")
            case _:
                pieces.append(f"[{block.type} that cannot be shown]")
    if not pieces and told.structured_content is not None:
        pieces.append(msgspec.json.encode(told.structured_content).decode())
    text = "\n\n".join(pieces)
    if len(text) > MAX_RESULT:
        text = f"{text[:MAX_RESULT]}\n[the server sent {len(text)} characters; the rest is lost]"
    return RemoteResult(text=text, ok=not told.is_error, pictures=tuple(pictures))


def _picture(block: Any) -> ToolPicture | None:
    """A picture that browsers can show; nothing else is kept under a type a stranger chose."""
    if block.mime_type not in _PICTURES:
        return None
    try:
        data = base64.b64decode(block.data, validate=True)
    except ValueError:
        return None
    return ToolPicture(media_type=block.mime_type, data=data)


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return f"[resource {resource.uri}]\n{text}"
    return f"[resource {resource.uri}, {resource.mime_type or 'binary'}, cannot be shown]"
