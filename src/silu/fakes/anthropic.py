"""First-party Anthropic, strict: every generation of vendors.md §1, signatures, prefix binding."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from silu.fakes import playing, seals
from silu.fakes.claude_models import MODELS, Claude, listing
from silu.fakes.claude_thinking import (
    BINDING,
    INTERLEAVED,
    SYSTEM_TURNS,
    UPDATES,
    Mode,
    check_final,
    check_limits,
    read_mode,
)
from silu.fakes.http import Incoming
from silu.fakes.messages_rules import (
    FIELDS,
    THOUGHTS,
    BadMessageError,
    MessagesSchema,
    blocks_of,
    check_messages,
    join,
)
from silu.fakes.messages_view import asked_of_messages
from silu.fakes.raw import obj
from silu.fakes.script import Answer, Asked, Call, Own, Piece, Say, Script, Think, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object
from silu.types.events import ContinuityData, StreamEvent
from silu.wire.serve import ServeOptions

_CONTEXT_EDITS = "context-management-2025-06-27"
BETAS = frozenset(
    {
        INTERLEAVED,
        BINDING,
        UPDATES,
        SYSTEM_TURNS,
        _CONTEXT_EDITS,
        "thinking-token-count-2026-05-13",
        "fine-grained-tool-streaming-2025-05-14",
        "prompt-caching-2024-07-31",
        "extended-cache-ttl-2025-04-11",
        "output-128k-2025-02-19",
        "context-1m-2025-08-07",
        "files-api-2025-04-14",
        "code-execution-2025-08-25",
        "compact-2026-01-12",
        "effort-2025-11-24",
    }
)


def claude_error(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """Anthropic's error body."""
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error, "request_id": "req_fake"}


def refuse(message: str, *, status: int = 400, kind: str = "invalid_request_error") -> RefusalError:
    return RefusalError(status, claude_error(message, kind), why=message)


def betas_of(request: Incoming) -> frozenset[str]:
    """The beta features a request names in its header."""
    named = request.headers.get("anthropic-beta", "").split(",")
    return frozenset(word.strip() for word in named if word.strip())


def check_request(
    body: dict[str, Any], model: Claude, betas: frozenset[str]
) -> tuple[list[dict[str, Any]], Mode]:
    """All rules that a request can be judged by without knowing what was signed; gives the
    messages in canonical form and the thinking mode. Raises `BadMessageError`."""
    edits = frozenset({"context_management"}) if _CONTEXT_EDITS in betas else frozenset[str]()
    schema = MessagesSchema(
        fields=FIELDS | edits, system_turns=model.system_turns and SYSTEM_TURNS in betas
    )
    messages = check_messages(body, schema)
    mode = read_mode(body, model, betas)
    check_limits(body, model, mode)
    check_final(messages, model, mode)
    return messages, mode


