"""A plain OpenAI-compatible server: OpenAI's schema and wording, no vendor's extras.

`thinking` says what it makes of thinking fields: `refuse` them as unknown (most strict servers),
take `reasoning_effort` (`effort`), or `ignore` whatever it does not know. `field` is where its
thoughts stand; `echo` whether it takes that field back in messages (Mistral, Cerebras and Groq
were seen to refuse a foreign one: vendors.md §21).
"""

from typing import Any, Literal

import msgspec

from silu.fakes.chat_rules import (
    PLAIN_FIELDS,
    PLAIN_MESSAGE_FIELDS,
    ChatSchema,
    ProblemError,
    check_chat,
)
from silu.fakes.chat_view import asked_of_chat
from silu.fakes.http import Incoming
from silu.fakes.script import Asked, Script, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object
from silu.wire.serve import ServeOptions

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_CODES = {
    "missing": "missing_required_parameter",
    "type": "invalid_type",
    "unknown_field": "unknown_parameter",
    "role": "invalid_value",
    "value": "invalid_value",
    "empty": "empty_array",
    "too_long": "string_above_max_length",
    "pattern": "invalid_value",
    "range": "decimal_above_max_value",
    "schema": "invalid_function_parameters",
}


def openai_error(
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    kind: str = "invalid_request_error",
) -> dict[str, Any]:
    """OpenAI's error object."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


class CompatServer(FakeVendor):
    """See the module's text. `models` are the ids it serves."""

    name = "compat"
    base = "/v1"

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str | None = "test-key",
        models: tuple[str, ...] = ("local-model",),
        thinking: Literal["refuse", "effort", "ignore"] = "refuse",
        field: str = "reasoning_content",
        echo: bool = True,
        rate: float | None = None,
    ) -> None:
        super().__init__(script, key=key or "", rate=rate)
        self.models = models
        self.thinking = thinking
        self.field = field
        extra = {"reasoning_effort"} if thinking == "effort" else set[str]()
        back = {field} if echo else set[str]()
        loose = thinking == "ignore"
        self._schema = ChatSchema(
            fields=None if loose else PLAIN_FIELDS | extra,
            message_fields=None if loose else PLAIN_MESSAGE_FIELDS | back,
        )

    def check(self, request: Incoming) -> Asked | Plain:
        self._check_key(request)
        route = request.method, request.path.removeprefix("/v1")
        if route == ("GET", "/models"):
            data = [{"id": m, "object": "model", "owned_by": "me"} for m in self.models]
            return Plain({"object": "list", "data": data})
        if route != ("POST", "/chat/completions"):
            message = f"Invalid URL ({request.method} {request.path})"
            raise RefusalError(404, openai_error(message))
        body = json_object(request.body)
        if body is None:
            message = "We could not parse the JSON body of your request."
            raise RefusalError(400, openai_error(message))
        try:
            messages = check_chat(body, self._schema)
        except ProblemError as problem:
            raise self._refusal(problem) from problem
        self._check_model(body["model"])
        effort = self._effort(body)
        return asked_of_chat(body, messages, thinking=effort != "none", effort=effort)

    def options(self, asked: Asked) -> ServeOptions:
        return msgspec.structs.replace(super().options(asked), reasoning_fields=(self.field,))

    def _check_key(self, request: Incoming) -> None:
        if not self.key:
            return
        given = request.headers.get("authorization", "")
        if not given:
            message = (
                "You didn't provide an API key. You need to provide your API key in an "
                "Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
            )
            raise RefusalError(401, openai_error(message))
        if given != f"Bearer {self.key}":
            message = "Incorrect API key provided."
            raise RefusalError(401, openai_error(message, code="invalid_api_key"))

    def _check_model(self, model: str) -> None:
        if model not in self.models:
            message = f"The model `{model}` does not exist or you do not have access to it."
            raise RefusalError(404, openai_error(message, code="model_not_found", param=None))

    def _refusal(self, problem: ProblemError) -> RefusalError:
        code = _CODES.get(problem.what)
        return RefusalError(400, openai_error(problem.detail, param=problem.param, code=code))

    def _effort(self, body: dict[str, Any]) -> str | None:
        effort = body.get("reasoning_effort")
        if effort is None or self.thinking != "effort":
            return None
        if effort not in EFFORTS:
            words = ", ".join(f"'{word}'" for word in EFFORTS)
            message = (
                f"Unsupported value: '{effort}' is not supported with the '{body['model']}' "
                f"model. Supported values are: {words}."
            )
            error = openai_error(message, param="reasoning_effort", code="unsupported_value")
            raise RefusalError(400, error)
        return effort
