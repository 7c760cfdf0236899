"""The schema of openai-responses requests, on raw JSON: fields, items, pairs."""

from typing import Any

from silu.fakes.chat_rules import ProblemError
from silu.fakes.raw import is_int, kind, obj, seq

FIELDS = frozenset(
    {
        "model", "input", "instructions", "reasoning", "include", "store", "stream", "tools",
        "tool_choice", "parallel_tool_calls", "max_output_tokens", "temperature", "top_p",
        "previous_response_id", "truncation", "text", "metadata", "service_tier", "user",
        "context_management", "prompt_cache_key", "safety_identifier", "stream_options",
        "top_logprobs", "background", "max_tool_calls", "prompt_cache_retention",
    }
)  # fmt: skip
_ITEMS: dict[str, tuple[str, ...]] = {
    "message": ("type", "role", "content", "id", "phase", "status"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content"),
    "function_call": ("type", "id", "call_id", "name", "arguments", "status", "namespace"),
    "function_call_output": ("type", "call_id", "output", "id", "status"),
    "configuration_update": ("type", "reasoning"),
    "item_reference": ("type", "id"),
    "compaction": ("type", "id", "encrypted_content"),
}
_ROLES = ("system", "developer", "user", "assistant")


def check_responses(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Check a body; gives its input items, a string input as one message."""
    for name in body:
        if name not in FIELDS:
            raise ProblemError("unknown_field", name, f"Unknown parameter: '{name}'.")
    if not isinstance(body.get("model"), str):
        raise _missing("model")
    if "input" not in body:
        raise _missing("input")
    _check_limits(body)
    _check_tools(body)
    if isinstance(body["input"], str):
        return [{"type": "message", "role": "user", "content": body["input"]}]
    items = seq(body["input"])
    if items is None:
        found = kind(body["input"])
        detail = f"Invalid type for 'input': expected a string or an array, got {found} instead."
        raise ProblemError("type", "input", detail)
    checked = [_check_item(item, f"input[{i}]") for i, item in enumerate(items)]
    # With a stored response before it, the other half of a pair may stand there.
    if body.get("previous_response_id") is None:
        _check_pairs(checked)
    return checked


def _missing(param: str) -> ProblemError:
    return ProblemError("missing", param, f"Missing required parameter: '{param}'.")


def _check_limits(body: dict[str, Any]) -> None:
    limit = body.get("max_output_tokens")
    if limit is not None and not (is_int(limit) and limit >= 16):
        detail = (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, "
            f"but got {limit} instead."
        )
        raise ProblemError("range", "max_output_tokens", detail)


def _check_tools(body: dict[str, Any]) -> None:
    for i, item in enumerate(seq(body.get("tools")) or []):
        tool = obj(item) or {}
        if tool.get("type") == "function" and not isinstance(tool.get("name"), str):
            # Chat nests the function, Responses does not: a common mix-up.
            raise _missing(f"tools[{i}].name")
        if not isinstance(tool.get("type"), str):
            raise _missing(f"tools[{i}].type")


def _check_item(value: object, where: str) -> dict[str, Any]:
    item = obj(value)
    if item is None:
        detail = f"Invalid type for '{where}': expected an object, but got {kind(value)} instead."
        raise ProblemError("type", where, detail)
    word = item.get("type", "message" if "role" in item else None)
    if isinstance(word, str) and word not in _ITEMS and word.endswith(("_call", "_output")):
        # The vendor's own tools come and go: their items pass as they are.
        return item
    if word not in _ITEMS:
        words = ", ".join(f"'{name}'" for name in _ITEMS)
        detail = f"Invalid value: '{word}'. Supported values are: {words}."
        raise ProblemError("value", where, detail)
    for name in item:
        if name not in _ITEMS[word]:
            param = f"{where}.{name}"
            raise ProblemError("unknown_field", param, f"Unknown parameter: '{param}'.")
    _check_kind(item, word, where)
    return {**item, "type": word}


def _check_kind(item: dict[str, Any], word: str, where: str) -> None:
    match word:
        case "message":
            _check_message(item, where)
        case "function_call":
            for name in ("call_id", "name", "arguments"):
                if not isinstance(item.get(name), str):
                    raise _missing(f"{where}.{name}")
            if not str(item.get("id", "fc_")).startswith("fc"):
                raise _bad_id(item["id"], where, "fc")
        case "function_call_output":
            if not isinstance(item.get("call_id"), str):
                raise _missing(f"{where}.call_id")
            if "output" not in item:
                raise _missing(f"{where}.output")
        case "reasoning":
            if seq(item.get("summary")) is None:
                raise _missing(f"{where}.summary")
            if not str(item.get("id", "rs_")).startswith("rs"):
                raise _bad_id(item["id"], where, "rs")
        case _:
            pass


def _bad_id(value: object, where: str, prefix: str) -> ProblemError:
    detail = f"Invalid '{where}.id': '{value}'. Expected an ID that begins with '{prefix}'."
    return ProblemError("value", f"{where}.id", detail)


def _check_message(item: dict[str, Any], where: str) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        words = ", ".join(f"'{name}'" for name in _ROLES)
        detail = f"Invalid value: '{role}'. Supported values are: {words}."
        raise ProblemError("value", f"{where}.role", detail)
    if isinstance(content, str):
        return
    parts = seq(content)
    if parts is None:
        raise _missing(f"{where}.content")
    wanted = ("output_text", "refusal") if role == "assistant" else ("input_text", "input_image")
    for j, part in enumerate(parts):
        word = (obj(part) or {}).get("type")
        if word not in (*wanted, *(() if role == "assistant" else ("input_file",))):
            words = ", ".join(f"'{name}'" for name in wanted)
            detail = f"Invalid value: '{word}'. Supported values are: {words}."
            raise ProblemError("value", f"{where}.content[{j}]", detail)


def _check_pairs(items: list[dict[str, Any]]) -> None:
    """Every call has an output, every output a call, every reasoning an item that follows it."""
    called = {item["call_id"] for item in items if item["type"] == "function_call"}
    answered = {item["call_id"] for item in items if item["type"] == "function_call_output"}
    for call_id in sorted(called - answered):
        detail = f"No tool output found for function call {call_id}."
        raise ProblemError("unanswered", "input", detail)
    for call_id in sorted(answered - called):
        detail = f"No tool call found for function call output with call_id {call_id}."
        raise ProblemError("stray_result", "input", detail)
    for i, item in enumerate(items):
        if item["type"] != "reasoning":
            continue
        follower = items[i + 1] if i + 1 < len(items) else {}
        # A message is known by its id: the same words without it were refused (recorded, gpt-5).
        message = follower.get("type") == "message" and follower.get("role") == "assistant"
        known = message and str(follower.get("id", "")).startswith("msg")
        own = known or str(follower.get("type")).endswith(("_call", "reasoning"))
        if not own:
            detail = (
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required "
                "following item."
            )
            raise ProblemError("no_follower", "input", detail)