class FakeAnthropic(FakeVendor):
    """See the module's text. `secret` keys the signatures. `old_account`: opened before
    2026-08-31, so that a moved block is let through with a warning unless the model always
    refuses. `context` replaces the models' window (tokens), to try overflows."""

    name = "msg"

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        secret: str = "fake-anthropic",
        old_account: bool = False,
        context: int | None = None,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.secret = secret
        self.old_account = old_account
        self.context = context

    def call_id(self, number: int) -> str:
        return f"toolu_{number:024d}"

    def check(self, request: Incoming) -> Asked | Plain:
        betas = self._check_headers(request)
        route = request.method, request.path
        if request.method == "GET" and request.path.startswith("/v1/models"):
            return self._models(request.path)
        if route != ("POST", "/v1/messages"):
            raise refuse("Not Found", status=404, kind="not_found_error")
        body = json_object(request.body)
        if body is None:
            raise refuse("The request body is not valid JSON: expected an object at line 1")
        try:
            return self._check_body(body, betas)
        except BadMessageError as breach:
            raise refuse(str(breach)) from breach

    def options(self, asked: Asked) -> ServeOptions:
        extra = {"input_transformations": list(asked.notes)} if asked.notes else {}
        return msgspec.structs.replace(super().options(asked), extra=extra)

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        """Each thought's signature, made over what goes out before it."""
        reader = _Prefix(asked.body)
        messages = _joined(asked.body)
        for message in messages:
            for _ in reader.walk(message):
                pass
        reader.begin("assistant")
        made: dict[int, str] = {}
        for index, part in enumerate(answer.parts):
            block, value = self._block(part, reader, asked)
            if value is not None:
                made[index] = value
            reader.add(block)

        def seal(index: int, thought: Think) -> Iterator[StreamEvent]:
            field = "data" if thought.redacted else "signature"
            data = msgspec.json.encode(made[index]).decode()
            yield ContinuityData(index, field, data, field)

        return seal

    def _block(
        self, part: Piece, reader: "_Prefix", asked: Asked
    ) -> tuple[dict[str, Any], str | None]:
        """The part as the client will send it back, and its seal where it is a thought."""
        match part:
            case Say():
                return {"type": "text", "text": part.text}, None
            case Own():
                return part.block, None
            case Call():
                args = msgspec.json.decode(playing.args_of(part))
                block = {"type": "tool_use", "id": part.id, "name": part.name, "input": args}
                return block, None
            case Think():
                text = part.text if asked.show_thinking and not part.redacted else ""
                value = seals.make(
                    self.secret,
                    scope=_scope(asked.model, redacted=part.redacted),
                    text=text,
                    place=reader.thoughts,
                    prefix=reader.digest(),
                )
                if part.redacted:
                    return {"type": "redacted_thinking", "data": value}, value
                return {"type": "thinking", "thinking": text, "signature": value}, value

    # -- the rules -------------------------------------------------------------------------

    def _check_headers(self, request: Incoming) -> frozenset[str]:
        # The vendor's own SDK sends a bearer token since 2.x (seen with 2.14.0), older clients
        # `x-api-key`.
        bearer = request.headers.get("authorization")
        given = request.headers.get("x-api-key", bearer and bearer.removeprefix("Bearer "))
        if given is None:
            message = "x-api-key header is required"
            raise refuse(message, status=401, kind="authentication_error")
        if given != self.key:
            raise refuse("invalid x-api-key", status=401, kind="authentication_error")
        if "anthropic-version" not in request.headers:
            raise refuse("anthropic-version: header is required")
        betas = betas_of(request)
        for word in sorted(betas - BETAS):
            raise refuse(f"Unexpected value(s) `{word}` for the `anthropic-beta` header.")
        return betas

    def _models(self, path: str) -> Plain:
        name = path.removeprefix("/v1/models").strip("/")
        if not name:
            data = [listing(model) for model in MODELS.values()]
            return Plain({"data": data, "has_more": False, "first_id": None, "last_id": None})
        return Plain(dict(listing(self._model(name))))

    def _model(self, name: str) -> Claude:
        if name not in MODELS:
            raise refuse(f"model: {name}", status=404, kind="not_found_error")
        return MODELS[name]

    def _check_body(self, body: dict[str, Any], betas: frozenset[str]) -> Asked:
        if not isinstance(body.get("model"), str):
            raise BadMessageError("model: Field required")
        model = self._model(body["model"])
        messages, mode = check_request(body, model, betas)
        notes = self.check_seals(body, messages, model, mode)
        self._check_context(body, model)
        return asked_of_messages(
            body,
            messages,
            thinking=_thinks(messages, mode, interleaved=INTERLEAVED in betas),
            effort=mode.effort,
            show_thinking=mode.display != "omitted",
            notes=tuple(notes),
        )

    def _check_context(self, body: dict[str, Any], model: Claude) -> None:
        limit = self.context or model.context
        count = playing.tokens(msgspec.json.encode(body).decode())
        if count > limit:
            raise BadMessageError(f"prompt is too long: {count} tokens > {limit} maximum")

    def check_seals(
        self, body: dict[str, Any], messages: list[dict[str, Any]], model: Claude, mode: Mode
    ) -> list[dict[str, Any]]:
        """Verify every thought of the history; gives the transformations the answer reports."""
        reader = _Prefix(body)
        notes: list[dict[str, Any]] = []
        for i, message in enumerate(messages):
            for j, block in reader.walk(message):
                path = f"messages.{i}.content.{j}"
                note = self._check_seal(block, path, reader, model, mode)
                if note is not None:
                    notes.append(note)
        return notes

    def _check_seal(
        self, block: dict[str, Any], path: str, reader: "_Prefix", model: Claude, mode: Mode
    ) -> dict[str, Any] | None:
        redacted = block["type"] == "redacted_thinking"
        value = block["data"] if redacted else block["signature"]
        text = "" if redacted else block["thinking"]

        def verdict(name: str) -> str:
            return seals.check(
                value,
                self.secret,
                scope=_scope(name, redacted=redacted),
                text=text,
                place=reader.thoughts,
                prefix=reader.digest(),
            )

        match verdict(model.id):
            case "good":
                return None
            case "moved":
                return self._moved(path, model, mode)
            case _:
                return _foreign(block, path, mode, verdict)

    def _moved(self, path: str, model: Claude, mode: Mode) -> dict[str, Any] | None:
        if not model.bound:
            return None
        if mode.mismatch == "drop_block":
            return _note("thinking_dropped", path, "prefix_binding_mismatch")
        lenient = self.old_account and not model.bound_always and mode.mismatch != "error"
        if lenient:
            return _note("thinking_mismatch_allowed", path, "prefix_binding_mismatch")
        raise BadMessageError(
            f"{path}: Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation. Remove the block, or set thinking.block_binding."
            'prefix_mismatch_behavior to "drop_block".'
        )


