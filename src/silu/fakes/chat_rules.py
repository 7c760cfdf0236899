"""The schema every openai-chat server checks, on raw JSON. How a breach is told is the vendor's."""

import re
from collections.abc import Collection
from typing import Any

import msgspec

from silu.fakes.raw import is_int, is_number, kind, obj, seq

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CHOICES = ("none", "auto", "required")


class ProblemError(Exception):
    """A breach of the schema: `what` is its class, `param` the field as servers write it
    (`messages[0].content`), `detail` a sentence in OpenAI's wording."""

    def __init__(self, what: str, param: str, detail: str, *, value: str = "") -> None:
        super().__init__(detail)
        self.what = what
        self.param = param
        self.detail = detail
        self.value = value


class ChatSchema(msgspec.Struct, frozen=True, kw_only=True):
    """What one server takes. A field set of `None` means: unknown ones are shrugged at. `loose`
    servers also take empty arrays, a result without an id and a choice they do not know."""

    roles: tuple[str, ...] = ("system", "developer", "user", "assistant", "tool")
    fields: frozenset[str] | None = None
    message_fields: frozenset[str] | None = None
    id_limit: int | None = 40
    array_content: bool = True
    loose: bool = False
    images: bool = True


PLAIN_FIELDS = frozenset(
    {
        "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream",
        "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n",
        "stop", "seed", "presence_penalty", "frequency_penalty", "response_format", "logprobs",
        "top_logprobs", "logit_bias", "user", "metadata",
    }
)  # fmt: skip
PLAIN_MESSAGE_FIELDS = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}
)


def check_chat(body: dict[str, Any], schema: ChatSchema) -> list[dict[str, Any]]:
    """Check a body against the schema; gives its messages back. Raises `ProblemError`."""
    _check_fields(body, schema.fields, "")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise _missing("model", body)
    messages = seq(body.get("messages"))
    if messages is None:
        raise _missing("messages", body)
    if not messages:
        detail = "Invalid 'messages': empty array. Expected an array with minimum length 1."
        raise ProblemError("empty", "messages", detail)
    checked = [_check_message(m, f"messages[{i}]", schema) for i, m in enumerate(messages)]
    if not schema.loose:
        _check_pairs(checked)
        _check_choice(body)
    if body.get("tools") or not schema.loose:
        _check_tools(body)
    _check_stream(body)
    _check_numbers(body)
    return checked


def _missing(param: str, owner: dict[str, Any]) -> ProblemError:
    name = param.rpartition(".")[2]
    if name in owner:
        return _type(param, "a string" if name != "messages" else "an array", owner[name])
    return ProblemError("missing", param, f"Missing required parameter: '{param}'.")


def _type(param: str, wanted: str, got: object) -> ProblemError:
    detail = f"Invalid type for '{param}': expected {wanted}, but got {kind(got)} instead."
    return ProblemError("type", param, detail)


def _check_fields(owner: dict[str, Any], allowed: Collection[str] | None, where: str) -> None:
    if allowed is None:
        return
    for name in owner:
        if name not in allowed:
            param = f"{where}.{name}" if where else name
            raise ProblemError("unknown_field", param, f"Unknown parameter: '{param}'.")


def _check_message(value: object, where: str, schema: ChatSchema) -> dict[str, Any]:
    message = obj(value)
    if message is None:
        raise _type(where, "an object", value)
    role = message.get("role")
    if not isinstance(role, str):
        raise _missing(f"{where}.role", message)
    if role not in schema.roles:
        allowed = ", ".join(f"'{word}'" for word in schema.roles)
        detail = f"Invalid value: '{role}'. Supported values are: {allowed}."
        raise ProblemError("role", f"{where}.role", detail, value=role)
    _check_fields(message, schema.message_fields, where)
    _check_content(message, role, where, schema)
    if "tool_calls" in message:
        _check_calls(message, role, where, schema)
    if role == "tool" and not (schema.loose or isinstance(message.get("tool_call_id"), str)):
        raise _missing(f"{where}.tool_call_id", message)
    return message


def _check_content(message: dict[str, Any], role: str, where: str, schema: ChatSchema) -> None:
    content, param = message.get("content"), f"{where}.content"
    if content is None:
        if role == "assistant" and message.get("tool_calls"):
            return
        if "content" not in message:
            raise _missing(param, message)
        raise _type(param, "one of a string or array of objects", None)
    if isinstance(content, str):
        return
    parts = seq(content)
    if parts is None or not schema.array_content:
        raise _type(param, "a string", content)
    if not parts and not schema.loose:
        detail = f"Invalid '{param}': empty array. Expected an array with minimum length 1."
        raise ProblemError("empty", param, detail)
    for i, part in enumerate(parts):
        _check_part(obj(part) or {}, role, f"{param}[{i}]", schema)


def _check_part(part: dict[str, Any], role: str, where: str, schema: ChatSchema) -> None:
    pictures = schema.images and role == "user"
    allowed = ("text", "image_url", "file", "input_audio") if pictures else ("text",)
    word = part.get("type")
    if word not in allowed:
        names = ", ".join(f"'{name}'" for name in allowed)
        detail = f"Invalid value: '{word}'. Supported values are: {names}."
        raise ProblemError("value", f"{where}.type", detail, value=str(word))
    if word == "text" and not isinstance(part.get("text"), str):
        raise _missing(f"{where}.text", part)
    if word == "image_url" and not isinstance((obj(part.get("image_url")) or {}).get("url"), str):
        raise _missing(f"{where}.image_url.url", part)


