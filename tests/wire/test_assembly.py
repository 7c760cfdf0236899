"""From events to the message silu keeps."""

from itertools import count
from typing import Any

import pytest

from silu.types import events as ev
from silu.types.assembly import MessageBuilder, wall_ms
from silu.types.errors import Failure
from silu.types.parts import Citation, Origin, ThinkingPart
from silu.types.usage import Usage

ORIGIN = Origin(vendor="v", model="m")


def builder(times: Any = None, **more: Any) -> MessageBuilder:
    names = count(1)
    clock = iter(times or count(0))
    return MessageBuilder(
        ORIGIN, new_id=lambda: f"p{next(names)}", clock=lambda: next(clock), **more
    )


def feed(made: MessageBuilder, *events: ev.StreamEvent) -> MessageBuilder:
    for event in events:
        made.feed(event)
    return made


def test_the_first_thought_counts_from_the_request_and_ends_with_its_block() -> None:
    made = feed(
        builder([5000, 8000, 9000, 9500], started_at=1000),
        ev.BlockStart(0, "thinking"),
        ev.ThinkingDelta(0, "hm"),
        ev.BlockEnd(0),
        ev.BlockStart(1, "thinking"),
        ev.BlockEnd(1),
    )
    first, second = made.message().parts
    assert isinstance(first, ThinkingPart) and isinstance(second, ThinkingPart)
    assert (first.started_at, first.duration_ms) == (1000, 7000)
    assert (second.started_at, second.duration_ms) == (9000, 500)


def test_a_block_still_open_has_no_duration_yet() -> None:
    made = feed(builder(), ev.BlockStart(0, "thinking"), ev.ThinkingDelta(0, "hm"))
    [part] = made.message().parts
    assert isinstance(part, ThinkingPart) and part.duration_ms is None
    assert made.block_id(0) == "p1" and made.interrupted


@pytest.mark.parametrize(
    ("args", "unfinished", "interrupted"),
    [('{"a":1}', False, False), ("", False, False), ('{"a', False, True), ('{"a', True, True)],
)
def test_an_answer_whose_limit_fell_into_a_call_is_interrupted(
    args: str, unfinished: bool, interrupted: bool
) -> None:
    made = feed(
        builder(),
        ev.BlockStart(0, "tool_call"),
        ev.ToolCallDelta(0, "c", "f", args),
        ev.BlockEnd(0, unfinished),
        ev.Finish("length", "length"),
    )
    assert made.interrupted is interrupted


def test_a_limit_after_text_or_before_anything_interrupts_nothing() -> None:
    text = feed(builder(), ev.BlockStart(0, "text"), ev.TextDelta(0, "x"), ev.BlockEnd(0))
    assert not feed(text, ev.Finish("length", None)).interrupted
    assert not feed(builder(), ev.Finish("length", None)).interrupted


def test_continuity_carries_the_field_and_who_served() -> None:
    made = feed(
        builder(),
        ev.Served("m-2026", "r1"),
        ev.BlockStart(0, "text"),
        ev.CitationData(0, Citation(url="u")),
        ev.ContinuityData(0, "k", "null", "content"),
        ev.ContinuityData(9, "k", "null", "content"),
        ev.UsageReport(Usage(input_tokens=1)),
        ev.Keepalive(),
        ev.VendorNote("n"),
    )
    kept = made.message().continuity
    assert [c.part for c in kept] == ["p1", None]
    assert kept[0].origin.served_model == "m-2026" and kept[0].origin.field == "content"
    assert made.response_id == "r1" and made.usage.input_tokens == 1


def test_a_failure_interrupts_even_a_finished_answer() -> None:
    failed = ev.VendorFailure(Failure(kind="server", message="m"))
    assert feed(builder(), ev.Finish("stop", None), failed).interrupted


def test_the_clock_is_the_wall_clock() -> None:
    assert wall_ms() > 1_700_000_000_000
