"""The schema of gemini-generate requests, on raw JSON."""

import re
from typing import Any

from silu.fakes.raw import obj, seq

FIELDS = frozenset(
    {
        "contents", "systemInstruction", "tools", "toolConfig", "generationConfig",
        "safetySettings", "cachedContent", "labels", "model", "store",
    }
)  # fmt: skip
_PARTS = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
_BESIDE = ("thought", "thoughtSignature", "partMetadata", "videoMetadata")


class BadContentError(Exception):
    """A breach: the sentence as the API words it."""


def check_contents(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Check a body; gives its contents. Raises `BadContentError`."""
    for name in body:
        if name not in FIELDS:
            raise BadContentError(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            )
    contents = seq(body.get("contents"))
    if not contents:
        raise BadContentError("* GenerateContentRequest.contents: contents is not specified")
    checked = [_content(item, f"contents[{i}]") for i, item in enumerate(contents)]
    system = body.get("systemInstruction")
    if system is not None and not seq((obj(system) or {}).get("parts")):
        where = "GenerateContentRequest.system_instruction.parts"
        raise BadContentError(f"* {where}: must not be empty")
    _check_turns(checked)
    _check_tools(body)
    return checked


def _content(value: object, where: str) -> dict[str, Any]:
    content = obj(value)
    if content is None:
        raise BadContentError(f"Invalid value at '{where}' (Content)")
    role = content.get("role", "user")
    if role not in ("user", "model", "function"):
        raise BadContentError("Please use a valid role: user, model.")
    parts = [_camel(obj(part) or {}) for part in seq(content.get("parts")) or []]
    if not parts:
        raise BadContentError(
            f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty."
        )
    for j, part in enumerate(parts):
        _check_part(part, f"{where}.parts[{j}]")
    return {"role": "user" if role == "function" else role, "parts": parts}


def _camel(part: dict[str, Any]) -> dict[str, Any]:
    """The part with its names in the API's own spelling; it takes `function_call` too."""
    return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): part[key] for key in part}


def _check_part(part: dict[str, Any], where: str) -> None:
    kinds = [name for name in part if name in _PARTS]
    for name in part:
        if name not in _PARTS and name not in _BESIDE:
            raise BadContentError(
                f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find "
                "field."
            )
    if len(kinds) != 1:
        raise BadContentError(
            f"* GenerateContentRequest.{where}.data: required oneof field 'data' must have one "
            "initialized field"
        )
    call = part.get("functionCall")
    if call is not None and not isinstance((obj(call) or {}).get("name"), str):
        raise BadContentError(f"* GenerateContentRequest.{where}.function_call.name: is required")
    answer = part.get("functionResponse")
    if answer is not None and obj((obj(answer) or {}).get("response")) is None:
        raise BadContentError(f"Invalid value at '{where}.function_response.response' (Struct)")


def _names(content: dict[str, Any], field: str) -> list[str]:
    found = [obj(part.get(field)) for part in content["parts"]]
    return [str(item.get("name")) for item in found if item is not None]


def _check_turns(contents: list[dict[str, Any]]) -> None:
    """As many responses as calls, directly behind them; calls only behind a user's turn."""
    for i, content in enumerate(contents):
        before: dict[str, Any] = contents[i - 1] if i else {"role": "", "parts": []}
        answered, asked = _names(content, "functionResponse"), _names(before, "functionCall")
        # A call that stays without any response was seen to pass (recorded, 2.5-flash).
        if answered and len(answered) != len(asked):
            raise BadContentError(
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        if _names(content, "functionCall") and before["role"] != "user":
            raise BadContentError(
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
    if _names(contents[-1], "functionCall"):
        raise BadContentError(
            "Please ensure that function response turn comes immediately after a function call "
            "turn."
        )


def _check_tools(body: dict[str, Any]) -> None:
    kinds = {name for item in seq(body.get("tools")) or [] for name in obj(item) or {}}
    config = obj(body.get("toolConfig")) or {}
    mixed = "functionDeclarations" in kinds and len(kinds) > 1
    if mixed and not config.get("includeServerSideToolInvocations"):
        raise BadContentError(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools "
            "with Function calling."
        )
    for i, item in enumerate(seq(body.get("tools")) or []):
        declared = seq((obj(item) or {}).get("functionDeclarations")) or []
        for j, function in enumerate(declared):
            where = f"tools[{i}].function_declarations[{j}]"
            if not isinstance((obj(function) or {}).get("name"), str):
                raise BadContentError(f"* GenerateContentRequest.{where}.name: is required")


def current_turn(contents: list[dict[str, Any]]) -> int:
    """Where the current turn begins: behind the last user content that is no function response."""
    for i in range(len(contents) - 1, -1, -1):
        content = contents[i]
        if content["role"] == "user" and not _names(content, "functionResponse"):
            return i
    return 0
