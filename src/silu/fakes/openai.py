"""First-party OpenAI, strict: Responses with sealed reasoning items, and chat (vendors.md §2)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from silu.fakes import playing, seals
from silu.fakes.chat_rules import (
    PLAIN_FIELDS,
    PLAIN_MESSAGE_FIELDS,
    ChatSchema,
    ProblemError,
    check_chat,
)
from silu.fakes.chat_view import asked_of_chat, text_of
from silu.fakes.compat import openai_error
from silu.fakes.http import Incoming
from silu.fakes.openai_models import MODELS, Gpt, in_words
from silu.fakes.raw import obj, seq
from silu.fakes.responses_rules import check_responses
from silu.fakes.script import Answer, Asked, Call, Script, Think, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object
from silu.types.events import ContinuityData, StreamEvent
from silu.wire.serve import ServeOptions

_CODES = {"missing": "missing_required_parameter", "unknown_field": "unknown_parameter"}
_SEALED = "reasoning.encrypted_content"
_CHAT = ChatSchema(
    fields=PLAIN_FIELDS | {"reasoning_effort", "verbosity", "store"},
    message_fields=PLAIN_MESSAGE_FIELDS,
)


class FakeOpenAI(FakeVendor):
    """`summaries` false: the organisation is not verified and may not ask for summaries."""

    name = "resp"
    base = "/v1"
    thinking_kind = "summary"

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        summaries: bool = True,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.summaries = summaries
        self.secret = "fake-openai"
        self._led: set[str] = set()

    def call_id(self, number: int) -> str:
        return f"call_{number:024d}"

    def check(self, request: Incoming) -> Asked | Plain:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            message = "Incorrect API key provided."
            raise RefusalError(401, openai_error(message, code="invalid_api_key"))
        match request.method, request.path:
            case "GET", "/v1/models":
                return Plain({"object": "list", "data": [{"id": m} for m in MODELS]})
            case "POST", "/v1/responses" | "/v1/chat/completions":
                body = json_object(request.body)
            case _:
                message = f"Invalid URL ({request.method} {request.path})"
                raise RefusalError(404, openai_error(message))
        if body is None:
            message = "We could not parse the JSON body of your request."
            raise RefusalError(400, openai_error(message))
        chat = request.path.endswith("/chat/completions")
        try:
            return self._chat(body) if chat else self.check_responses_body(body)
        except ProblemError as problem:
            code = _CODES.get(problem.what)
            error = openai_error(problem.detail, param=problem.param, code=code)
            raise RefusalError(400, error, why=problem.detail) from problem

    def options(self, asked: Asked) -> ServeOptions:
        made = super().options(asked)
        extra: dict[str, Any] = {}
        if asked.dialect == "openai-responses":
            extra["reasoning"] = {"effort": asked.effort, "summary": None}
            if asked.notes:
                extra["input_transformations"] = list(asked.notes)
        return msgspec.structs.replace(made, extra=extra, reasoning_fields=())

    # -- models, efforts, sampling ---------------------------------------------------------

    def _model(self, name: str) -> Gpt:
        if name not in MODELS:
            message = f"The model '{name}' does not exist or you do not have access to it."
            raise RefusalError(404, openai_error(message, code="model_not_found"))
        return MODELS[name]

    def _effort(self, body: dict[str, Any], effort: object, param: str) -> str | None:
        model = self._model(body["model"])
        if effort is None:
            return model.default if model.efforts else None
        if not model.efforts:
            raise self._unsupported(param)
        if effort not in model.efforts:
            message = (
                f"Unsupported value: '{effort}' is not supported with the '{body['model']}' "
                f"model. Supported values are: {in_words(model.efforts)}."
            )
            raise RefusalError(
                400, openai_error(message, param=param, code="unsupported_value"), why=message
            )
        return str(effort)

    def _sampling(self, body: dict[str, Any], effort: str | None) -> None:
        rule = MODELS[body["model"]].sampling
        if rule == "free" or (rule == "off" and effort == "none"):
            return
        for name in ("temperature", "top_p", "logprobs", "top_logprobs"):
            if body.get(name) is not None:
                raise self._unsupported(name)

    def _unsupported(self, param: str, hint: str = "") -> RefusalError:
        message = f"Unsupported parameter: '{param}' is not supported with this model.{hint}"
        error = openai_error(message, param=param, code="unsupported_parameter")
        return RefusalError(400, error, why=message)

    # -- chat ------------------------------------------------------------------------------

    def _chat(self, body: dict[str, Any]) -> Asked:
        messages = check_chat(body, _CHAT)
        model = self._model(body["model"])
        effort = self._effort(body, body.get("reasoning_effort"), "reasoning_effort")
        self._sampling(body, effort)
        if model.efforts and body.get("max_tokens") is not None:
            raise self._unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
        if model.responses_tools and body.get("tools"):
            message = f"Function tools with {body['model']} are supported over v1/responses only."
            raise RefusalError(400, openai_error(message, param="tools"))
        return asked_of_chat(body, messages, thinking=effort not in (None, "none"), effort=effort)

    # -- Responses -------------------------------------------------------------------------

    def check_responses_body(self, body: dict[str, Any]) -> Asked:
        """Judge a Responses request; raises `RefusalError` or `ProblemError`."""
        items = check_responses(body)
        reasoning = obj(body.get("reasoning")) or {}
        for name in reasoning:
            if name not in ("effort", "summary", "context", "mode", "generate_summary"):
                param = f"reasoning.{name}"
                raise ProblemError("unknown_field", param, f"Unknown parameter: '{param}'.")
        effort = self._effort(body, reasoning.get("effort"), "reasoning.effort")
        if reasoning.get("summary") is not None:
            self._check_summary(reasoning["summary"], body["model"])
        self._sampling(body, effort)
        notes = self._check_sealed(body, items)
        return _asked(body, items, effort=effort, summary=reasoning.get("summary"), notes=notes)

    def _check_summary(self, summary: object, model: str) -> None:
        if not MODELS[model].efforts:
            raise self._unsupported("reasoning.summary")
        if summary not in ("auto", "concise", "detailed"):
            words = in_words(("auto", "concise", "detailed"))
            message = f"Invalid value: '{summary}'. Supported values are: {words}."
            raise ProblemError("value", "reasoning.summary", message)
        if not self.summaries:
            message = (
                "Your organization must be verified to generate reasoning summaries. Please go to "
                "your organization settings and click on Verify Organization."
            )
            error = openai_error(message, param="reasoning.summary", code="unsupported_value")
            raise RefusalError(400, error, why=message)

    def _check_sealed(
        self, body: dict[str, Any], items: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], ...]:
        """Verify each reasoning item; since 6.2 a foreign one is dropped and reported."""
        notes: list[dict[str, Any]] = []
        asked = [i for i, item in enumerate(items) if item.get("role") == "user"]
        last_user = max(asked, default=-1)
        for i, item in enumerate(items):
            if item["type"] == "function_call" and i > last_user:
                self._check_led(items, i)
            if item["type"] != "reasoning":
                continue
            value, id_ = item.get("encrypted_content"), item.get("id")
            if value is None and body.get("store") is False:
                message = (
                    f"Item with id '{id_}' not found. Items are not persisted when `store` is set "
                    "to false."
                )
                raise RefusalError(404, openai_error(message, param="input"), why=message)
            if value is None or value == self._seal(body["model"], _summary_of(item)):
                continue
            if MODELS[body["model"]].binds:
                told = {"type": "reasoning", "id": id_, "action": "removed"}
                notes.append({**told, "reason": "model_mismatch"})
                continue
            message = (
                f"The encrypted content for item {id_} could not be verified. Reason: Encrypted "
                "content could not be decrypted or parsed."
            )
            error = openai_error(message, code="invalid_encrypted_content")
            raise RefusalError(400, error, why=message)
        return tuple(notes)

    def _check_led(self, items: list[dict[str, Any]], position: int) -> None:
        """A call that was led to by reasoning does not come without it, once it has its id."""
        item = items[position]
        before = items[position - 1] if position else {}
        led = before.get("type") in ("reasoning", "function_call", "message")
        ours = item.get("id") is not None and item["call_id"] in self._led
        if ours and not (led and before.get("role") != "user"):
            message = (
                f"Item '{item['id']}' of type 'function_call' was provided without its required "
                "'reasoning' item."
            )
            raise RefusalError(400, openai_error(message, param="input"), why=message)

    def prepare(self, asked: Asked, answer: Answer) -> Answer:
        ready = super().prepare(asked, answer)
        if any(isinstance(part, Think) for part in ready.parts):
            self._led |= {str(part.id) for part in ready.parts if isinstance(part, Call)}
        return ready

    def _seal(self, model: str, text: str) -> str:
        return seals.make(self.secret, scope=model, text=text, place=0, prefix=bytes(12))

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        del answer
        wanted = asked.dialect == "openai-responses" and _SEALED in (
            seq(asked.body.get("include")) or []
        )
        if not wanted:
            return playing.no_seal

        def seal(index: int, thought: Think) -> Iterator[StreamEvent]:
            text = thought.text if asked.show_thinking else ""
            data = msgspec.json.encode(self._seal(asked.model, text)).decode()
            yield ContinuityData(index, "encrypted_content", data, "encrypted_content")

        return seal


def _summary_of(item: dict[str, Any]) -> str:
    parts = [obj(part) or {} for part in seq(item.get("summary")) or []]
    return "".join(str(part.get("text", "")) for part in parts)


def _asked(
    body: dict[str, Any],
    items: list[dict[str, Any]],
    *,
    effort: str | None,
    summary: object,
    notes: tuple[dict[str, Any], ...],
) -> Asked:
    results: list[str] = []
    for item in reversed(items):
        if item["type"] != "function_call_output":
            break
        results.append(text_of(item["output"]))
    users = [_said(item) for item in items if item.get("role") == "user"]
    ends = ("user", "function_call_output")
    heads = [item.get("role") or item["type"] for item in items]
    turn = sum(
        1
        for a, b in zip(heads, [*heads[1:], "end"], strict=True)
        if a not in ends and a not in ("system", "developer") and (b in ends or b == "end")
    )
    return Asked(
        model=body["model"],
        dialect="openai-responses",
        body=body,
        stream=bool(body.get("stream")),
        thinking=effort not in (None, "none"),
        effort=effort,
        user=users[-1] if users else "",
        results=tuple(reversed(results)),
        turn=turn,
        show_thinking=summary is not None,
        notes=notes,
    )


def _said(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = [obj(part) or {} for part in seq(content) or []]
    return "".join(str(part.get("text", "")) for part in parts)
