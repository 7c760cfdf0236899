"""A run that was put down is taken up again."""

import asyncio
from typing import Any

import pytest

from silu.agent.memory import MemoryRun, Told
from silu.fakes import Call, Think, answer, play
from silu.fakes.script import (
    Trouble,
    hang_up,
)
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import ToolSpec
from silu.types.facts import DeltaData
from silu.types.levels import Level
from silu.types.parts import ToolResultPart
from tests.agent.bench import READ, Bench

pytestmark = pytest.mark.anyio


# ------------------------------------------------------------------------------- resume


async def put_down(bench: Bench, run: MemoryRun, when: str) -> None:
    """Let the process stop at a fact of this type: the turn's task is cancelled there."""
    task: asyncio.Future[Any] | None = None

    def watch(_: MemoryRun, told: Told) -> None:
        hit = isinstance(told, DeltaData) if when == "delta" else False
        if hit or (not isinstance(told, DeltaData) and facts.fact_type(told) == when):
            assert task is not None
            task.cancel()

    bench.watch = watch
    task = asyncio.ensure_future(bench.execute(run))
    with pytest.raises(asyncio.CancelledError):
        await task
    bench.watch = lambda run, told: None


async def test_a_run_put_down_in_mid_thought_makes_its_step_again(b: Bench) -> None:
    b.fake.script = play(answer(Think("lost " * 50)), answer(Think("kept"), "Hello."))
    b.fake.rate = 300
    run = b.new_run("go", level=Level.HIGH)
    await put_down(b, run, "delta")
    b.fake.rate = None
    outcome = await b.execute(run)
    assert outcome.status == "completed"
    assert b.answer == "Hello."
    assert len(b.facts("run_start")) == 1
    assert [m.role for m in b.messages] == ["user", "assistant"]
    assert [text for (_, kind), text in b.shown().items() if kind == "thinking"] == ["kept"]
    assert b.fake.refusals == []


async def test_a_run_put_down_before_its_tools_runs_them(b: Bench) -> None:
    b.fake.script = play(answer(Think("t"), READ), answer("42."))
    run = b.new_run("go", level=Level.HIGH)
    await put_down(b, run, "token_update")
    outcome = await b.execute(run)
    assert outcome.status == "completed"
    results = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert [r.status for r in results] == ["ok"]
    assert [m.role for m in b.messages] == ["user", "assistant", "tool", "assistant"]
    assert b.fake.refusals == []


async def test_after_a_crash_only_idempotent_tools_run_again(b: Bench) -> None:
    ran: list[str] = []
    hang = asyncio.Event()

    async def act(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        ran.append("act")
        await hang.wait()
        return ToolOutput(text="acted")

    spec = ToolSpec(name="act", description="", parameters=object_schema({}))
    b.tools = b.tools.plus([Tool(spec=spec, effects=frozenset({"execute"}), run=act)])
    b.fake.script = play(answer(Think("t"), Call("act"), READ), answer("ok"))
    run = b.new_run("go", level=Level.HIGH)
    await put_down(b, run, "tool_result")
    hang.set()
    outcome = await b.execute(run)
    assert outcome.status == "completed"
    assert ran == ["act"]
    first, second = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert (first.status, second.status) == ("unknown", "ok")
    assert "unknown" in first.shown
    assert b.fake.refusals == []
    assert b.done.usage.api_calls == 2


async def test_a_run_put_down_after_its_answer_ends_without_asking_again(b: Bench) -> None:
    b.fake.script = play(answer("42."), answer("never asked"))
    run = b.new_run("go")
    await put_down(b, run, "token_update")
    outcome = await b.execute(run)
    assert outcome.status == "completed"
    assert len(b.fake.bodies) == 1


async def test_a_vendor_that_hangs_up_is_tried_again(one: Bench) -> None:
    one.fake.troubles.append(hang_up())
    one.fake.troubles.append(Trouble(status=500, body="oops"))
    assert (await one.say("go")).status == "completed"
    assert one.done.usage.api_calls == 3
