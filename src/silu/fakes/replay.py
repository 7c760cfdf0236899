"""Serve recorded answers as a vendor's endpoint, turn by turn; strictly where asked.

Which answer comes next is read from the request: the last assistant message is looked up among the
answers, and the one after it is served. A conversation that begins takes the next recording. After
the last answer the first one follows again.
"""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from silu.fakes.anthropic import betas_of, check_request, claude_error
from silu.fakes.chat_rules import ChatSchema, ProblemError, check_chat
from silu.fakes.chat_view import text_of
from silu.fakes.claude_models import MODELS as CLAUDES
from silu.fakes.claude_thinking import open_turn
from silu.fakes.compat import openai_error
from silu.fakes.deepseek import MODELS as DEEPSEEKS
from silu.fakes.deepseek import FakeDeepSeek
from silu.fakes.echo import Sent, chat_ids
from silu.fakes.http import Incoming, Reply
from silu.fakes.messages_rules import (
    FIELDS,
    BadMessageError,
    MessagesSchema,
    blocks_of,
    check_messages,
    join,
)
from silu.fakes.raw import obj, seq
from silu.fakes.recordings import Exchange
from silu.fakes.replay_convert import convert
from silu.fakes.replay_echo import (
    Echo,
    EchoError,
    check_chat_echo,
    check_messages_echo,
    check_never_as_text,
)
from silu.fakes.vendor import RefusalError, json_object

LOOSE = frozenset({"zai", "xai", "groq", "openrouter", "huggingface"})
"""Hosts that were recorded to shrug at empty arrays, missing ids or unknown choices."""

_FRAME = re.compile(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)")


