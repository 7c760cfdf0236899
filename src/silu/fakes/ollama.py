"""Ollama's own chat endpoint, strict (vendors.md §16): `think`, typed arguments, JSON lines."""

from typing import Any

import msgspec

from silu.fakes.http import Incoming
from silu.fakes.raw import kind, obj, seq
from silu.fakes.script import Asked, Script, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object

LEVELS = ("low", "medium", "high", "max")
_ROLES = ("system", "user", "assistant", "tool")


class Local(msgspec.Struct, frozen=True, kw_only=True):
    """One pulled model. `levels_only`: knows no off (gpt-oss)."""

    thinks: bool = True
    tools: bool = True
    levels_only: bool = False
    context: int = 262_144


MODELS: dict[str, Local] = {
    "qwen3:4b": Local(),
    "gpt-oss:20b": Local(levels_only=True, context=131_072),
    "llama3.2:3b": Local(thinks=False),
    "gemma2:2b": Local(thinks=False, tools=False),
}


def refuse(message: str, *, status: int = 400) -> RefusalError:
    return RefusalError(status, {"error": message}, why=message)


def _unmarshal(found: object, field: str, wanted: str) -> RefusalError:
    return refuse(
        f"json: cannot unmarshal {kind(found)} into Go struct field ChatRequest.{field} of type "
        f"{wanted}"
    )


class FakeOllama(FakeVendor):
    """`/api/chat`, `/api/show`, `/api/tags`, `/api/version`; no key."""

    name = "ollama"

    def __init__(self, script: Script = chatty, *, rate: float | None = None) -> None:
        super().__init__(script, key="", rate=rate)

    def dialect_of(self, request: Incoming) -> str:
        del request
        return "ollama-chat"

    def check(self, request: Incoming) -> Asked | Plain:
        match request.method, request.path:
            case "GET", "/api/tags":
                return Plain({"models": [{"name": name, "model": name} for name in MODELS]})
            case "GET", "/api/version":
                return Plain({"version": "0.99.0"})
            case "POST", "/api/show" | "/api/chat":
                body = json_object(request.body)
            case _:
                raise refuse("404 page not found", status=404)
        if body is None:
            raise refuse("invalid character in request body")
        name = str(body.get("model") or "")
        if name not in MODELS:
            raise refuse(f"model '{name}' not found", status=404)
        if request.path == "/api/show":
            return Plain(_shown(name))
        return self.check_body(body, name)

    def check_body(self, body: dict[str, Any], name: str) -> Asked:
        """Judge a chat request; raises `RefusalError`."""
        model = MODELS[name]
        messages = check_messages(seq(body.get("messages")) or [])
        if body.get("tools") and not model.tools:
            raise refuse(f"registry.ollama.ai/library/{name} does not support tools")
        thinking, effort = self._think(body.get("think"), name)
        users = [m["content"] for m in messages if m["role"] == "user"]
        results: list[str] = []
        for message in reversed(messages):
            if message["role"] != "tool":
                break
            results.insert(0, message["content"])
        return Asked(
            model=name,
            dialect="ollama-chat",
            body=body,
            stream=body.get("stream") is not False,
            thinking=thinking,
            effort=effort,
            user=users[-1] if users else "",
            results=tuple(results),
            turn=sum(1 for m in messages if m["role"] == "assistant"),
        )

    def _think(self, think: object, name: str) -> tuple[bool, str | None]:
        """Without a word a model thinks if it can; `true` is medium."""
        model = MODELS[name]
        if think is None:
            return model.thinks, None
        if not isinstance(think, bool) and think not in LEVELS:
            words = ", ".join(f'"{word}"' for word in LEVELS)
            raise refuse(f'invalid think value: "{think}" (must be {words}, true, or false)')
        if think is not False and not model.thinks:
            raise refuse(f'"{name}" does not support thinking')
        if think is False:
            return model.levels_only, None
        return True, "medium" if think is True else str(think)


def check_messages(items: list[Any]) -> list[dict[str, Any]]:
    """The messages of a request, judged; raises `RefusalError`."""
    return [_message(item) for item in items]


def _message(value: object) -> dict[str, Any]:
    message = obj(value)
    if message is None:
        raise _unmarshal(value, "messages", "api.Message")
    if message.get("role") not in _ROLES:
        raise refuse(f"invalid role: {message.get('role')}")
    content = message.get("content", "")
    for name in ("content", "thinking", "tool_name"):
        if not isinstance(message.get(name, ""), str):
            raise _unmarshal(message[name], f"messages.{name}", "string")
    for item in seq(message.get("tool_calls")) or []:
        function = obj((obj(item) or {}).get("function")) or {}
        arguments = function.get("arguments", {})
        if obj(arguments) is None:
            field = "messages.tool_calls.function.arguments"
            raise _unmarshal(arguments, field, "api.ToolCallFunctionArguments")
    return {"role": message["role"], "content": content}


def _shown(name: str) -> dict[str, Any]:
    model = MODELS[name]
    abilities = ["completion"]
    if model.tools:
        abilities.append("tools")
    if model.thinks:
        abilities.append("thinking")
    family = name.split(":", maxsplit=1)[0]
    return {
        "capabilities": abilities,
        "details": {"family": family},
        "model_info": {
            "general.architecture": family,
            f"{family}.context_length": model.context,
        },
    }
