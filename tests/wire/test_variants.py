"""Recorded answers, told the way other servers tell them, read the same (vendors.md §18).

Each alteration is something a server or proxy was seen to do to its stream; none of them changes
what is said.
"""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silu.types.parts import ToolCallPart
from silu.wire.opaque import opaque_values
from tests.wire.reading import Answer, read

Event = tuple[str, str]
"""An SSE event's name and its data."""

Change = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""One event's object into those that stand in its place."""

_LONGEST = 40_000


@cache
def streams(shared: Path, dialect: str) -> list[tuple[Path, list[Event]]]:
    """The recorded streams of a dialect that end well, as events."""
    found: list[tuple[Path, list[Event]]] = []
    for file in sorted((shared / "wire" / dialect).rglob("response.sse")):
        body = file.read_bytes()
        if len(body) <= _LONGEST and read(dialect, body).failure is None:
            found.append((file, list(events(body.decode()))))
    assert found
    return found


def events(body: str) -> Iterator[Event]:
    for block in body.replace("\r\n", "\n").split("\n\n"):
        lines = block.split("\n")
        data = [line[5:].strip() for line in lines if line.startswith("data:")]
        name = [line[6:].strip() for line in lines if line.startswith("event:")]
        if data:
            yield "".join(name), "\n".join(data)


def framed(told: list[Event], *, end: str = "\n", space: str = " ", between: str = "") -> bytes:
    blocks = [
        (f"event:{space}{name}{end}" if name else "")
        + end.join(f"data:{space}{line}" for line in data.split("\n"))
        for name, data in told
    ]
    return "".join(f"{between}{block}{end}{end}" for block in blocks).encode()


def changed(told: list[Event], change: Change) -> list[Event]:
    return [
        (name, json.dumps(new, ensure_ascii=False) if isinstance(new, dict) else new)
        for name, data in told
        for new in (change(json.loads(data)) if data.startswith("{") else [data])
    ]


def said(answer: Answer) -> Any:
    """What an answer says, apart from how it was told."""
    calls = [p for p in answer.message.parts if isinstance(p, ToolCallPart)]
    return (
        "".join("".join(answer.thinking).split()),
        "".join(answer.text.split()),
        [(call.call_id, call.name, json.loads(call.arguments or "{}")) for call in calls],
        sorted(value for kept in answer.message.continuity for value in opaque_values(kept)),
        answer.usage,
        answer.finish and answer.finish.reason,
        answer.failure,
    )


def same(dialect: str, told: list[Event], body: bytes, file: Path) -> None:
    assert said(read(dialect, body)) == said(read(dialect, framed(told))), file.parent.name


# -- framing, in every dialect


def with_news(value: Any) -> Any:
    """Fields nobody knows, everywhere but inside a call's arguments."""
    if isinstance(value, list):
        return [with_news(item) for item in value]
    if not isinstance(value, dict):
        return value
    known = {
        k: v if k in ("args", "arguments", "input") else with_news(v) for k, v in value.items()
    }
    return {"x_new": {"a": [1]}, **known, "zz_new": None}


FRAMES: dict[str, Callable[[list[Event]], bytes]] = {
    "CRLF": lambda told: framed(told, end="\r\n"),
    "CR": lambda told: framed(told, end="\r"),
    "no space behind the colon": lambda told: framed(told, space=""),
    "comments": lambda told: framed(told, between=": keep-alive\n\n"),
    "ids and retries": lambda told: framed(told, between="id: 7\nretry: 10\n"),
    "a byte order mark": lambda told: b"\xef\xbb\xbf" + framed(told),
    "no last newline": lambda told: framed(told).rstrip(b"\n"),
    "no names": lambda told: framed([("", data) for _, data in told]),
    "data over several lines": lambda told: framed(
        [(n, json.dumps(json.loads(d), indent=1) if d[:1] == "{" else d) for n, d in told]
    ),
    "escaped characters": lambda told: framed(
        [(n, json.dumps(json.loads(d)) if d[:1] == "{" else d) for n, d in told]
    ),
    "unknown fields": lambda told: framed(changed(told, lambda o: [with_news(o)])),
    "unknown events": lambda told: framed(
        [e for event in told for e in (("x.new", '{"type": "x.new", "object": "x"}'), event)]
    ),
}


@pytest.mark.parametrize("how", FRAMES)
@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"]
)
def test_framing_makes_no_difference(shared: Path, dialect: str, how: str) -> None:
    for file, told in streams(shared, dialect)[::3]:
        same(dialect, told, FRAMES[how](told), file)


