"""Mistral, strict (vendors.md §11): thinking as content chunks, nine-letter ids, 422 refusals."""

import itertools
import re
from typing import Any

import msgspec

from silu.fakes.chat_rules import tool_names
from silu.fakes.chat_vendor import ChatVendor, Ruling
from silu.fakes.chat_view import asked_of_chat
from silu.fakes.http import Incoming
from silu.fakes.raw import obj, seq
from silu.fakes.script import Asked
from silu.fakes.vendor import Plain, RefusalError, json_object

_EFFORTS: dict[str, tuple[str, ...]] = {
    "mistral-small-latest": ("none", "high"),
    "mistral-medium-3.5": ("none", "high"),
    "mistral-large-4": ("low", "medium", "high"),
    "magistral-medium-2509": (),
}
_FIELDS = frozenset(
    {
        "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream",
        "stream_options", "max_tokens", "temperature", "top_p", "n", "stop", "random_seed",
        "presence_penalty", "frequency_penalty", "response_format", "prompt_mode",
        "reasoning_effort", "safe_prompt", "metadata", "prediction", "prompt_cache_key",
    }
)  # fmt: skip
_MESSAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role", "content", "tool_calls", "prefix"),
    "tool": ("role", "content", "tool_call_id", "name"),
}
_UNEVEN = "Not the same number of function calls and responses"
_ID = re.compile(r"[a-zA-Z0-9]{9}")


class FakeMistral(ChatVendor):
    name = "mistral"
    models = tuple(_EFFORTS)

    def call_id(self, number: int) -> str:
        return f"m{number:08d}"

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        body = {
            "object": "error",
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": code,
        }
        return RefusalError(status, body, why=message)

    def wrong_key(self) -> RefusalError:
        return RefusalError(401, {"detail": "Unauthorized"}, why="wrong key")

    def unknown_model(self, model: str) -> RefusalError:
        return self.refuse(f"Invalid model: {model}", code="1500")

    def check(self, request: Incoming) -> Asked | Plain:
        self.check_key(request)
        if request.method == "GET" and request.path.endswith("/models"):
            return Plain({"object": "list", "data": [{"id": m} for m in self.models]})
        body = json_object(request.body)
        if body is None or not request.path.endswith("/chat/completions"):
            raise self.refuse("no such route or no JSON", status=404)
        messages = self.check_shape(body)
        if body["model"] not in self.models:
            raise self.unknown_model(body["model"])
        ruling = self.rule(body, messages)
        asked = asked_of_chat(body, messages, thinking=ruling.thinking, effort=ruling.effort)
        return msgspec.structs.replace(asked, dialect="mistral-chat", include_usage=True)

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        del messages
        efforts, effort = _EFFORTS[body["model"]], body.get("reasoning_effort")
        if effort is not None and effort not in efforts:
            words = ", ".join(efforts) or "none of them"
            message = f"reasoning_effort {effort!r} is not supported: accepted values are {words}"
            raise self.refuse(message, param="reasoning_effort")
        if effort is None:
            # What runs without the field is not known for small and medium: quiet, as recorded.
            return Ruling(thinking="none" not in efforts)
        return Ruling(thinking=effort != "none", effort=effort)

    def options(self, asked: Asked) -> Any:
        return msgspec.structs.replace(super().options(asked), shape_thinking=chunk)

    # -- shape -----------------------------------------------------------------------------

    def check_shape(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Check fields, messages and their order; gives the messages back."""
        for name, value in body.items():
            if name not in _FIELDS:
                raise _extra(["body", name], value)
        for name in ("model", "messages"):
            if not body.get(name):
                raise _detail("missing", ["body", name], "Field required", None)
        messages = [self._message(m, i) for i, m in enumerate(seq(body["messages"]) or [])]
        self._order(messages)
        choice = body.get("tool_choice")
        if isinstance(choice, str) and choice not in ("auto", "none", "any", "required"):
            raise _detail("enum", ["body", "tool_choice"], "Input should be 'auto', 'none'", choice)
        named = obj((obj(choice) or {}).get("function"))
        if named is not None and named.get("name") not in tool_names(body):
            raise self.refuse("Tool choice names a function that is not among the tools")
        return messages

    def _message(self, value: object, position: int) -> dict[str, Any]:
        message = obj(value) or {}
        role = message.get("role")
        where = ["body", "messages", position]
        if role not in _MESSAGE_FIELDS:
            raise _detail("union_tag_invalid", where, f"Input tag '{role}' is unknown", role)
        for name in message:
            if name not in _MESSAGE_FIELDS[role]:
                raise _extra([*where, role, name], message[name])
        for call in map(obj, seq(message.get("tool_calls")) or []):
            self._check_id((call or {}).get("id"))
        if role == "tool":
            self._check_id(message.get("tool_call_id"))
        self._check_chunks(message.get("content"), position)
        return {**message, "role": role}

    def _check_id(self, value: object) -> None:
        if not isinstance(value, str) or not _ID.fullmatch(value):
            raise self.refuse(
                f"Tool call id was {value} but must be a-z, A-Z, 0-9, with a length of 9.",
                code="3280",
            )

    def _check_chunks(self, content: object, position: int) -> None:
        kinds = [(obj(chunk) or {}).get("type") for chunk in seq(content) or []]
        for a, b in itertools.pairwise(kinds):
            if a == b == "thinking":
                raise self.refuse(f"messages[{position}]: thinking chunks must be merged into one")

    def _order(self, messages: list[dict[str, Any]]) -> None:
        if messages[-1]["role"] == "assistant" and messages[-1].get("prefix") is not True:
            raise self.refuse(
                "Expected last role User or Tool (or Assistant with prefix True) for serving but "
                "got assistant",
                code="3230",
            )
        waiting = 0
        for message in messages:
            if message["role"] == "tool":
                waiting -= 1
                continue
            if waiting > 0:
                raise self.refuse(
                    "Not the same number of function calls and responses", code="3230"
                )
            waiting = len(seq(message.get("tool_calls")) or [])
        if waiting != 0:
            raise self.refuse(_UNEVEN, code="3230")


def chunk(text: str) -> dict[str, Any]:
    """A piece of thinking as a content chunk."""
    return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}


def _detail(kind: str, where: list[Any], message: str, given: object) -> RefusalError:
    detail = {"type": kind, "loc": where, "msg": message, "input": given}
    body = {
        "object": "error",
        "message": {"detail": [detail]},
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    path = ".".join(map(str, where))
    return RefusalError(422, body, why=f"{path}: {message}")


def _extra(where: list[Any], given: object) -> RefusalError:
    return _detail("extra_forbidden", where, "Extra inputs are not permitted", given)
