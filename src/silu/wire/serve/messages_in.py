"""anthropic-messages requests: what a client sends to `/v1/messages`."""

from typing import Any, Literal

import msgspec

from silu.types.calls import CallRequest, ToolSpec
from silu.types.levels import Level, LevelChoice
from silu.types.parts import (
    Continuity,
    FilePart,
    ImagePart,
    Message,
    Origin,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from silu.wire.serve.request import (
    BadRequestError,
    ServedRequest,
    bad_field,
    level_of,
    level_of_budget,
)

DIALECT = "anthropic-messages"


class _Text(msgspec.Struct, tag="text", tag_field="type"):
    text: str


class _Source(msgspec.Struct):
    type: Literal["base64", "url", "text"]
    media_type: str = "application/octet-stream"
    data: str | None = None
    url: str | None = None


class _Image(msgspec.Struct, tag="image", tag_field="type"):
    source: _Source


class _Document(msgspec.Struct, tag="document", tag_field="type"):
    source: _Source
    title: str | None = None


class _Thinking(msgspec.Struct, tag="thinking", tag_field="type"):
    thinking: str
    signature: str = ""


class _Redacted(msgspec.Struct, tag="redacted_thinking", tag_field="type"):
    data: str


class _ToolUse(msgspec.Struct, tag="tool_use", tag_field="type"):
    id: str
    name: str
    input: dict[str, Any]


class _ToolResult(msgspec.Struct, tag="tool_result", tag_field="type"):
    tool_use_id: str
    content: str | list[_Text | _Image | _Document] | None = None
    is_error: bool | None = None


_Block = _Text | _Image | _Document | _Thinking | _Redacted | _ToolUse | _ToolResult


class _Message(msgspec.Struct):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]


class _Tool(msgspec.Struct):
    name: str
    input_schema: dict[str, Any]
    description: str | None = None
    type: Literal["custom"] | None = None


class _Choice(msgspec.Struct):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None


class _Switch(msgspec.Struct):
    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: int | None = None


class _OutputConfig(msgspec.Struct):
    effort: str | None = None


class _Body(msgspec.Struct):
    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    system: str | list[_Text] | None = None
    tools: list[_Tool] | None = None
    tool_choice: _Choice | None = None
    thinking: _Switch | None = None
    output_config: _OutputConfig | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool | None = None
    stop_sequences: list[str] | None = None
    metadata: dict[str, Any] | None = None


_KNOWN = frozenset(_Body.__struct_fields__)


def decode_messages(body: dict[str, Any]) -> ServedRequest:
    """Read a request body; a field that is malformed raises `BadRequestError` naming it."""
    try:
        read = msgspec.convert(body, _Body)
    except msgspec.ValidationError as error:
        raise bad_field(error) from error
    if not read.messages:
        raise BadRequestError("messages: at least one message is required", param="messages")
    if read.max_tokens is None or read.max_tokens < 1:
        raise BadRequestError("max_tokens: a positive number is required", param="max_tokens")
    level = _level(read)
    call = CallRequest(
        model=read.model,
        messages=[*_system(read.system), *_messages(read)],
        tools=[_tool(tool) for tool in read.tools or []],
        tool_choice=_tool_choice(read.tool_choice),
        level="default" if level is None else level,
        level_source="model" if level is None else "turn",
        max_tokens=read.max_tokens,
        temperature=read.temperature,
        top_p=read.top_p,
        stream=bool(read.stream),
    )
    return ServedRequest(
        call=call,
        level_given=level is not None,
        include_usage=True,
        stop=tuple(read.stop_sequences or ()),
        metadata=read.metadata,
        ignored=tuple(sorted(set(body) - _KNOWN)),
    )


def _level(read: _Body) -> LevelChoice | None:
    effort = read.output_config.effort if read.output_config else None
    switch = read.thinking
    if switch is not None and switch.type in ("disabled", "between_tools"):
        return Level.OFF
    if effort is not None:
        return level_of(effort, param="output_config.effort")
    if switch is None:
        return None
    if switch.type == "adaptive":
        return Level.ADAPTIVE
    return "default" if switch.budget_tokens is None else level_of_budget(switch.budget_tokens)


def _tool(tool: _Tool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description or "", parameters=tool.input_schema
    )


def _tool_choice(choice: _Choice | None) -> str:
    if choice is None:
        return "auto"
    match choice.type:
        case "any":
            return "required"
        case "tool":
            if not choice.name:
                raise BadRequestError("tool_choice.name: Field required", param="tool_choice.name")
            return choice.name
        case word:
            return word


def _system(system: str | list[_Text] | None) -> list[Message]:
    if not system:
        return []
    texts = [system] if isinstance(system, str) else [block.text for block in system]
    return [Message(role="system", parts=[TextPart(text=text) for text in texts])]


def _messages(read: _Body) -> list[Message]:
    """The client's messages; the results in a user message become a `tool` message before it."""
    out: list[Message] = []
    names: dict[str, str] = {}
    for position, message in enumerate(read.messages):
        if isinstance(message.content, str):
            out.append(Message(role=message.role, parts=[TextPart(text=message.content)]))
            continue
        if message.role == "assistant":
            out.append(_assistant(message.content, read.model))
            names.update({b.id: b.name for b in message.content if isinstance(b, _ToolUse)})
            continue
        results = [_result(b, names) for b in message.content if isinstance(b, _ToolResult)]
        if results:
            out.append(Message(role="tool", parts=list(results)))
        where = f"messages[{position}].content"
        rest = [_part(b, where) for b in message.content if not isinstance(b, _ToolResult)]
        if rest or not results:
            out.append(Message(role=message.role, parts=rest))
    return out


def _assistant(blocks: list[_Block], model: str) -> Message:
    message = Message(role="assistant", parts=[])
    for number, block in enumerate(blocks):
        name = f"b{number}"
        match block:
            case _Thinking():
                message.parts.append(ThinkingPart(id=name, text=block.thinking))
                if block.signature:
                    kept = _kept(name, "signature", block.signature, model)
                    message.continuity.append(kept)
            case _Redacted():
                message.parts.append(ThinkingPart(id=name, text="", kind="redacted"))
                message.continuity.append(_kept(name, "data", block.data, model))
            case _ToolUse():
                arguments = msgspec.json.encode(block.input).decode()
                call = ToolCallPart(id=name, call_id=block.id, name=block.name, arguments=arguments)
                message.parts.append(call)
            case _:
                message.parts.append(_part(block, "messages"))
    return message


def _kept(part: str, field: str, value: str, model: str) -> Continuity:
    origin = Origin(vendor="", dialect=DIALECT, model=model, field=field)
    data = msgspec.json.encode(value).decode()
    return Continuity(part=part, kind=field, data=data, origin=origin)


def _result(block: _ToolResult, names: dict[str, str]) -> ToolResultPart:
    content = block.content or ""
    if not isinstance(content, str):
        content = "".join(item.text for item in content if isinstance(item, _Text))
    return ToolResultPart(
        call_id=block.tool_use_id,
        status="error" if block.is_error else "ok",
        shown=content,
        name=names.get(block.tool_use_id),
    )


def _part(block: _Block, where: str) -> Part:
    match block:
        case _Text():
            return TextPart(text=block.text)
        case _Image():
            source = block.source
            return ImagePart(media_type=source.media_type, data=source.data, url=source.url)
        case _Document():
            source = block.source
            name = block.title or "document"
            return FilePart(media_type=source.media_type, name=name, data=source.data)
        case _:
            raise BadRequestError(f"{where}: this block cannot stand here", param=where)
