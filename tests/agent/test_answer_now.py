"""Ending the thinking: by the person's word or a limit, with the thought kept for people."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from silu.agent.memory import MemoryRun, Told
from silu.agent.settings import Limits, TurnSettings
from silu.fakes import Answer, Asked, Call, FakeLlamaCpp, Think, answer, play
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import ToolSpec
from silu.types.facts import DeltaData
from silu.types.levels import Level
from silu.types.parts import NoticePart, ThinkingPart
from tests.agent.bench import READ, Bench, bench, raw

pytestmark = pytest.mark.anyio

LONG = "thinking about it "


def slow_thinker(asked: Asked) -> Answer:
    return answer(Think(LONG * 400), "Late.") if asked.thinking else answer("Quick.")


def thoughts(b: Bench) -> list[ThinkingPart]:
    return [p for m in b.messages for p in m.parts if isinstance(p, ThinkingPart)]


async def test_answer_now_ends_the_thinking_and_keeps_it_for_people(b: Bench) -> None:
    b.fake.script = slow_thinker
    b.fake.rate = 200

    def hurry(run: MemoryRun, told: Told) -> None:
        if isinstance(told, DeltaData) and told.kind == "thinking" and told.offset > 50:
            run.answer_now()

    b.watch = hurry
    outcome = await asyncio.wait_for(b.say("go", level=Level.HIGH), 5)
    assert outcome.status == "completed"
    assert b.answer == "Quick."
    assert [m.role for m in b.messages] == ["user", "assistant"]
    (kept,) = thoughts(b)
    assert kept.text.startswith(LONG)
    assert b.shown()[kept.id, "thinking"] == kept.text
    assert [call.resolution.effective for call in b.session.calls] == ["high", "off"]
    assert LONG not in raw(b.fake.bodies[-1])
    assert [f.kind for f in b.facts("notice")] == ["answer_now"]  # pyright: ignore
    b.watch = lambda run, told: None
    b.fake.rate = None
    b.fake.script = play(answer(Think("x"), "Yes."))
    assert (await b.say("sure?", level=Level.HIGH)).status == "completed"
    assert b.fake.refusals == []
    assert LONG not in raw(b.fake.bodies[-1])
    assert b.session.calls[-1].resolution.effective == "high"


async def test_answer_now_during_tools_turns_the_next_call_down_and_says_why(b: Bench) -> None:
    b.fake.script = play(answer(Think("a"), READ), answer("Quick."))

    def hurry(run: MemoryRun, told: Told) -> None:
        if isinstance(told, facts.ToolResult):
            run.answer_now()

    b.watch = hurry
    assert (await b.say("go", level=Level.HIGH)).status == "completed"
    rider = b.messages[2].parts[-1]
    assert isinstance(rider, NoticePart)
    assert "wants the answer now" in rider.text
    assert b.session.calls[-1].resolution.effective == "off"
    assert b.fake.refusals == []


async def test_answer_now_while_the_answer_comes_changes_nothing(one: Bench) -> None:
    one.fake.script = play(answer("word " * 60))
    one.fake.rate = 400

    def hurry(run: MemoryRun, told: Told) -> None:
        if isinstance(told, DeltaData):
            run.answer_now()

    one.watch = hurry
    assert (await one.say("go")).status == "completed"
    assert len(one.fake.bodies) == 1


@pytest.mark.parametrize("limits", [Limits(thinking_seconds=0.5), Limits(thinking_tokens=40)])
async def test_a_thinking_limit_does_the_same_by_itself(one: Bench, limits: Limits) -> None:
    one.fake.script = slow_thinker
    one.fake.rate = 100
    one.settings = TurnSettings(limits=limits)
    outcome = await asyncio.wait_for(one.say("go", level=Level.HIGH), 5)
    assert outcome.status == "completed"
    assert one.answer == "Quick."
    assert [f.kind for f in one.facts("notice")] == ["thinking_limit"]  # pyright: ignore
    assert one.session.calls[0].error == "put down: the thinking limit was reached"


async def test_the_time_limit_ends_a_call_in_mid_thought(one: Bench) -> None:
    one.fake.script = slow_thinker
    one.fake.rate = 100
    one.settings = TurnSettings(limits=Limits(seconds=0.5))
    outcome = await asyncio.wait_for(one.say("go", level=Level.HIGH), 3)
    assert (outcome.status, outcome.reason) == ("incomplete", "time_limit")
    assert thoughts(one)[0].text.startswith(LONG)
    assert one.messages[-1].interrupted


async def test_the_time_limit_ends_a_tool_that_hangs(one: Bench) -> None:
    async def hang(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        await asyncio.sleep(30)
        return ToolOutput(text="never")

    spec = ToolSpec(name="hang", description="", parameters=object_schema({}))
    one.tools = one.tools.plus([Tool(spec=spec, effects=frozenset({"execute"}), run=hang)])
    one.fake.script = play(answer(Call("hang")))
    one.settings = TurnSettings(limits=Limits(seconds=0.5))
    outcome = await asyncio.wait_for(one.say("go"), 3)
    assert (outcome.status, outcome.reason) == ("incomplete", "time_limit")


async def test_a_vendor_that_can_end_a_thought_does_so_in_the_same_answer(tmp_path: Path) -> None:
    fake = FakeLlamaCpp(
        lambda asked: answer(Think(LONG * 400), "Quick.") if asked.thinking else answer("Off."),
        rate=200,
    )
    async with bench(
        fake, tmp_path, like="llamacpp", dialect=None, model="local-model", path="/v1"
    ) as b:
        b.settings = TurnSettings(limits=Limits(thinking_tokens=40))
        outcome = await asyncio.wait_for(b.say("go", level=Level.HIGH), 5)
        assert outcome.status == "completed"
        assert b.answer == "Quick."
        (kept,) = thoughts(b)
        assert kept.text.startswith(LONG) and len(kept.text) < len(LONG) * 300
        assert len(fake.ended) == 1 and fake.refusals == []
        assert len(b.session.calls) == 1 and b.session.calls[0].error is None
        assert [f.kind for f in b.facts("notice")] == ["thinking_limit"]  # pyright: ignore


async def test_a_vendor_that_does_not_end_the_thought_is_asked_again(tmp_path: Path) -> None:
    fake = FakeLlamaCpp(slow_thinker, rate=100)
    async with bench(
        fake, tmp_path, like="llamacpp", dialect=None, model="local-model", path="/v1"
    ) as b:
        b.settings = TurnSettings(limits=Limits(thinking_tokens=40))

        def forget(run: MemoryRun, told: Told) -> None:
            fake.forget()

        b.watch = forget
        assert (await asyncio.wait_for(b.say("go", level=Level.HIGH), 5)).status == "completed"
        assert (b.answer, fake.ended) == ("Quick.", [])
        assert len(b.session.calls) == 2
