"""DeepSeek V4, strict: the chat endpoint and the Anthropic one (vendors.md §4)."""

from typing import Any

import msgspec

from silu.fakes import playing
from silu.fakes.chat_rules import ChatSchema, ProblemError, check_chat, is_forced
from silu.fakes.chat_view import asked_of_chat, text_of
from silu.fakes.echo import RememberingVendor, Sent, block_echo, chat_ids, verdict
from silu.fakes.http import Incoming
from silu.fakes.messages_rules import (
    FIELDS,
    BadMessageError,
    MessagesSchema,
    check_messages,
)
from silu.fakes.messages_rules import is_forced as is_forced_messages
from silu.fakes.messages_view import asked_of_messages
from silu.fakes.raw import obj
from silu.fakes.script import Answer, Asked, Script, chatty
from silu.fakes.vendor import Plain, RefusalError, json_object
from silu.types.events import ContinuityData
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions


class Model(msgspec.Struct, frozen=True):
    """Which fillers stand in for a thought that never was; V4-pro was seen to refuse "" (§4.3).

    `tools_ask`: thoughts are asked for as soon as the request carries tools, not only after a
    first call. Reports say so; a recorded V4-flash conversation passed without.
    """

    fillers: tuple[str, ...] = (" ", "")
    tools_ask: bool = False


MODELS: dict[str, Model] = {
    "deepseek-flash": Model(),
    "deepseek-v4-flash": Model(),
    "deepseek-v4.1-flash": Model(),
    "deepseek-v4-pro": Model(fillers=(" ",), tools_ask=True),
}
# The server knows these words and maps them to low, high and max.
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max", "ultra")
MAX_OUTPUT = 384_000
CONTEXT = 1_000_000
MISSING_ECHO = "The `reasoning_content` in the thinking mode must be passed back to the API."
MISSING_BLOCK = "The `content[].thinking` in the thinking mode must be passed back to the API."
_SCHEMA = ChatSchema(
    roles=("system", "user", "assistant", "tool", "latest_reminder"), id_limit=None, images=False
)


