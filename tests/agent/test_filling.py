"""What a request is filled with, by the bytes that were sent."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.agent.filling import echoed, filling
from silu.fakes import Call, Think, answer, play
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ThinkingPart, ToolResultPart
from tests.agent.bench import READ, Bench, bench
from tests.fakes.places import NAMES, PLACES, Place

pytestmark = pytest.mark.anyio

TODOS: dict[str, Any] = {
    "todos": [{"id": str(n), "content": "step " * 30, "status": "completed"} for n in range(5)]
}


async def test_what_went_back_of_the_thoughts_counts_and_what_was_left_out_does_not(
    b: Bench,
) -> None:
    b.fake.script = play(
        answer(Think("a long thought " * 60), Call("todo", TODOS)), answer("done"), answer("again")
    )
    await b.say("go", level=Level.HIGH)
    session = b.session
    call, epoch = session.calls[-1], session.epochs[-1]
    parts = filling(
        call.body.encode(),
        used=call.usage.input_tokens,
        system=epoch.system,
        tools=epoch.tools_json,
        messages=b.messages,
    )
    used = call.usage.input_tokens
    assert used is not None
    whole = parts.system + parts.tools + parts.history + parts.todo + parts.thinking
    assert abs(whole - used) <= 3
    assert min(parts.system, parts.tools, parts.todo) > 0
    # Both vendors want the thought of a tool loop back.
    assert parts.thinking > 100


def test_a_thought_that_is_not_in_the_body_takes_no_room() -> None:
    messages = [
        Message(role="assistant", parts=[ThinkingPart(text="secret " * 50), TextPart(text="hi")]),
        Message(
            role="tool",
            parts=[ToolResultPart(call_id="c", name="todo", status="ok", shown='{"todos": "x"}')],
        ),
    ]
    body = msgspec.json.encode({"messages": ["hi", '{"todos": "x"}']})
    parts = filling(body, used=None, system="", tools="", messages=messages)
    assert (parts.thinking, parts.system, parts.tools) == (0, 0, 0)
    assert parts.todo > 0 and parts.history > 0


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
async def test_the_thought_of_a_tool_loop_is_told_to_have_gone_back_at_every_vendor(
    tmp_path: Path, place: Place
) -> None:
    thought = "I should look into that file."
    fake = place.make(play(answer(Think(thought), READ), answer("It is 42.")))
    model = place.main or place.models[0]
    async with bench(
        fake, tmp_path, like=place.like, dialect=place.dialect, model=model, path=place.path
    ) as b:
        await b.say("What is it?", level=Level.HIGH)
        first, second = b.session.calls
        (back,) = echoed(second.body.encode(), b.messages)
        assert echoed(first.body.encode(), b.messages) == []
    assert back.message_id == b.messages[1].id
    # A summary never goes back as text: its seal does.
    assert back.chars in (0, len(thought))
    assert back.chars or back.sealed