@pytest.mark.parametrize("dialect", ["openai-responses", "anthropic-messages"])
def test_the_events_name_stands_in_for_a_missing_type(shared: Path, dialect: str) -> None:
    for file, told in streams(shared, dialect):
        named = [(json.loads(data).get("type", ""), data) for _, data in told if data[:1] == "{"]
        bare = changed(named, lambda o: [{k: v for k, v in o.items() if k != "type"}])
        same(dialect, told, framed(bare), file)


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"]
)
def test_a_stream_broken_off_anywhere_keeps_what_came_and_says_so(
    shared: Path, dialect: str
) -> None:
    for file, told in streams(shared, dialect)[::3]:
        whole = read(dialect, framed(told))
        for size in range(1, len(told), max(1, len(told) // 5)):
            part = read(dialect, framed(told[:size]))
            assert part.failure or part.finish, (file.parent.name, size)
            assert "".join(whole.text.split()).startswith("".join(part.text.split()))


@pytest.mark.parametrize(
    ("dialect", "last"),
    [("anthropic-messages", "message_stop"), ("openai-responses", "response.completed")],
)
def test_nothing_behind_the_terminal_event_is_read(shared: Path, dialect: str, last: str) -> None:
    for file, told in streams(shared, dialect)[::3]:
        if last in told[-1][1]:
            same(dialect, told, framed([*told, *told]), file)


ODD = (None, 0, "", [], {}, "x", -1, True, 1.5, [None], [{}], {"a": 1}, "<think>")


def places(value: Any, inside: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:5])
    for key, item in inner:
        yield (*inside, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*inside, key))


def damaged(told: list[Event], chance: random.Random) -> list[Event]:
    """The stream with an event lost, told early or told twice, or an odd value inside one."""
    told = list(told)
    at = chance.randrange(len(told))
    how = chance.choice(("lost", "early", "twice", "odd", "odd", "odd"))
    name, data = told[at]
    if how != "odd" or not data.startswith("{"):
        told[at : at + 1] = {"lost": [], "twice": [told[at]] * 2}.get(how, [])
        return [(name, data), *told] if how == "early" else told
    event = json.loads(data)
    *way, last = chance.choice(list(places(event)))
    holder = event
    for step in way:
        holder = holder[step]
    holder[last] = chance.choice(ODD)
    told[at] = (name, json.dumps(event))
    return told


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"]
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_damage_anywhere_in_a_stream_is_read_to_an_end(
    shared: Path, dialect: str, seed: int
) -> None:
    chance = random.Random(seed)
    _, told = chance.choice([s for s in streams(shared, dialect) if len(framed(s[1])) < 12_000])
    for _ in range(chance.randint(1, 3)):
        told = damaged(told, chance) or told
    answer = read(dialect, framed(told))
    assert answer.failure or answer.finish


# -- OpenAI chat


def in_delta(change: Callable[[dict[str, Any]], object]) -> Change:
    def changing(chunk: dict[str, Any]) -> list[dict[str, Any]]:
        for choice in chunk.get("choices") or ():
            if isinstance(choice.get("delta"), dict):
                change(choice["delta"])
        return [chunk]

    return changing


def in_calls(change: Callable[[dict[str, Any]], object]) -> Change:
    def each(delta: dict[str, Any]) -> None:
        for call in delta.get("tool_calls") or ():
            change(call)

    return in_delta(each)


def mirrored(delta: dict[str, Any]) -> None:
    text = delta.get("reasoning_content") or delta.get("reasoning")
    if text:
        delta |= {"reasoning_content": text, "reasoning": text}