def deepseek_error(
    message: str, *, kind: str = "invalid_request_error", code: str = "invalid_request_error"
) -> dict[str, Any]:
    """DeepSeek's error object."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class FakeDeepSeek(RememberingVendor):
    """See the module's text. The chat endpoint is at `/chat/completions` (also under `/v1`), the
    Anthropic one at `/anthropic/v1/messages`. `context` replaces the window, to try overflows.
    With `strangers` the thoughts of messages it never sent are taken at their word."""

    name = "ds"

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        context: int = CONTEXT,
        strangers: bool = False,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.strangers = strangers
        self.context = context

    def check(self, request: Incoming) -> Asked | Plain:
        path = request.path
        if path == "/anthropic/v1/messages" and request.method == "POST":
            return self._check_messages(request)
        self._check_key(request.headers.get("authorization", "").removeprefix("Bearer "))
        match request.method, path.removeprefix("/v1"):
            case "GET", "/models":
                data = [{"id": m, "object": "model", "owned_by": "deepseek"} for m in MODELS]
                return Plain({"object": "list", "data": data})
            case "POST", "/chat/completions":
                return self.check_chat(self._json(request))
            case _:
                raise RefusalError(404, b"", why=f"no route {request.method} {path}")

    def options(self, asked: Asked) -> ServeOptions:
        shape = _usage if asked.dialect == "openai-chat" else None
        return msgspec.structs.replace(super().options(asked), shape_usage=shape)

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        """The Anthropic endpoint signs with an id of its own; nothing checks it but presence."""
        del answer
        if asked.dialect == "openai-chat":
            return playing.no_seal
        self._made += 1
        data = msgspec.json.encode(f"ds-thought-{self._made}").decode()
        return lambda index, thought: iter([ContinuityData(index, "signature", data, "signature")])

    # -- shared ----------------------------------------------------------------------------

    def _json(self, request: Incoming) -> dict[str, Any]:
        body = json_object(request.body)
        if body is None:
            raise _malformed("expected a JSON object at line 1 column 1")
        return body

    def _check_key(self, given: str) -> None:
        if given != self.key:
            message = f"Authentication Fails, Your api key: ****{given[-4:]} is invalid"
            raise RefusalError(401, deepseek_error(message, kind="authentication_error"))

    def _verdict(
        self, model: Model, given: str | None, sent: list[Sent], *, needed: bool
    ) -> str | None:
        return verdict(given, sent, needed=needed, fillers=model.fillers, strangers=self.strangers)

    # -- chat ------------------------------------------------------------------------------

    def check_chat(self, body: dict[str, Any]) -> Asked:
        """Judge a body of the chat endpoint; raises `RefusalError`."""
        try:
            messages = check_chat(body, _SCHEMA)
        except ProblemError as problem:
            raise _malformed(_told(problem), problem) from problem
        model = body["model"]
        if model not in MODELS:
            raise RefusalError(400, deepseek_error("Model Not Exist"))
        thinking = _switch(body)
        effort = _effort(body.get("reasoning_effort"), "reasoning_effort")
        self._check_limits(body)
        if thinking and is_forced(body):
            message = "Thinking mode does not support this tool_choice"
            raise RefusalError(400, deepseek_error(message))
        self._check_echo(body, messages, thinking=thinking)
        return asked_of_chat(body, messages, thinking=thinking, effort=effort)

    def _check_limits(self, body: dict[str, Any]) -> None:
        if (body.get("max_tokens") or 1) > MAX_OUTPUT:
            raise RefusalError(
                400,
                deepseek_error(
                    f"Invalid max_tokens value, the valid range of max_tokens is [1, {MAX_OUTPUT}]"
                ),
            )
        count = playing.tokens(msgspec.json.encode(body).decode())
        if count > self.context:
            message = (
                f"This model's maximum context length is {self.context} tokens. However, you "
                f"requested {count} tokens. Please reduce the length of the messages."
            )
            raise RefusalError(400, deepseek_error(message))

    def _check_echo(
        self, body: dict[str, Any], messages: list[dict[str, Any]], *, thinking: bool
    ) -> None:
        model = MODELS[body["model"]]
        needed = thinking and model.tools_ask and bool(body.get("tools"))
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            needed = needed or (thinking and bool(message.get("tool_calls")))
            given = message.get("reasoning_content")
            if given is not None and not isinstance(given, str):
                raise _malformed(
                    f"messages[{i}].reasoning_content: invalid type, expected a string"
                )
            ids = chat_ids(message)
            text = text_of(message.get("content"))
            sent = self.memory.find(ids=ids, text=text, model=body["model"])
            wrong = self._verdict(model, given, sent, needed=needed)
            if wrong:
                raise RefusalError(400, deepseek_error(MISSING_ECHO), why=f"messages[{i}]: {wrong}")

    # -- the Anthropic endpoint ------------------------------------------------------------

    def _check_messages(self, request: Incoming) -> Asked:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        self._check_key(request.headers.get("x-api-key", bearer))
        body = self._json(request)
        schema = MessagesSchema(fields=FIELDS, signed=False, custom_tools=False, server_tools=False)
        try:
            messages = check_messages(body, schema)
        except BadMessageError as breach:
            raise _messages_refusal(str(breach)) from breach
        if body["model"] not in MODELS:
            raise _messages_refusal("Model Not Exist")
        thinking = _messages_switch(body)
        config = obj(body.get("output_config")) or {}
        effort = _effort(config.get("effort"), "output_config.effort")
        if thinking and is_forced_messages(body):
            raise _messages_refusal("Thinking mode does not support this tool_choice")
        self._check_blocks(body, messages, thinking=thinking)
        return asked_of_messages(
            body, messages, thinking=thinking, effort=effort, endpoint="anthropic"
        )

    def _check_blocks(
        self, body: dict[str, Any], messages: list[dict[str, Any]], *, thinking: bool
    ) -> None:
        model = MODELS[body["model"]]
        needed = thinking and model.tools_ask and bool(body.get("tools"))
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            given, ids, text = block_echo(message)
            needed = needed or (thinking and bool(ids))
            sent = self.memory.find(ids=ids, text=text, model=body["model"])
            wrong = self._verdict(model, given, sent, needed=needed)
            if wrong:
                raise _messages_refusal(MISSING_BLOCK, why=f"messages.{i}: {wrong}")


def _usage(usage: Usage) -> dict[str, Any]:
    read, hit, out = usage.input_tokens or 0, usage.cache_read_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": out,
        "total_tokens": read + out,
        "prompt_tokens_details": {"cached_tokens": hit},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "prompt_cache_hit_tokens": hit,
        "prompt_cache_miss_tokens": read - hit,
    }


def _malformed(detail: str, problem: ProblemError | None = None) -> RefusalError:
    """A body that does not fit the server's types; pairing has sentences of its own."""
    if problem is not None and problem.what in ("unanswered", "stray_result"):
        return RefusalError(400, deepseek_error(problem.detail))
    message = f"Failed to deserialize the JSON body into the target type: {detail}"
    return RefusalError(400, deepseek_error(message))


def _told(problem: ProblemError) -> str:
    where, _, field = problem.param.rpartition(".")
    match problem.what:
        case "role":
            roles = ", ".join(f"`{word}`" for word in _SCHEMA.roles)
            return f"{problem.param}: unknown variant `{problem.value}`, expected one of {roles}"
        case "missing":
            return f"{where + ': ' if where else ''}missing field `{field}`"
        case "value":
            return f"{problem.param}: unknown variant `{problem.value}`"
        case _:
            return f"{problem.param}: {problem.detail}"


def _switch(body: dict[str, Any]) -> bool:
    """Thinking is on unless it is switched off."""
    if body.get("thinking") is None:
        return True
    word = (obj(body["thinking"]) or {}).get("type")
    if word not in ("enabled", "disabled"):
        raise _malformed(
            f"thinking.type: unknown variant `{word}`, expected `enabled` or `disabled`"
        )
    return word == "enabled"


def _effort(effort: object, where: str) -> str | None:
    if effort is None:
        return None
    if not isinstance(effort, str) or effort not in EFFORTS:
        words = ", ".join(f"`{word}`" for word in EFFORTS)
        raise _malformed(f"{where}: unknown variant `{effort}`, expected one of {words}")
    return effort


def _messages_refusal(message: str, why: str = "") -> RefusalError:
    error = {"type": "invalid_request_error", "message": message}
    return RefusalError(400, {"type": "error", "error": error}, why=why or message)


def _messages_switch(body: dict[str, Any]) -> bool:
    if body.get("thinking") is None:
        return True
    word = (obj(body["thinking"]) or {}).get("type")
    if word not in ("enabled", "disabled"):
        raise _messages_refusal(f"thinking.type: unknown variant `{word}`")
    return word == "enabled"
