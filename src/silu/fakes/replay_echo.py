"""Whether a client sent an answer's thinking back as it has to: byte for byte and in place."""

from typing import Any

import msgspec

from silu.fakes.answers import OPAQUE_FIELDS, THOUGHT_FIELDS, Told
from silu.fakes.messages_rules import THOUGHTS, blocks_of
from silu.fakes.raw import obj, seq

# Hosts that were seen to refuse a reasoning field in a message, or that have none (§2, §21).
NO_ECHO = frozenset({"openai", "azure", "mistral", "cerebras", "groq"})
# Hosts that refuse the request when the thinking of a tool conversation is missing (§20).
MUST_ECHO = frozenset({"deepseek", "moonshot", "kimi", "mimo", "xiaomi"})
_MARKER = 40
"""So many characters of a thought, found elsewhere in a request, are no accident."""


class EchoError(Exception):
    """A wrong echo: `at` is the block's or field's place in its message, for the refusal."""

    def __init__(self, why: str, *, at: str = "") -> None:
        super().__init__(why)
        self.at = at


class Echo(msgspec.Struct, frozen=True, kw_only=True):
    """How one earlier answer meets the request. `own`: the model asked now is the one that gave
    it. `open_loop`: no person has spoken since. `thinking`: the request asks for thinking."""

    told: Told
    own: bool
    open_loop: bool
    thinking: bool
    vendor: str | None = None


def check_chat_echo(message: dict[str, Any], echo: Echo) -> None:
    """An openai-chat assistant message against the answer it came from."""
    told = echo.told
    given = {name: message[name] for name in THOUGHT_FIELDS if message.get(name) is not None}
    sealed = {name: message[name] for name in OPAQUE_FIELDS if message.get(name) is not None}
    if not echo.own or not told.complete:
        _check_none({**given, **sealed}, told, own=echo.own)
        return
    _check_fields(given, told)
    for name, value in sealed.items():
        if name not in told.opaque:
            raise EchoError(f"`{name}` was never sent in this message", at=name)
        if not _same(value, told.opaque[name]):
            raise EchoError(f"`{name}` is not what was sent", at=name)
    if not given and not sealed and _expected(echo):
        names = " or ".join(f"`{name}`" for name in [*told.opaque, *told.fields])
        raise EchoError(f"the thinking is missing; it came in {names}")


def _check_none(given: dict[str, Any], told: Told, *, own: bool) -> None:
    for name, value in given.items():
        if value in ("", " "):
            continue
        why = "an answer that was cut" if own else "another model's answer"
        raise EchoError(f"`{name}` holds the thinking of {why}; it must be left out", at=name)
    del told


def _check_fields(given: dict[str, Any], told: Told) -> None:
    right = [name for name, value in given.items() if told.fields.get(name) == value]
    for name, value in given.items():
        if name in right or (value in ("", " ") and not any(told.fields.values())):
            continue
        if name not in told.fields and right:
            continue
        if name not in told.fields:
            came = " or ".join(f"`{field}`" for field in told.fields) or "no field"
            raise EchoError(f"the thinking stands in `{name}`, it came in {came}", at=name)
        raise EchoError(f"`{name}` is not byte for byte what was sent", at=name)


def _expected(echo: Echo) -> bool:
    """Whether this thinking may not be left out."""
    has = any(echo.told.fields.values()) or bool(echo.told.opaque)
    if not has or not echo.thinking or echo.vendor in NO_ECHO:
        return False
    return echo.open_loop or (echo.vendor in MUST_ECHO and bool(echo.told.calls))


def check_messages_echo(message: dict[str, Any], echo: Echo) -> None:
    """An anthropic-messages assistant message against the answer it came from."""
    sent = [_thought(block) for block in echo.told.blocks if block.get("type") in THOUGHTS]
    blocks = list(enumerate(blocks_of(message["content"])))
    given = [(i, _thought(block)) for i, block in blocks if block.get("type") in THOUGHTS]
    if given and (not echo.own or not echo.told.complete):
        why = "an answer that was cut" if echo.own else "another model's answer"
        raise EchoError(f"thinking of {why}; it must be left out", at=str(given[0][0]))
    if not given:
        if sent and echo.own and echo.thinking and echo.told.complete:
            raise EchoError("the thinking is missing", at="0")
        return
    for number, (i, thought) in enumerate(given):
        if number >= len(sent) or thought != sent[number]:
            raise EchoError("this thinking block is not byte for byte the one sent", at=str(i))
    if len(given) < len(sent):
        raise EchoError(f"{len(sent) - len(given)} of {len(sent)} thinking blocks are missing")
    if _order(message["content"]) != _order(echo.told.blocks):
        raise EchoError("the thinking blocks are out of place", at=str(given[0][0]))


def _thought(block: dict[str, Any]) -> tuple[Any, ...]:
    return block.get("type"), block.get("thinking"), block.get("signature"), block.get("data")


def _order(blocks: list[dict[str, Any]]) -> list[str]:
    """Where the thoughts stand among text and calls; neighbouring texts count as one."""
    out: list[str] = []
    for block in blocks:
        kind = str(block.get("type"))
        if kind == "text" and not str(block.get("text", "")).strip():
            continue
        if kind not in ("text", "tool_use", *THOUGHTS):
            continue
        if kind == "text" and out and out[-1] == "text":
            continue
        out.append(kind)
    return out


def check_never_as_text(whole: str, told: list[Told]) -> None:
    """No thought may stand in ordinary text (`whole`: all of it), of whatever message."""
    for one in told:
        thoughts = [*one.fields.values(), *(b.get("thinking") or "" for b in one.blocks)]
        thoughts += [piece.text for piece in one.pieces if piece.kind == "thinking"]
        for thought in thoughts:
            start = thought.strip()[:_MARKER]
            if len(start) == _MARKER and start in whole and start not in one.text:
                raise EchoError("thinking of an earlier answer came back as plain text")


_OPAQUE = ("type", "text", "summary", "data", "signature")


def _same(given: Any, sent: Any) -> bool:
    """Opaque values as they came. Labels beside the data may be left out, never changed."""
    new, old = seq(given), seq(sent)
    if new is None or old is None:
        return given == sent
    pairs = [(obj(a) or {}, obj(b) or {}) for a, b in zip(new, old, strict=False)]
    return len(new) == len(old) and all(
        all(a.get(name) == b.get(name) for name in _OPAQUE)
        and all(value is None or value == b.get(name) for name, value in a.items())
        for a, b in pairs
    )