def mirrored_later(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    delta = (chunk.get("choices") or [{}])[0].get("delta") or {}
    for field, other in (("reasoning_content", "reasoning"), ("reasoning", "reasoning_content")):
        if delta.get(field):
            again = {"choices": [{"index": 0, "delta": {other: delta[field]}}]}
            return [chunk, again]
    return [chunk]


def in_characters(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    delta = (chunk.get("choices") or [{}])[0].get("delta") or {}
    told = [f for f in ("reasoning_content", "reasoning", "content") if delta.get(f)]
    if len(told) != 1 or delta.get("tool_calls") or delta.get("reasoning_details"):
        return [chunk]
    pieces: list[dict[str, Any]] = []
    for character in delta[told[0]]:
        pieces.append(deepcopy(chunk) | {"usage": None})
        pieces[-1]["choices"][0]["finish_reason"] = None
        pieces[-1]["choices"][0]["delta"][told[0]] = character
    pieces[-1]["choices"][0]["finish_reason"] = chunk["choices"][0].get("finish_reason")
    pieces[-1]["usage"] = chunk.get("usage")
    return pieces


def unfinished_word(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    for choice in chunk.get("choices") or ():
        choice["finish_reason"] = choice.get("finish_reason") or ""
    return [chunk]


def usage_in_choice(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    usage = chunk.pop("usage", None)
    if usage and not chunk.get("choices"):
        chunk["choices"] = [{"index": 0, "delta": {}}]
    if usage:
        chunk["choices"][0]["usage"] = usage
    return [chunk]


CHAT: dict[str, Change] = {
    "single characters": in_characters,
    "a thought in two fields at once": in_delta(mirrored),
    "a thought in two fields, one piece later": mirrored_later,
    "calls without an index": in_calls(lambda call: call.pop("index", None)),
    "calls that all have index 0": in_calls(lambda call: call.update(index=0)),
    "calls with empty ids": in_calls(lambda call: call.update(id=call.get("id") or "")),
    "an empty finish reason": unfinished_word,
    "usage inside the choice": usage_in_choice,
}


@pytest.mark.parametrize("how", CHAT)
def test_a_chat_stream_reads_the_same_however_it_is_told(shared: Path, how: str) -> None:
    for file, told in streams(shared, "openai-chat"):
        same("openai-chat", told, framed(changed(told, CHAT[how])), file)


def test_calls_in_odd_pieces_by_turns_are_put_together() -> None:
    told = {"a": ("f", '{"x": [1, {"y": "}{"}]}'), "b": ("g", '{"z": "思考"}')}
    for by_index in (True, False):
        pieces: list[dict[str, Any]] = []
        for at in range(0, 24, 3):
            for number, (call_id, (name, args)) in enumerate(told.items()):
                call: dict[str, Any] = {"function": {"arguments": args[at : at + 3]}}
                call |= {"index": number} if by_index else {"id": call_id}
                if not at:
                    call |= {"id": call_id, "function": {"name": name, "arguments": args[:3]}}
                pieces.append({"choices": [{"delta": {"tool_calls": [call]}}]})
        pieces.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
        answer = read("openai-chat", framed([("", json.dumps(piece)) for piece in pieces]))
        assert answer.call_ids == ["a", "b"]
        assert answer.calls == [("f", {"x": [1, {"y": "}{"}]}), ("g", {"z": "思考"})]


# -- Anthropic and Responses


def without(*kinds: str) -> Callable[[list[Event]], list[Event]]:
    def left(told: list[Event]) -> list[Event]:
        return [e for e in told if e[1][:1] != "{" or json.loads(e[1]).get("type") not in kinds]

    return left


def whole_at_the_start(told: list[Event]) -> list[Event]:
    """Every Anthropic block with all its content in its start event."""
    blocks: dict[int, dict[str, Any]] = {}
    for _, data in told:
        event = json.loads(data)
        if event["type"] == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        elif event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            for field in ("text", "thinking", "signature"):
                block[field] = (block.get(field) or "") + delta.get(field, "")
            block["json"] = block.get("json", "") + delta.get("partial_json", "")
    for block in blocks.values():
        if said := block.pop("json", ""):
            block["input"] = json.loads(said)

    def change(event: dict[str, Any]) -> list[dict[str, Any]]:
        if event["type"] == "content_block_start":
            return [event | {"content_block": blocks[event["index"]]}]
        return [] if event["type"] == "content_block_delta" else [event]

    return changed(told, change)


BLOCKS: dict[str, tuple[str, Callable[[list[Event]], list[Event]]]] = {
    "no block is stopped": ("anthropic-messages", without("content_block_stop")),
    "no last event": ("anthropic-messages", without("message_stop")),
    "blocks whole at their start": ("anthropic-messages", whole_at_the_start),
    "OpenAI's end mark": ("anthropic-messages", lambda told: [*told, ("", "[DONE]")]),
    "no item is announced": ("openai-responses", without("response.output_item.added")),
    "nothing but what is done": (
        "openai-responses",
        without(
            "response.output_item.added",
            "response.output_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_text.delta",
            "response.function_call_arguments.delta",
        ),
    ),
    "no output in the last event": (
        "openai-responses",
        lambda told: changed(
            told, lambda o: [o | {"response": o["response"] | {"output": []}}]
            if o.get("type") == "response.completed"
            else [o],
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", BLOCKS)
def test_blocks_and_items_told_in_other_ways_read_the_same(shared: Path, how: str) -> None:
    dialect, change = BLOCKS[how]
    for file, told in streams(shared, dialect):
        if '"citations_delta"' not in framed(told).decode():
            same(dialect, told, framed(change(told)), file)