def _check_calls(message: dict[str, Any], role: str, where: str, schema: ChatSchema) -> None:
    param = f"{where}.tool_calls"
    calls = seq(message["tool_calls"])
    if calls is None:
        if message["tool_calls"] is None:
            return
        raise _type(param, "an array of objects", message["tool_calls"])
    if role != "assistant":
        detail = f"Unknown parameter: '{param}'. Only assistant messages carry tool calls."
        raise ProblemError("unknown_field", param, detail)
    if not calls:
        detail = f"Invalid '{param}': empty array. Expected an array with minimum length 1."
        raise ProblemError("empty", param, detail)
    for i, call in enumerate(calls):
        _check_call(obj(call) or {}, f"{param}[{i}]", schema)


def _check_call(call: dict[str, Any], where: str, schema: ChatSchema) -> None:
    if not isinstance(call.get("id"), str) or not call["id"]:
        raise _missing(f"{where}.id", call)
    if schema.id_limit is not None and len(call["id"]) > schema.id_limit:
        detail = (
            f"Invalid '{where}.id': string too long. Expected a string with maximum length "
            f"{schema.id_limit}, but got a string with length {len(call['id'])} instead."
        )
        raise ProblemError("too_long", f"{where}.id", detail)
    if call.get("type") != "function":
        raise _missing(f"{where}.type", call)
    function = obj(call.get("function"))
    if function is None:
        raise _missing(f"{where}.function", call)
    _check_name(function, f"{where}.function.name")
    if not isinstance(function.get("arguments"), str):
        raise _missing(f"{where}.function.arguments", function)


def _check_name(owner: dict[str, Any], param: str) -> None:
    name = owner.get("name")
    if not isinstance(name, str):
        raise _missing(param, owner)
    if not _NAME.fullmatch(name):
        detail = (
            f"Invalid '{param}': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise ProblemError("pattern", param, detail)


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    open_calls: list[str] = []
    owner = 0
    for i, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise ProblemError(
                    "stray_result",
                    f"messages[{i}].role",
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'.",
                    value=message["tool_call_id"],
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            raise _unanswered(open_calls, i)
        owner = i
        open_calls = [call["id"] for call in seq(message.get("tool_calls")) or []]
        if len(set(open_calls)) != len(open_calls):
            detail = "Duplicate value for 'tool_call_id' in one message."
            raise ProblemError("duplicate_id", f"messages[{owner}].tool_calls", detail)
    if open_calls:
        raise _unanswered(open_calls, len(messages))


def _unanswered(open_calls: list[str], position: int) -> ProblemError:
    detail = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(open_calls)
    )
    return ProblemError("unanswered", f"messages[{position}].role", detail)


def _check_tools(body: dict[str, Any]) -> None:
    if body.get("tools") is None:
        return
    tools = seq(body["tools"])
    if tools is None:
        raise _type("tools", "an array of objects", body["tools"])
    if not tools:
        detail = "Invalid 'tools': empty array. Expected an array with minimum length 1."
        raise ProblemError("empty", "tools", detail)
    for i, item in enumerate(tools):
        tool = obj(item) or {}
        if tool.get("type") != "function":
            detail = f"Invalid value: '{tool.get('type')}'. Supported values are: 'function'."
            raise ProblemError("value", f"tools[{i}].type", detail, value=str(tool.get("type")))
        function = obj(tool.get("function"))
        if function is None:
            raise _missing(f"tools[{i}].function", tool)
        _check_name(function, f"tools[{i}].function.name")
        parameters = function.get("parameters")
        if parameters is not None and (obj(parameters) or {}).get("type") != "object":
            detail = (
                f"Invalid schema for function '{function['name']}': schema must be a JSON Schema "
                "of 'type: \"object\"'."
            )
            raise ProblemError("schema", f"tools[{i}].function.parameters", detail)


def tool_names(body: dict[str, Any]) -> set[str]:
    """The names of the tools a checked body offers."""
    found = [obj(tool.get("function")) for tool in map(obj, seq(body.get("tools")) or []) if tool]
    return {function["name"] for function in found if function is not None}


def _check_choice(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    names = tool_names(body)
    if not names:
        detail = (
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified."
        )
        raise ProblemError("choice", "tool_choice", detail)
    if isinstance(choice, str):
        if choice not in CHOICES:
            detail = (
                f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
            )
            raise ProblemError("value", "tool_choice", detail, value=choice)
        return
    function = obj((obj(choice) or {}).get("function")) or {}
    if (obj(choice) or {}).get("type") != "function" or function.get("name") not in names:
        detail = f"Tool choice '{function.get('name')}' not found in 'tools' parameter."
        raise ProblemError("choice", "tool_choice", detail)


def is_forced(body: dict[str, Any]) -> bool:
    """True where the tool choice leaves the model no way around a tool."""
    choice = body.get("tool_choice")
    return choice == "required" or obj(choice) is not None


def _check_stream(body: dict[str, Any]) -> None:
    if not isinstance(body.get("stream", False), bool | None):
        raise _type("stream", "a boolean", body["stream"])
    if body.get("stream_options") is not None and not body.get("stream"):
        detail = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise ProblemError("stream_options", "stream_options", detail)


def _check_numbers(body: dict[str, Any]) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is None:
            continue
        if not is_int(value):
            raise _type(name, "an integer", value)
        if value < 1:
            detail = (
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got "
                f"{value} instead."
            )
            raise ProblemError("range", name, detail)
    for name, top in (("temperature", 2), ("top_p", 1)):
        value = body.get(name)
        if value is None:
            continue
        if not is_number(value):
            raise _type(name, "a decimal", value)
        if not 0 <= value <= top:
            bound = "maximum" if value > top else "minimum"
            sign, edge = ("<=", top) if value > top else (">=", 0)
            detail = (
                f"Invalid '{name}': decimal {'above' if value > top else 'below'} {bound} value. "
                f"Expected a value {sign} {edge}, but got {value} instead."
            )
            raise ProblemError("range", name, detail)