class Replay:
    """The endpoint. `rate` is deltas a second. `told` is called with one line for each refusal."""

    def __init__(
        self,
        dialect: str,
        exchanges: list[Exchange],
        *,
        rate: float | None = None,
        strict: bool = False,
        told: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.dialect = dialect
        self.exchanges = exchanges
        self.rate = rate
        self.strict = strict
        self.told = told
        self._served: list[int] = []
        self._asked_as: dict[int, str] = {}
        self._opened = -1
        self._deepseek = FakeDeepSeek(strangers=True)

    @property
    def base(self) -> str:
        """What follows the host in an endpoint's base URL."""
        return "/v1" if self.dialect == "openai-chat" else ""

    async def handle(self, request: Incoming) -> Reply:
        if request.method == "GET":
            return _document(200, self._models())
        body = json_object(request.body)
        if body is None:
            return _document(400, self._error("The request body is no JSON object."))
        past = self._past(body)
        try:
            if self.strict:
                self._judge(request, body, past)
        except RefusalError as refusal:
            after = self.exchanges[past[-1][1]].label if past and past[-1][1] >= 0 else "the start"
            self.told(f"refused the request after {after}: {' '.join(refusal.why.split())}")
            return Reply(
                status=refusal.status,
                headers={"content-type": refusal.content_type},
                body=refusal.body,
            )
        return self._serve(self._next(past), body)

    # -- which answer ----------------------------------------------------------------------

    def _past(self, body: dict[str, Any]) -> list[tuple[int, int]]:
        """The request's assistant messages, each with the answer it is (-1: unknown)."""
        messages = self._messages(body)
        return [
            (i, self._find(message))
            for i, message in enumerate(messages)
            if message.get("role") == "assistant"
        ]

    def _messages(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        messages = [obj(message) or {} for message in seq(body.get("messages")) or []]
        if self.dialect != "anthropic-messages":
            return messages
        plain = [{"role": m.get("role"), "content": blocks_of(m.get("content"))} for m in messages]
        return join(plain)

    def _find(self, message: dict[str, Any]) -> int:
        unserved = [i for i in range(len(self.exchanges)) if i not in self._served]
        text = _squeezed(text_of(message.get("content")))
        ids = chat_ids(message)
        if self.dialect == "anthropic-messages":
            ids = [b["id"] for b in message["content"] if b.get("type") == "tool_use"]
        for number in [*reversed(self._served), *unserved]:
            told = self.exchanges[number].told
            if ids and set(ids) & set(told.ids):
                return number
            if not ids and not told.ids and text and _squeezed(told.text).endswith(text):
                return number
        return -1

    def _next(self, past: list[tuple[int, int]]) -> int:
        count = len(self.exchanges)
        if past and past[-1][1] >= 0:
            return (past[-1][1] + 1) % count
        if past and self._served:
            return (self._served[-1] + 1) % count
        for step in range(1, count + 1):
            number = (self._opened + step) % count
            if self.exchanges[number].opens:
                self._opened = number
                return number
        return 0

    # -- strictness ------------------------------------------------------------------------

    def _judge(self, request: Incoming, body: dict[str, Any], past: list[tuple[int, int]]) -> None:
        known = self.exchanges[past[-1][1]] if past and past[-1][1] >= 0 else self.exchanges[0]
        match self.dialect:
            case "openai-chat":
                self._judge_chat(body, past, known)
            case "anthropic-messages":
                self._judge_messages(request, body, past, known)
            case _:
                return

    def _judge_chat(
        self, body: dict[str, Any], past: list[tuple[int, int]], known: Exchange
    ) -> None:
        try:
            messages = check_chat(body, ChatSchema(id_limit=None, loose=known.vendor in LOOSE))
        except ProblemError as problem:
            error = openai_error(problem.detail, param=problem.param)
            raise RefusalError(400, error, why=problem.detail) from problem
        last_user = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
        for i, number in past:
            echo = self._echo(number, body, open_loop=i > last_user, thinking=_chat_thinks(body))
            if echo is None:
                continue
            try:
                check_chat_echo(messages[i], echo)
            except EchoError as wrong:
                message = f"messages[{i}]: {wrong}"
                error = openai_error(message, param=wrong.at or None)
                raise RefusalError(400, error, why=message) from wrong
        self._check_text(body)
        if known.vendor == "deepseek":
            stand_in = known.model if known.model in DEEPSEEKS else "deepseek-v4-flash"
            model = body["model"] if body["model"] in DEEPSEEKS else stand_in
            self._deepseek.check_chat({**body, "model": model})

    def _judge_messages(
        self,
        request: Incoming,
        body: dict[str, Any],
        past: list[tuple[int, int]],
        known: Exchange,
    ) -> None:
        claude = CLAUDES.get(str(body.get("model"))) or CLAUDES.get(known.model or "")
        try:
            if claude is not None:
                messages, mode = check_request(body, claude, betas_of(request))
                thinking = mode.on
            else:
                schema = MessagesSchema(fields=FIELDS | {"context_management"}, signed=False)
                messages = check_messages(body, schema)
                thinking = (obj(body.get("thinking")) or {}).get("type") != "disabled"
        except BadMessageError as breach:
            raise _messages_refusal(str(breach)) from breach
        loop = open_turn(messages)
        for i, number in past:
            echo = self._echo(number, body, open_loop=i in loop, thinking=thinking)
            if echo is None:
                continue
            try:
                check_messages_echo(messages[i], echo)
            except EchoError as wrong:
                path = f"messages.{i}.content.{wrong.at or 0}"
                said = f"{path}: Invalid `signature` in `thinking` block"
                raise _messages_refusal(said, why=f"{path}: {wrong}") from wrong
        self._check_text(body)

    def _echo(
        self, number: int, body: dict[str, Any], *, open_loop: bool, thinking: bool
    ) -> Echo | None:
        if number < 0:
            return None
        exchange = self.exchanges[number]
        model = str(body.get("model"))
        return Echo(
            told=exchange.told,
            own=self._asked_as.get(number, model) == model,
            open_loop=open_loop,
            thinking=thinking,
            vendor=exchange.vendor,
        )

    def _check_text(self, body: dict[str, Any]) -> None:
        try:
            check_never_as_text(body, [self.exchanges[number].told for number in self._served])
        except EchoError as wrong:
            raise RefusalError(400, self._error(str(wrong)), why=str(wrong)) from wrong

    def _error(self, message: str) -> dict[str, Any]:
        if self.dialect == "anthropic-messages":
            return claude_error(message)
        return openai_error(message)

    # -- the answer ------------------------------------------------------------------------

    def _serve(self, number: int, body: dict[str, Any]) -> Reply:
        exchange = self.exchanges[number]
        self._remember(number, body)
        wanted = bool(body.get("stream"))
        good = exchange.status == 200 and not exchange.told.error
        if good and exchange.form in ("sse", "json") and wanted != (exchange.form == "sse"):
            pieces = convert(self.dialect, exchange, stream=wanted)
            if pieces is not None:
                kind = "text/event-stream" if wanted else "application/json"
                return _streamed(200, kind, pieces, self.rate)
        if exchange.form == "json":
            headers = {"content-type": exchange.content_type}
            return Reply(status=exchange.status, headers=headers, body=exchange.body)
        return _streamed(exchange.status, exchange.content_type, frames(exchange), self.rate)

    def _remember(self, number: int, body: dict[str, Any]) -> None:
        if number in self._served:
            self._served.remove(number)
        self._served.append(number)
        self._asked_as[number] = str(body.get("model"))
        exchange = self.exchanges[number]
        told = exchange.told
        if exchange.vendor == "deepseek":
            thought = next(iter(told.fields.values()), None)
            for model in DEEPSEEKS:
                self._deepseek.memory.keep(Sent(thought, model), ids=told.ids, text=told.text)

    def _models(self) -> dict[str, Any]:
        names = sorted({exchange.model for exchange in self.exchanges if exchange.model})
        data = [{"id": name, "object": "model", "type": "model"} for name in names]
        return {"object": "list", "data": data, "has_more": False}


def frames(exchange: Exchange) -> list[bytes]:
    """The body in the pieces it was streamed in, byte for byte."""
    body = exchange.body
    match exchange.form:
        case "ndjson":
            return body.splitlines(keepends=True)
        case "eventstream":
            return _length_prefixed(body)
        case "sse":
            ends = [found.end() for found in _FRAME.finditer(body)]
            cuts = [0, *ends, len(body)]
            pieces = [body[a:b] for a, b in itertools.pairwise(cuts)]
            return [piece for piece in pieces if piece]
        case "json":
            return [body]


def _length_prefixed(body: bytes) -> list[bytes]:
    """Event-stream messages: each begins with its whole length, four bytes, big-endian."""
    out: list[bytes] = []
    at = 0
    while at < len(body):
        size = max(4, int.from_bytes(body[at : at + 4], "big"))
        out.append(body[at : at + size])
        at += size
    return out


def _streamed(status: int, kind: str, pieces: list[bytes], rate: float | None) -> Reply:
    return Reply(status=status, headers={"content-type": kind}, pieces=_paced(pieces, rate))


async def _paced(pieces: list[bytes], rate: float | None) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
        if rate:
            await asyncio.sleep(1 / rate)


def _document(status: int, body: dict[str, Any]) -> Reply:
    headers = {"content-type": "application/json"}
    return Reply(status=status, headers=headers, body=msgspec.json.encode(body))


def _messages_refusal(message: str, why: str = "") -> RefusalError:
    return RefusalError(400, claude_error(message), why=why or message)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _chat_thinks(body: dict[str, Any]) -> bool:
    """False where the request switches thinking off, in any of the usual forms."""
    reasoning = obj(body.get("reasoning")) or {}
    return not (
        (obj(body.get("thinking")) or {}).get("type") == "disabled"
        or body.get("reasoning_effort") == "none"
        or body.get("enable_thinking") is False
        or reasoning.get("effort") == "none"
        or reasoning.get("enabled") is False
    )
