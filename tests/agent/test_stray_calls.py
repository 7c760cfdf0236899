"""Calls that a model wrote into its thinking (field case F030)."""

import pytest

from silu.fakes import Say, Think, answer, play
from silu.tools.editing import editing_tools
from silu.types import facts
from silu.types.levels import Level
from silu.types.parts import ThinkingPart, ToolResultPart
from tests.agent.bench import Bench, raw

pytestmark = pytest.mark.anyio

MARKUP = '<tool_call>{"name": "read_file", "arguments": {"path": "notes.txt"}}</tool_call>'


async def test_a_whole_call_in_the_thinking_is_made_and_the_work_goes_on(b: Bench) -> None:
    b.fake.script = play(answer(Think(f"I look. {MARKUP}")), answer("42."), answer("Bye."))
    outcome = await b.say("what?", level=Level.HIGH)
    assert b.fake.refusals == []
    assert outcome.status == "completed"
    assert b.answer == "42."
    results = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert [part.status for part in results] == ["ok"] and "42" in results[0].shown
    (thought,) = [p for m in b.messages for p in m.parts if isinstance(p, ThinkingPart)]
    assert thought.text == f"I look. {MARKUP}"
    started = b.facts("tool_call_start")
    assert [f.name for f in started if isinstance(f, facts.ToolCallStart)] == ["read_file"]
    assert b.session.calls[0].finish_reason == "tool_calls"
    assert b.fake.refusals == []
    await b.say("bye", level=Level.HIGH)
    assert b.fake.refusals == []


async def test_plan_mode_stands_above_a_call_that_was_found(one: Bench) -> None:
    one.tools = one.tools.plus(editing_tools())
    call = '<tool_call>{"name":"write_file","arguments":{"path":"x","content":"x"}}</tool_call>'
    one.fake.script = play(answer(Think(call)), answer("I may not."))
    one.session.mode = "plan"
    await one.say("write", level=Level.HIGH)
    (result,) = [p for m in one.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert result.status == "denied"
    assert not (one.session.workspace / "x").exists()


@pytest.mark.parametrize(
    "thought",
    [
        '<tool_call>{"name": "read_file", "arguments": {"path": "no',
        '<tool_call>{"name": "rm_rf", "arguments": {}}</tool_call>',
        MARKUP * 17,
    ],
    ids=["half", "unknown", "repeated"],
)
async def test_what_is_no_clear_call_is_asked_for_once(one: Bench, thought: str) -> None:
    one.fake.script = play(answer(Think(thought)), answer("Here."))
    assert (await one.say("go", level=Level.HIGH)).status == "completed"
    assert "call the tool you need" in raw(one.fake.bodies[1])
    assert one.facts("tool_call_start") == []


async def test_an_answer_that_speaks_of_calls_stays_an_answer(one: Bench) -> None:
    one.fake.script = play(answer(Think(MARKUP), Say("That is how a call looks.")))
    assert (await one.say("how?", level=Level.HIGH)).status == "completed"
    assert len(one.fake.bodies) == 1
    assert one.facts("tool_call_start") == []