def _foreign(
    block: dict[str, Any], path: str, mode: Mode, verdict: Callable[[str], str]
) -> dict[str, Any]:
    known = any(verdict(name) != "invalid" for name in MODELS)
    if known and mode.mismatch == "drop_block":
        return _note("thinking_dropped", path, "model_binding_mismatch")
    field = "data" if block["type"] == "redacted_thinking" else "signature"
    raise BadMessageError(f"{path}: Invalid `{field}` in `{block['type']}` block")


def _note(kind: str, path: str, reason: str) -> dict[str, Any]:
    return {"type": kind, "path": path, "reason": reason}


def _scope(model: str, *, redacted: bool) -> str:
    return f"redacted:{model}" if redacted else model


def _thinks(messages: list[dict[str, Any]], mode: Mode, *, interleaved: bool) -> bool:
    """Whether the model thinks before this very answer: with a budget and without the header it
    does not think again after a tool result; `between_tools` thinks only then."""
    after_tool = any(b.get("type") == "tool_result" for b in messages[-1]["content"])
    if mode.type == "between_tools":
        return after_tool
    return mode.on and (interleaved or not (mode.budget and after_tool))


def _joined(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = [obj(message) or {} for message in body["messages"]]
    return join([{"role": m["role"], "content": blocks_of(m.get("content"))} for m in messages])


class _Prefix:
    """A running digest over system, tools and messages: what a thought is bound to.

    `thoughts` counts those seen in the current message.
    """

    def __init__(self, body: dict[str, Any]) -> None:
        self._hash = hashlib.sha256()
        self._role = ""
        self.thoughts = 0
        self._update({"system": blocks_of(body.get("system")), "tools": body.get("tools") or []})

    def begin(self, role: str) -> None:
        if role != self._role:
            self._role = role
            self.thoughts = 0
            self._hash.update(b"\0" + role.encode())

    def add(self, block: dict[str, Any]) -> None:
        if block.get("type") in THOUGHTS:
            self.thoughts += 1
        self._update(block)

    def digest(self) -> bytes:
        return self._hash.digest()[:12]

    def walk(self, message: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Go through a message; stops at each thought, before it counts."""
        self.begin(message["role"])
        for i, block in enumerate(message["content"]):
            if block.get("type") in THOUGHTS:
                yield i, block
            self.add(block)

    def _update(self, value: object) -> None:
        self._hash.update(seals.digest(seals.strip_marks(value)))
