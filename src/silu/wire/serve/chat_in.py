"""openai-chat requests: what a client sends to `/v1/chat/completions`."""

from typing import Any, Literal

import msgspec

from silu.types.calls import CallRequest, ToolSpec
from silu.types.levels import Level, LevelChoice
from silu.types.parts import (
    FilePart,
    ImagePart,
    Message,
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


class _Url(msgspec.Struct):
    url: str


class _Text(msgspec.Struct, tag="text", tag_field="type"):
    text: str


class _Refusal(msgspec.Struct, tag="refusal", tag_field="type"):
    refusal: str


class _Image(msgspec.Struct, tag="image_url", tag_field="type"):
    image_url: _Url


class _FileData(msgspec.Struct):
    file_data: str = ""
    filename: str = "file"


class _File(msgspec.Struct, tag="file", tag_field="type"):
    file: _FileData


class _Function(msgspec.Struct):
    name: str
    arguments: str = ""


class _Call(msgspec.Struct):
    id: str
    function: _Function
    type: Literal["function"] = "function"


class _Message(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Text | _Refusal | _Image | _File] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


class _ToolFunction(msgspec.Struct):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _Tool(msgspec.Struct):
    function: _ToolFunction
    type: Literal["function"] = "function"


class _Named(msgspec.Struct):
    name: str


class _Choice(msgspec.Struct):
    function: _Named
    type: Literal["function"] = "function"


class _Thinking(msgspec.Struct):
    type: Literal["enabled", "disabled", "adaptive", "auto"]
    budget_tokens: int | None = None


class _Reasoning(msgspec.Struct):
    effort: str | None = None
    enabled: bool | None = None
    max_tokens: int | None = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Body(msgspec.Struct):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    tool_choice: Literal["auto", "none", "required"] | _Choice | None = None
    reasoning_effort: str | None = None
    reasoning: _Reasoning | None = None
    thinking: _Thinking | None = None
    enable_thinking: bool | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    stop: str | list[str] | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


_KNOWN = frozenset(_Body.__struct_fields__)


def decode_chat(body: dict[str, Any]) -> ServedRequest:
    """Read a request body; a field that is malformed raises `BadRequestError` naming it."""
    try:
        read = msgspec.convert(body, _Body)
    except msgspec.ValidationError as error:
        raise bad_field(error) from error
    if not read.messages:
        raise BadRequestError("messages: at least one message is required", param="messages")
    if read.n not in (None, 1):
        raise BadRequestError("n: only one answer can be asked for", param="n")
    level = _level(read)
    stop = (read.stop,) if isinstance(read.stop, str) else tuple(read.stop or ())
    call = CallRequest(
        model=read.model,
        messages=_messages(read.messages),
        tools=[_tool(tool) for tool in read.tools or []],
        tool_choice=_tool_choice(read.tool_choice),
        level="default" if level is None else level,
        level_source="model" if level is None else "turn",
        max_tokens=read.max_completion_tokens or read.max_tokens,
        temperature=read.temperature,
        top_p=read.top_p,
        stream=bool(read.stream),
    )
    return ServedRequest(
        call=call,
        level_given=level is not None,
        include_usage=read.stream_options is not None and read.stream_options.include_usage,
        stop=stop,
        response_format=read.response_format,
        metadata=read.metadata,
        ignored=tuple(sorted(set(body) - _KNOWN)),
    )


def _level(read: _Body) -> LevelChoice | None:
    """The thinking a client asks for, in any of the forms clients of this dialect use."""
    if read.thinking is not None and read.thinking.type == "disabled":
        return Level.OFF
    if read.reasoning_effort is not None:
        return level_of(read.reasoning_effort, param="reasoning_effort")
    if read.reasoning is not None:
        return _reasoning(read.reasoning)
    if read.thinking is not None:
        return _thinking(read.thinking)
    if read.enable_thinking is not None:
        return "default" if read.enable_thinking else Level.OFF
    return None


def _reasoning(asked: _Reasoning) -> LevelChoice:
    if asked.effort is not None:
        return level_of(asked.effort, param="reasoning.effort")
    if asked.max_tokens is not None:
        return level_of_budget(asked.max_tokens)
    return Level.OFF if asked.enabled is False else "default"


def _thinking(asked: _Thinking) -> LevelChoice:
    if asked.budget_tokens is not None:
        return level_of_budget(asked.budget_tokens)
    return "default" if asked.type == "enabled" else Level.ADAPTIVE


def _tool(tool: _Tool) -> ToolSpec:
    function = tool.function
    parameters = function.parameters or {"type": "object", "properties": {}}
    return ToolSpec(
        name=function.name, description=function.description or "", parameters=parameters
    )


def _tool_choice(choice: str | _Choice | None) -> str:
    if isinstance(choice, _Choice):
        return choice.function.name
    return choice or "auto"


def _messages(messages: list[_Message]) -> list[Message]:
    """The client's messages; results that follow each other become one `tool` message."""
    out: list[Message] = []
    names: dict[str, str] = {}
    for position, message in enumerate(messages):
        if message.role == "tool":
            result = _result(message, position, names)
            if out and out[-1].role == "tool":
                out[-1].parts.append(result)
            else:
                out.append(Message(role="tool", parts=[result]))
            continue
        for call in message.tool_calls or []:
            names[call.id] = call.function.name
        role = "system" if message.role == "developer" else message.role
        out.append(Message(role=role, parts=_parts(message, position)))
    return out


def _result(message: _Message, position: int, names: dict[str, str]) -> ToolResultPart:
    if not message.tool_call_id:
        where = f"messages[{position}].tool_call_id"
        raise BadRequestError(f"{where}: a tool message names the call it answers", param=where)
    shown = "".join(p.text for p in _content(message, position) if isinstance(p, TextPart))
    call_id = message.tool_call_id
    return ToolResultPart(call_id=call_id, status="ok", shown=shown, name=names.get(call_id))


def _parts(message: _Message, position: int) -> list[Part]:
    parts: list[Part] = []
    thought = message.reasoning_content or message.reasoning
    if message.role == "assistant" and thought:
        parts.append(ThinkingPart(text=thought))
    parts.extend(_content(message, position))
    for call in message.tool_calls or []:
        arguments = call.function.arguments
        parts.append(ToolCallPart(call_id=call.id, name=call.function.name, arguments=arguments))
    return parts


def _content(message: _Message, position: int) -> list[Part]:
    content = message.content
    if content is None:
        return []
    if isinstance(content, str):
        return [TextPart(text=content)] if content else []
    return [_part(item, f"messages[{position}].content") for item in content]


def _part(item: _Text | _Refusal | _Image | _File, where: str) -> Part:
    match item:
        case _Text():
            return TextPart(text=item.text)
        case _Refusal():
            return TextPart(text=item.refusal)
        case _Image():
            url = item.image_url.url
            if not url.startswith("data:"):
                return ImagePart(media_type="image/*", url=url)
            media_type, data = _data_url(url, where)
            return ImagePart(media_type=media_type, data=data)
        case _File():
            media_type, data = _data_url(item.file.file_data, where)
            return FilePart(media_type=media_type, name=item.file.filename, data=data)


def _data_url(url: str, where: str) -> tuple[str, str]:
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise BadRequestError(f"{where}: not a base64 data URL", param=where)
    return head[len("data:") : -len(";base64")] or "application/octet-stream", data
