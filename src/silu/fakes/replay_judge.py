"""The strict side of a replay: the vendor's rules, and the echo of earlier answers."""

from typing import Any

from silu.fakes.anthropic import betas_of, check_request, claude_error
from silu.fakes.chat_rules import ChatSchema, ProblemError, check_chat
from silu.fakes.claude_models import MODELS as CLAUDES
from silu.fakes.claude_thinking import open_turn
from silu.fakes.compat import openai_error
from silu.fakes.deepseek import MODELS as DEEPSEEKS
from silu.fakes.deepseek import FakeDeepSeek
from silu.fakes.echo import Sent
from silu.fakes.gemini import refuse as gemini_refusal
from silu.fakes.gemini_rules import BadContentError, check_contents
from silu.fakes.http import Incoming
from silu.fakes.messages_rules import FIELDS, BadMessageError, MessagesSchema, check_messages
from silu.fakes.mistral import FakeMistral
from silu.fakes.ollama import check_messages as check_ollama
from silu.fakes.raw import obj, seq
from silu.fakes.recordings import Exchange
from silu.fakes.replay_echo import (
    Echo,
    EchoError,
    check_chat_echo,
    check_messages_echo,
    check_never_as_text,
)
from silu.fakes.replay_view import OTHERS, Spoken, check_pieces, plain_texts
from silu.fakes.responses_rules import check_responses
from silu.fakes.vendor import RefusalError

LOOSE = frozenset({"zai", "xai", "groq", "openrouter", "huggingface"})
"""Hosts that were recorded to shrug at empty arrays, missing ids or unknown choices."""

Past = list[tuple[Spoken, Exchange | None]]
"""The request's earlier answers, each with the recording it is (`None`: unknown)."""


class Judge:
    """Knows what was served, and to whom: `served` is called for each answer that goes out."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self._deepseek = FakeDeepSeek(strangers=True)
        self._mistral = FakeMistral()
        self._asked_as: dict[str, str] = {}
        self._out: list[Exchange] = []

    def served(self, exchange: Exchange, body: dict[str, Any]) -> None:
        told = exchange.told
        self._asked_as[exchange.label] = str(body.get("model"))
        if exchange not in self._out:
            self._out.append(exchange)
        if exchange.vendor == "deepseek":
            thought = next(iter(told.fields.values()), None)
            for model in DEEPSEEKS:
                self._deepseek.memory.keep(Sent(thought, model), ids=told.ids, text=told.text)

    def judge(self, request: Incoming, body: dict[str, Any], past: Past, known: Exchange) -> None:
        """Raise `RefusalError` where the vendor would, or where an echo is wrong."""
        match self.dialect:
            case "openai-chat":
                self._chat(body, past, known)
            case "anthropic-messages":
                self._messages(request, body, past, known)
            case dialect if dialect in OTHERS:
                self._other(body, past, known)
            case _:
                return
        try:
            check_never_as_text(
                plain_texts(self.dialect, body), [exchange.told for exchange in self._out]
            )
        except EchoError as wrong:
            raise self.refusal(str(wrong)) from wrong

    def refusal(self, message: str, *, param: str | None = None) -> RefusalError:
        """A 400 in the dialect's form."""
        match self.dialect:
            case "anthropic-messages":
                return RefusalError(400, claude_error(message), why=message)
            case "gemini-generate":
                return gemini_refusal(message)
            case "ollama-chat":
                return RefusalError(400, {"error": message}, why=message)
            case "bedrock-converse":
                return RefusalError(400, {"message": message}, why=message)
            case _:
                return RefusalError(400, openai_error(message, param=param), why=message)

    # -- openai-chat -----------------------------------------------------------------------

    def _chat(self, body: dict[str, Any], past: Past, known: Exchange) -> None:
        try:
            messages = check_chat(body, ChatSchema(id_limit=None, loose=known.vendor in LOOSE))
        except ProblemError as problem:
            raise self.refusal(problem.detail, param=problem.param) from problem
        for said, exchange in past:
            if exchange is None:
                continue
            echo = self._echo(exchange, body, said.last, thinking=_chat_thinks(body))
            try:
                check_chat_echo(messages[said.at], echo)
            except EchoError as wrong:
                message = f"messages[{said.at}]: {wrong}"
                raise self.refusal(message, param=wrong.at or None) from wrong
        if known.vendor == "deepseek":
            stand_in = known.model if known.model in DEEPSEEKS else "deepseek-v4-flash"
            model = body["model"] if body["model"] in DEEPSEEKS else stand_in
            self._deepseek.check_chat({**body, "model": model})

    # -- anthropic-messages ----------------------------------------------------------------

    def _messages(
        self, request: Incoming, body: dict[str, Any], past: Past, known: Exchange
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
            raise self.refusal(str(breach)) from breach
        loop = open_turn(messages)
        for said, exchange in past:
            if exchange is None:
                continue
            echo = self._echo(exchange, body, said.at in loop, thinking=thinking)
            try:
                check_messages_echo(messages[said.at], echo)
            except EchoError as wrong:
                path = f"messages.{said.at}.content.{wrong.at or 0}"
                error = claude_error(f"{path}: Invalid `signature` in `thinking` block")
                raise RefusalError(400, error, why=f"{path}: {wrong}") from wrong

    def _echo(
        self, exchange: Exchange, body: dict[str, Any], open_loop: bool, *, thinking: bool
    ) -> Echo:
        return Echo(
            told=exchange.told,
            own=self._own(exchange, body),
            open_loop=open_loop,
            thinking=thinking,
            vendor=exchange.vendor,
        )

    def _own(self, exchange: Exchange, body: dict[str, Any]) -> bool:
        """Whether the model asked now is the one that was asked for this answer."""
        model = str(body.get("model"))
        return self._asked_as.get(exchange.label, model) == model

    # -- the other dialects ----------------------------------------------------------------

    def _other(self, body: dict[str, Any], past: Past, known: Exchange) -> None:
        try:
            self._schema(body, known.vendor)
        except ProblemError as problem:
            raise self.refusal(problem.detail, param=problem.param) from problem
        except BadContentError as breach:
            raise self.refusal(str(breach)) from breach
        for said, exchange in past:
            if exchange is None:
                continue
            own = self._own(exchange, body)
            thinking = _other_thinks(self.dialect, body)
            try:
                check_pieces(said, exchange.told, dialect=self.dialect, own=own, thinking=thinking)
            except EchoError as wrong:
                raise self.refusal(f"earlier answer at {said.at}: {wrong}") from wrong

    def _schema(self, body: dict[str, Any], vendor: str | None) -> None:
        match self.dialect:
            case "openai-responses" if vendor in (None, "openai", "azure", "chatgpt"):
                # Other hosts name their items as they like.
                check_responses(body)
            case "gemini-generate":
                check_contents({k: v for k, v in body.items() if v is not None})
            case "mistral-chat":
                self._mistral.check_shape(body)
            case "ollama-chat":
                check_ollama(seq(body.get("messages")) or [])
            case _:
                return


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


def _other_thinks(dialect: str, body: dict[str, Any]) -> bool:
    match dialect:
        case "ollama-chat":
            return body.get("think") is not False
        case "gemini-generate":
            # Signatures are asked for at every level, thinking or not.
            return True
        case "bedrock-converse":
            extra = obj(body.get("additionalModelRequestFields")) or {}
            return (obj(extra.get("thinking")) or {}).get("type") in ("enabled", "adaptive")
        case _:
            return _chat_thinks(body)
