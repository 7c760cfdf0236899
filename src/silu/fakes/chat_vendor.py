"""The frame of the openai-chat vendors: keys, routes, schema, and the memory of what was sent."""

from typing import Any

import msgspec

from silu.fakes import playing
from silu.fakes.chat_rules import ChatSchema, ProblemError, check_chat
from silu.fakes.chat_view import asked_of_chat, text_of
from silu.fakes.compat import openai_error
from silu.fakes.echo import RememberingVendor, block_echo, chat_ids, verdict
from silu.fakes.http import Incoming
from silu.fakes.messages_rules import FIELDS, BadMessageError, MessagesSchema, check_messages
from silu.fakes.messages_view import asked_of_messages
from silu.fakes.raw import obj
from silu.fakes.script import Asked, Script, chatty
from silu.fakes.vendor import Plain, RefusalError, json_object

LOOSE_SCHEMA = ChatSchema(id_limit=None)


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What a vendor makes of a request that passed: whether the model thinks, and how hard."""

    thinking: bool
    effort: str | None = None


class ChatVendor(RememberingVendor):
    """A vendor file says which models there are, what their switches take (`rule`) and how a
    refusal looks (`refuse`). `complaints` are what the real vendor would take in silence, at the
    price of worse answers: thoughts that did not come back where they should."""

    base = "/v1"
    models: tuple[str, ...] = ()
    schema = LOOSE_SCHEMA
    field = "reasoning_content"
    fillers: tuple[str, ...] = (" ", "")
    has_messages = False

    def __init__(
        self, script: Script = chatty, *, key: str = "test-key", rate: float | None = None
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.complaints: list[str] = []

    # -- what a vendor fills in ------------------------------------------------------------

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        """Check the switches, the limits and the echo; raise `RefusalError`."""
        del messages
        return Ruling(thinking=bool(body))

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        return RefusalError(status, openai_error(message, param=param, code=code), why=message)

    def wrong_key(self) -> RefusalError:
        return self.refuse("Incorrect API key provided.", status=401, code="invalid_api_key")

    def unknown_model(self, model: str) -> RefusalError:
        message = f"The model `{model}` does not exist."
        return self.refuse(message, status=404, code="model_not_found")

    def rule_messages(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        """The same for the Anthropic endpoint, where a vendor has one (`has_messages`)."""
        del messages
        return Ruling(thinking=bool(body))

    def stranger(self, request: Incoming) -> Asked | Plain:
        """Routes beside the chat endpoint: `/anthropic/v1/messages`, where the vendor has it."""
        route = request.method, request.path.endswith("/anthropic/v1/messages")
        if not self.has_messages or route != ("POST", True):
            raise self.refuse(f"no route {request.method} {request.path}", status=404)
        body = json_object(request.body)
        if body is None:
            raise self.refuse("The request body is not valid JSON.")
        schema = MessagesSchema(fields=FIELDS, signed=False, server_tools=False)
        try:
            messages = check_messages(body, schema)
        except BadMessageError as breach:
            raise self.refuse(str(breach)) from breach
        if body["model"] not in self.models:
            raise self.unknown_model(body["model"])
        ruling = self.rule_messages(body, messages)
        return asked_of_messages(
            body, messages, thinking=ruling.thinking, effort=ruling.effort, endpoint="anthropic"
        )

    # -- the frame -------------------------------------------------------------------------

    def check(self, request: Incoming) -> Asked | Plain:
        self.check_key(request)
        if request.method == "GET" and request.path.endswith("/models"):
            data = [{"id": model, "object": "model"} for model in self.models]
            return Plain({"object": "list", "data": data})
        if request.method != "POST" or not request.path.endswith("/chat/completions"):
            return self.stranger(request)
        body = json_object(request.body)
        if body is None:
            raise self.refuse("The request body is not valid JSON.")
        try:
            messages = check_chat(body, self.schema)
        except ProblemError as problem:
            raise self.refuse(problem.detail, param=problem.param) from problem
        if body["model"] not in self.models:
            raise self.unknown_model(body["model"])
        ruling = self.rule(body, messages)
        return asked_of_chat(body, messages, thinking=ruling.thinking, effort=ruling.effort)

    def check_key(self, request: Incoming) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.headers.get("x-api-key", given) != self.key:
            raise self.wrong_key()

    def echo(self, message: dict[str, Any], model: str, *, needed: bool) -> str | None:
        """Our sentence on the thinking of an assistant message, `None` where it is right."""
        given = message.get(self.field)
        if given is not None and not isinstance(given, str):
            return f"`{self.field}` is no string"
        sent = self.memory.find(
            ids=chat_ids(message), text=text_of(message.get("content")), model=model
        )
        return verdict(given, sent, needed=needed, fillers=self.fillers)

    def echo_blocks(self, message: dict[str, Any], model: str) -> str | None:
        """The same for a message of content blocks: asked for where it has tool calls."""
        given, ids, text = block_echo(message)
        sent = self.memory.find(ids=ids, text=text, model=model)
        return verdict(given, sent, needed=bool(ids), fillers=self.fillers)


def switch_of(body: dict[str, Any]) -> str | None:
    """`thinking.type`, where it is given; anything that is no object counts as its own word."""
    if body.get("thinking") is None:
        return None
    switch = obj(body["thinking"])
    return str(body["thinking"]) if switch is None else str(switch.get("type"))


def size_of(body: dict[str, Any]) -> int:
    """The tokens of a request, as the fakes count."""
    return playing.tokens(msgspec.json.encode(body).decode())
