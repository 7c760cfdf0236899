"""The schema every anthropic-messages server checks, on raw JSON."""

import re
from typing import Any

import msgspec

from silu.fakes.raw import is_int, obj, seq

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class BadMessageError(Exception):
    """A breach: the sentence as the first-party API words it."""


class MessagesSchema(msgspec.Struct, frozen=True, kw_only=True):
    """What one endpoint takes. `signed`: thinking blocks need a signature. `system_turns`: a
    message of role `system` may stand in the conversation. `custom_tools`: tools may say
    `type: custom`."""

    fields: frozenset[str]
    signed: bool = True
    system_turns: bool = False
    custom_tools: bool = True
    server_tools: bool = True


FIELDS = frozenset(
    {
        "model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking",
        "output_config", "temperature", "top_p", "top_k", "stream", "stop_sequences", "metadata",
        "service_tier", "cache_control", "container", "inference_geo",
    }
)  # fmt: skip

# What a block may hold besides `type`; the first of them is required and names its JSON type.
_BLOCKS: dict[str, tuple[tuple[str, type], tuple[str, ...]]] = {
    "text": (("text", str), ("citations", "cache_control")),
    "image": (("source", dict), ("cache_control",)),
    "document": (("source", dict), ("title", "context", "citations", "cache_control")),
    "tool_use": (("id", str), ("name", "input", "cache_control", "caller")),
    "tool_result": (("tool_use_id", str), ("content", "is_error", "cache_control")),
    "thinking": (("thinking", str), ("signature",)),
    "redacted_thinking": (("data", str), ()),
}
_BY_ROLE = {
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking"),
    "system": ("text",),
}
THOUGHTS = ("thinking", "redacted_thinking")


def check_messages(body: dict[str, Any], schema: MessagesSchema) -> list[dict[str, Any]]:
    """Check a body; gives its messages with string content turned into text blocks and
    neighbours of one role joined. Raises `BadMessageError`."""
    for name in body:
        if name not in schema.fields:
            raise BadMessageError(f"{name}: Extra inputs are not permitted")
    for name, wanted, word in (
        ("model", str, "string"),
        ("messages", list, "list"),
        ("max_tokens", int, "integer"),
    ):
        if name not in body:
            raise BadMessageError(f"{name}: Field required")
        if not isinstance(body[name], wanted) or isinstance(body[name], bool):
            raise BadMessageError(f"{name}: Input should be a valid {word}")
    if body["max_tokens"] < 1:
        raise BadMessageError("max_tokens: Input should be greater than or equal to 1")
    if not body["messages"]:
        raise BadMessageError("messages: at least one message is required")
    _check_system(body.get("system"))
    checked = [_message(m, i, body, schema) for i, m in enumerate(seq(body["messages"]) or [])]
    if checked[0]["role"] != "user":
        raise BadMessageError('messages: first message must use the "user" role')
    joined = join(checked)
    _check_pairs(joined)
    _check_tools(body, schema)
    _check_choice(body)
    _check_marks(body)
    return joined


