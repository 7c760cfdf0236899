"""Reading answers in tests: bytes in, the message and what was said about it out."""

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from silu.types import events as ev
from silu.types.assembly import MessageBuilder
from silu.types.errors import Failure
from silu.types.parts import Message, Origin, ThinkingPart, ToolCallPart, text_of
from silu.types.rules import DecodeRules
from silu.types.usage import Usage
from silu.wire import decoder

ORIGIN = Origin(vendor="v", endpoint="https://v.example", dialect="d", model="m")


@dataclass
class Answer:
    """One answer as it was read."""

    message: Message
    events: list[ev.StreamEvent]
    usage: Usage
    finish: ev.Finish | None
    failure: Failure | None
    kinds: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return text_of(self.message)

    @property
    def thinking(self) -> list[str]:
        return [p.text for p in self.message.parts if isinstance(p, ThinkingPart)]

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [
            (p.name, json.loads(p.arguments or "{}"))
            for p in self.message.parts
            if isinstance(p, ToolCallPart)
        ]

    @property
    def call_ids(self) -> list[str]:
        return [p.call_id for p in self.message.parts if isinstance(p, ToolCallPart)]

    @property
    def continuity(self) -> list[tuple[str | None, str, str, str]]:
        return [(c.part, c.kind, c.data, c.origin.field) for c in self.message.continuity]


def read(
    dialect: str,
    *chunks: bytes,
    rules: DecodeRules | None = None,
    streaming: bool = True,
    status: int = 200,
    origin: Origin = ORIGIN,
) -> Answer:
    """Feed the chunks to a decoder and put the message together; checks the stream's own rules."""
    reader = decoder(dialect, rules=rules or DecodeRules(), streaming=streaming, status=status)
    names = count(1)
    builder = MessageBuilder(origin, new_id=lambda: f"p{next(names)}", clock=lambda: 0)
    events: list[ev.StreamEvent] = []
    for chunk in chunks:
        events += reader.feed(chunk)
    events += reader.close()
    check_order(events)
    for event in events:
        builder.feed(event)
    assert reader.close() == []
    assert reader.ended
    return Answer(
        message=builder.message(),
        events=events,
        usage=builder.usage,
        finish=builder.finish,
        failure=builder.failure,
        kinds=[type(e).__name__ for e in events],
    )


def check_order(events: list[ev.StreamEvent]) -> None:
    """Every block is opened once, filled while open and closed once; one text or thought at a
    time; a failure is the last event."""
    opened: dict[int, str] = {}
    closed: set[int] = set()
    for place, event in enumerate(events):
        match event:
            case ev.BlockStart():
                assert event.index not in opened and event.index not in closed
                if event.kind in ("thinking", "text"):
                    assert not {"thinking", "text"} & set(opened.values())
                opened[event.index] = event.kind
            case ev.ThinkingDelta() | ev.TextDelta():
                kind = "thinking" if isinstance(event, ev.ThinkingDelta) else "text"
                assert opened[event.index] == kind
                assert event.text
            case ev.ToolCallDelta():
                assert opened[event.index] == "tool_call"
            case ev.Reroute():
                opened[event.index] = event.kind
            case ev.BlockEnd():
                del opened[event.index]
                closed.add(event.index)
            case ev.VendorFailure():
                assert place == len(events) - 1
            case _:
                pass
    assert not opened


def sse(*objects: Any, done: bool = True, end: str = "\n") -> bytes:
    """An OpenAI-style stream of these objects (strings as they are)."""
    lines = [o if isinstance(o, str) else json.dumps(o, ensure_ascii=False) for o in objects]
    body = "".join(f"data: {line}{end}{end}" for line in lines)
    return (body + (f"data: [DONE]{end}{end}" if done else "")).encode()


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    """One streamed chunk of an OpenAI chat answer."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "r1", "model": "m-1", "choices": [choice], **more}


def event_stream(*events: dict[str, Any]) -> bytes:
    """An Anthropic-style stream: each event under its own name."""
    return "".join(
        f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events
    ).encode()


def shape(answer: Answer) -> Any:
    """What must not depend on how the bytes were cut."""
    events = [e for e in answer.events if not isinstance(e, ev.Keepalive)]
    return events, answer.message, answer.usage, answer.finish, answer.failure