def join(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours of one role as one message; the API reads them so."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if out and out[-1]["role"] == message["role"]:
            content = [*out[-1]["content"], *message["content"]]
            out[-1] = {"role": message["role"], "content": content}
        else:
            out.append(message)
    return out


def blocks_of(content: object) -> list[dict[str, Any]]:
    """Content as a list of blocks; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [obj(block) or {} for block in seq(content) or []]


def _check_system(system: object) -> None:
    if system is None or isinstance(system, str):
        return
    if seq(system) is None:
        raise BadMessageError("system: Input should be a valid list")
    for i, block in enumerate(blocks_of(system)):
        if block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise BadMessageError(f"system.{i}.text: Field required")
        if not block["text"]:
            raise BadMessageError("system: text content blocks must be non-empty")


def _message(
    value: object, position: int, body: dict[str, Any], schema: MessagesSchema
) -> dict[str, Any]:
    where = f"messages.{position}"
    message = obj(value)
    if message is None:
        raise BadMessageError(f"{where}: Input should be a valid dictionary")
    role = message.get("role")
    if role == "system" and schema.system_turns:
        return {"role": "system", "content": blocks_of(message.get("content"))}
    if role == "system":
        raise BadMessageError("`role 'system'` is not supported on this model")
    if role not in ("user", "assistant"):
        raise BadMessageError(
            f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".'
        )
    for name in message:
        if name not in ("role", "content"):
            raise BadMessageError(f"{where}.{name}: Extra inputs are not permitted")
    content = message.get("content")
    if not isinstance(content, str) and seq(content) is None:
        problem = "Field required" if "content" not in message else "Input should be a valid list"
        raise BadMessageError(f"{where}.content: {problem}")
    blocks = blocks_of(content)
    last = position == len(body["messages"]) - 1
    if (content == "" or not blocks) and not (last and role == "assistant"):
        raise BadMessageError(
            f"{where}: all messages must have non-empty content except for the optional final "
            "assistant message"
        )
    for i, block in enumerate(blocks):
        _check_block(block, role, f"{where}.content.{i}", schema)
    return {"role": role, "content": blocks}


def _check_block(block: dict[str, Any], role: str, where: str, schema: MessagesSchema) -> None:
    word = block.get("type")
    if not isinstance(word, str):
        raise BadMessageError(f"{where}.type: Field required")
    if word not in _BLOCKS:
        # Server tools come and go with beta headers: their blocks are passed as they are.
        if schema.server_tools and (word.endswith("_result") or word in _SERVER_BLOCKS):
            return
        raise BadMessageError(f"{where}: Input tag '{word}' found using 'type' is not known")
    if word not in _BY_ROLE[role]:
        raise BadMessageError(f"{where}: `{word}` blocks are not permitted in `{role}` messages")
    (first, wanted), others = _BLOCKS[word]
    if first not in block:
        raise BadMessageError(f"{where}.{word}.{first}: Field required")
    if not isinstance(block[first], wanted):
        raise BadMessageError(f"{where}.{word}.{first}: Input should be a valid {wanted.__name__}")
    for name in block:
        if name not in ("type", first, *others):
            raise BadMessageError(f"{where}.{word}.{name}: Extra inputs are not permitted")
    _check_kind(block, word, where, schema)


_SERVER_BLOCKS = (
    "server_tool_use",
    "container_upload",
    "mcp_tool_use",
    "search_result",
    "fallback",
)


def _check_kind(block: dict[str, Any], word: str, where: str, schema: MessagesSchema) -> None:
    match word:
        case "text":
            if not block["text"]:
                raise BadMessageError("messages: text content blocks must be non-empty")
            if not block["text"].strip():
                raise BadMessageError(
                    "messages: text content blocks must contain non-whitespace text"
                )
        case "tool_use":
            _check_tool_use(block, where)
        case "tool_result":
            _check_result(block, where)
        case "thinking":
            if schema.signed and not isinstance(block.get("signature"), str):
                raise BadMessageError(f"{where}.thinking.signature: Field required")
        case _:
            pass


def _check_tool_use(block: dict[str, Any], where: str) -> None:
    if not _ID.fullmatch(block["id"]):
        raise BadMessageError(
            f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        )
    if not isinstance(block.get("name"), str):
        raise BadMessageError(f"{where}.tool_use.name: Field required")
    if obj(block.get("input")) is None:
        raise BadMessageError(f"{where}.tool_use.input: Input should be a valid dictionary")


def _check_result(block: dict[str, Any], where: str) -> None:
    content = block.get("content")
    if content is None or isinstance(content, str):
        return
    for i, item in enumerate(blocks_of(content)):
        if item.get("type") == "text" and not item.get("text"):
            raise BadMessageError("messages: text content blocks must be non-empty")
        if item.get("type") not in ("text", "image", "document", "search_result"):
            raise BadMessageError(
                f"{where}.tool_result.content.{i}: Input tag '{item.get('type')}' is not permitted"
            )


def _ids(blocks: list[dict[str, Any]], word: str, field: str) -> list[str]:
    return [block[field] for block in blocks if block.get("type") == word]


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    waiting: list[str] = []
    for i, message in enumerate(messages):
        blocks = message["content"]
        results = _ids(blocks, "tool_result", "tool_use_id")
        for id_ in results:
            if id_ not in waiting:
                raise BadMessageError(
                    f"messages.{i}.content: unexpected `tool_use_id` found in `tool_result` "
                    f"blocks: {id_}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message."
                )
        if len(set(results)) != len(results):
            raise BadMessageError(
                f"messages.{i}.content: each tool_use must have a single result. Found multiple "
                "`tool_result` blocks with one id."
            )
        head = [b.get("type") for b in blocks[: len(results)]]
        missing = [id_ for id_ in waiting if id_ not in results]
        if missing or (results and any(word != "tool_result" for word in head)):
            raise _unanswered(i - 1, missing or waiting)
        waiting = _ids(blocks, "tool_use", "id")
        if len(set(waiting)) != len(waiting):
            raise BadMessageError("messages: `tool_use` ids must be unique")
    if waiting:
        raise _unanswered(len(messages) - 1, waiting)


def _unanswered(position: int, ids: list[str]) -> BadMessageError:
    return BadMessageError(
        f"messages.{position}: `tool_use` ids were found without `tool_result` blocks immediately "
        f"after: {', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` "
        "block in the next message."
    )


def _check_tools(body: dict[str, Any], schema: MessagesSchema) -> None:
    tools = body.get("tools")
    if tools is None:
        return
    if seq(tools) is None:
        raise BadMessageError("tools: Input should be a valid list")
    names: list[str] = []
    for i, item in enumerate(seq(tools) or []):
        tool = obj(item) or {}
        kind = tool.get("type")
        if kind not in (None, "custom") or (kind == "custom" and not schema.custom_tools):
            if kind != "custom" and schema.server_tools:
                continue
            raise BadMessageError(f"tools.{i}.type: unknown variant `{kind}`")
        names.append(_check_tool(tool, f"tools.{i}"))
    if len(set(names)) != len(names):
        raise BadMessageError("tools: Tool names must be unique.")


def _check_tool(tool: dict[str, Any], where: str) -> str:
    name = tool.get("name")
    if not isinstance(name, str):
        raise BadMessageError(f"{where}.custom.name: Field required")
    if not _NAME.fullmatch(name):
        pattern = "'^[a-zA-Z0-9_-]{1,128}$'"
        raise BadMessageError(f"{where}.custom.name: String should match pattern {pattern}")
    if "input_schema" not in tool:
        raise BadMessageError(f"{where}.custom.input_schema: Field required")
    if (obj(tool["input_schema"]) or {}).get("type") != "object":
        raise BadMessageError(f"{where}.custom.input_schema.type: Input should be 'object'")
    return name


def is_forced(body: dict[str, Any]) -> bool:
    """True where the tool choice leaves the model no way around a tool."""
    return (obj(body.get("tool_choice")) or {}).get("type") in ("any", "tool")


def _check_choice(body: dict[str, Any]) -> None:
    if body.get("tool_choice") is None:
        return
    choice = obj(body["tool_choice"]) or {}
    word = choice.get("type")
    if word not in ("auto", "any", "tool", "none"):
        raise BadMessageError(
            f"tool_choice: Input tag '{word}' found using 'type' does not match any of the "
            "expected tags: 'auto', 'any', 'tool', 'none'"
        )
    if word != "none" and not body.get("tools"):
        raise BadMessageError(
            "tool_choice: tool_choice may only be specified while providing tools"
        )
    if word == "tool":
        names = [(obj(tool) or {}).get("name") for tool in seq(body.get("tools")) or []]
        if choice.get("name") not in names:
            raise BadMessageError(f"tool_choice: Tool '{choice.get('name')}' not found in tools")


def _check_marks(body: dict[str, Any]) -> None:
    """At most four cache marks in one request."""
    found = 0
    stack: list[object] = [body.get("system"), body.get("tools"), body.get("messages")]
    while stack:
        item = stack.pop()
        if (owner := obj(item)) is not None:
            found += owner.get("cache_control") is not None
            stack.extend([owner.get("content")])
        elif (items := seq(item)) is not None:
            stack.extend(items)
    if found > 4:
        raise BadMessageError(
            f"A maximum of 4 blocks with cache_control may be provided. Found {found}."
        )


def budget_of(thinking: dict[str, Any]) -> int:
    """The budget of `thinking.type: enabled`; raises where it is missing or no number."""
    budget = thinking.get("budget_tokens")
    if budget is None:
        raise BadMessageError("thinking.enabled.budget_tokens: Field required")
    if not is_int(budget):
        raise BadMessageError("thinking.enabled.budget_tokens: Input should be a valid integer")
    return budget
