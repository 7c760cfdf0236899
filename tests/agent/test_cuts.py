"""Turns that are stopped, cut or refused: what is kept, and that the next one works."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from silu.agent.memory import MemoryRun, Told
from silu.agent.ports import Stale
from silu.config import Preferences
from silu.fakes import Call, CompatServer, Think, answer, play
from silu.fakes.script import (
    Trouble,
    cut,
    error_in_stream,
    overloaded,
    silence,
)
from silu.providers.client import Client
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import CallEvent, CallRequest, ToolSpec
from silu.types.errors import Failure
from silu.types.events import TextDelta
from silu.types.facts import DeltaData
from silu.types.levels import Level
from silu.types.parts import ThinkingPart, ToolResultPart, text_of, thinking_of
from tests.agent.bench import MESSAGES, READ, Bench, bench, raw, todo

pytestmark = pytest.mark.anyio


# -------------------------------------------------------------------------------- stops


async def test_a_stop_in_mid_thought_keeps_the_thought_and_the_next_turn_works(b: Bench) -> None:
    b.fake.script = play(answer(Think("thinking about it " * 400)), answer("hello"))
    b.fake.rate = 200

    def stop(run: MemoryRun, told: Told) -> None:
        if isinstance(told, DeltaData) and told.kind == "thinking" and told.offset > 50:
            run.cancel()

    b.watch = stop
    began = asyncio.get_running_loop().time()
    outcome = await b.say("go", level=Level.HIGH)
    assert asyncio.get_running_loop().time() - began < 2
    assert (outcome.status, outcome.reason) == ("cancelled", "person")
    kept = b.messages[-1]
    assert kept.interrupted
    assert isinstance(kept.parts[0], ThinkingPart)
    assert kept.parts[0].text.startswith("thinking about it")
    closed = b.facts("thinking_done")[-1]
    assert isinstance(closed, facts.ThinkingDone)
    assert closed.interrupted
    assert b.session.calls[-1].error == "stopped by the person"
    b.watch = lambda run, told: None
    assert (await b.say("and now?", level=Level.HIGH)).status == "completed"
    assert b.fake.refusals == []
    assert "thinking about it" not in raw(b.fake.bodies[-1])


async def test_a_stop_while_a_tool_runs_leaves_a_valid_history(b: Bench) -> None:
    async def slow(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert b.run is not None
        b.run.cancel()
        await asyncio.sleep(30)
        return ToolOutput(text="never")

    spec = ToolSpec(name="slow", description="slow", parameters=object_schema({}))
    b.tools = b.tools.plus([Tool(spec=spec, effects=frozenset({"execute"}), run=slow)])
    b.fake.script = play(answer(Think("a"), READ, Call("slow")), answer("hello"))
    outcome = await b.say("go", level=Level.HIGH)
    assert outcome.status == "cancelled"
    read, given = b.messages[-1].parts
    assert isinstance(given, ToolResultPart)
    assert given.status == "interrupted"
    assert "stopped by the person while it ran" in given.shown
    assert isinstance(read, ToolResultPart)
    assert (await b.say("and now?", level=Level.HIGH)).status == "completed"
    assert b.fake.refusals == []


async def test_a_stop_before_the_first_byte_ends_within_a_second(one: Bench) -> None:
    one.fake.troubles.append(silence(after=0, seconds=30))
    run = one.new_run("go")
    task = asyncio.ensure_future(one.execute(run))
    await asyncio.sleep(0.3)
    run.cancel()
    outcome = await asyncio.wait_for(task, 1)
    assert outcome.status == "cancelled"
    assert one.messages[-1].role == "user"


# ----------------------------------------------------------------------------- failures


async def test_a_stream_cut_in_mid_thought_is_tried_again_in_place(b: Bench) -> None:
    b.fake.script = play(
        answer(Think("first try, long enough to be cut")), answer(Think("second"), "Hello.")
    )
    b.fake.troubles.append(cut(after=2))
    outcome = await b.say("go", level=Level.HIGH)
    assert outcome.status == "completed"
    assert [text for (_, kind), text in b.shown().items() if kind == "thinking"] == ["second"]
    assert len([m for m in b.messages if m.role == "assistant"]) == 1
    assert [call.attempt for call in b.session.calls] == [1, 2]
    assert b.session.calls[0].error
    waits = [f for f in b.facts("notice") if isinstance(f, facts.Notice) and f.kind == "wait"]
    assert waits and re.match(r"Waiting \d+\.\d s: ", waits[0].text)
    assert b.done.usage.api_calls == 2


async def test_an_answer_that_is_cut_is_kept_and_told(b: Bench) -> None:
    b.fake.script = play(answer("Here is the beginning of a long answer."), answer("ok"))
    b.fake.troubles.append(cut(after=2))
    outcome = await b.say("go")
    assert (outcome.status, outcome.reason) == ("incomplete", "stream_cut")
    assert b.messages[-1].interrupted
    assert b.answer.startswith("Here is the beginning")
    assert isinstance(b.done.error, facts.ErrorInfo)
    assert b.done.error.kind == "stream_cut"
    assert (await b.say("go on")).status == "completed"
    assert b.fake.refusals == []


async def test_an_error_inside_the_stream_fails_the_run_and_keeps_the_text(b: Bench) -> None:
    b.fake.script = play(answer("Partial answer text here."), answer("ok"))
    b.fake.troubles.append(error_in_stream(after=2))
    outcome = await b.say("go")
    assert (outcome.status, outcome.reason) == ("failed", "vendor_error")
    assert b.answer.startswith("Partial")
    assert isinstance(b.done.error, facts.ErrorInfo)
    assert "verloaded" in b.done.error.message
    assert (await b.say("go on")).status == "completed"


async def test_a_call_announced_before_the_cut_is_answered_as_not_run(b: Bench) -> None:
    b.fake.script = play(answer("I will read it. ", READ), answer("ok"))
    b.fake.troubles.append(cut(after=3))
    outcome = await b.say("go")
    assert outcome.reason == "stream_cut"
    result = b.messages[-1].parts[0]
    assert isinstance(result, ToolResultPart)
    assert result.status == "interrupted"
    assert "cut off before this tool could run" in result.shown
    assert (await b.say("go on")).status == "completed"
    assert b.fake.refusals == []


async def test_a_vendor_that_stays_overloaded_fails_with_its_reason(one: Bench) -> None:
    one.fake.troubles.extend(overloaded() for _ in range(5))
    outcome = await one.say("go")
    assert (outcome.status, outcome.reason) == ("failed", "vendor_error")
    assert isinstance(one.done.error, facts.ErrorInfo)
    assert one.done.error.kind == "overloaded"
    assert one.messages[-1].role == "user"
    assert len(one.session.calls) == 3


async def test_a_missing_key_names_the_setting(one: Bench) -> None:
    one.session.model = "anthropic/claude-opus-4-6"
    outcome = await one.say("go")
    assert outcome.status == "failed"
    assert isinstance(one.done.error, facts.ErrorInfo)
    assert one.done.error.code == "no_key"
    assert one.done.error.setting


async def test_an_unknown_model_still_begins_and_ends_its_run(one: Bench) -> None:
    one.session.model = "nobody/thing"
    outcome = await one.say("go")
    assert outcome.status == "failed"
    assert [facts.fact_type(f) for f in one.facts()] == ["run_start", "done"]
    assert isinstance(one.done.error, facts.ErrorInfo)
    assert one.done.error.code == "unknown_model"


# ---------------------------------------------------- what happens between the attempts


async def test_a_refused_thought_is_marked_and_the_turn_goes_on(tmp_path: Path) -> None:
    dialect, like, model, fake = MESSAGES
    async with bench(fake(), tmp_path, like=like, dialect=dialect, model=model) as made:
        made.fake.script = play(answer(Think("a"), READ), answer("ok"), answer("fine"))
        await made.say("go", level=Level.HIGH)
        kept = made.messages[1].continuity[0]
        kept.data = kept.data.replace(kept.data[5:9], "AAAA")
        assert (await made.say("again", level=Level.HIGH)).status == "completed"
        assert len(made.fake.refusals) == 1
        assert kept.refused_by
        assert made.session.calls[-2].error
        assert (await made.say("and again", level=Level.HIGH)).status == "completed"
        assert len(made.fake.refusals) == 1


async def test_what_an_answer_teaches_is_told(tmp_path: Path) -> None:
    fake = CompatServer()
    async with bench(fake, tmp_path, like=None, dialect="openai-chat", model="local-model") as made:
        refusal = Failure(
            kind="bad_request", message="temperature is not supported with this model", status=400
        )
        made.session.temperature = 0.3
        made.fake.troubles.append(Trouble(refuse=refusal, status=400))
        outcome = await made.say("go")
        kinds = [f.kind for f in made.facts("notice")]  # pyright: ignore
        assert outcome.status == "completed"
        assert "learned" in kinds


async def test_a_fallback_model_is_told_and_used(one: Bench) -> None:
    one.client.settings = one.client.settings.with_preferences(
        Preferences(fallback=("v/deepseek-v4-flash",))
    )
    one.fake.troubles.extend(
        Trouble(
            refuse=Failure(kind="rate_limit", message="slow down"), headers={"retry-after": "7200"}
        )
        for _ in range(1)
    )
    assert (await one.say("go")).status == "completed"
    notice = one.facts("notice")[0]
    assert isinstance(notice, facts.Notice)
    assert notice.kind == "fallback"
    assert notice.params["model"] == "v/deepseek-v4-flash"
    assert [call.model for call in one.session.calls] == [
        "v/deepseek-v4-pro",
        "v/deepseek-v4-flash",
    ]


async def test_text_that_turns_out_to_be_a_thought_moves(tmp_path: Path) -> None:
    fake = CompatServer(play(answer("so I think\n</think>\n\nHello.")))
    async with bench(fake, tmp_path, like=None, dialect="openai-chat", model="local-model") as made:
        assert (await made.say("go")).status == "completed"
        assert made.answer.strip() == "Hello."
        types = [facts.fact_type(f) for f in made.facts()]
        assert types[1:3] == ["content_start", "thinking_start"]
        opened, moved = made.facts()[1:3]
        assert opened.block_id == moved.block_id  # pyright: ignore
        done = made.facts("thinking_done")[0]
        assert isinstance(done, facts.ThinkingDone)
        assert done.block_id == moved.block_id  # pyright: ignore
        thought = made.messages[-1].parts[0]
        assert isinstance(thought, ThinkingPart)
        assert "so I think" in thought.text


async def test_a_turn_waits_while_the_journal_is_behind(one: Bench) -> None:
    one.fake.script = play(answer("word " * 600))
    run = one.new_run("go")
    waits: list[float] = []

    async def caught_up() -> None:
        waits.append(0)
        run.behind = lambda: False  # pyright: ignore

    run.behind = lambda: True  # pyright: ignore
    run.caught_up = caught_up  # pyright: ignore
    assert (await one.execute(run)).status == "completed"
    assert len(waits) == 1


async def test_a_stale_attempt_stops_and_writes_nothing_more(one: Bench) -> None:
    run = one.new_run("go")

    async def stale(*_: Any, **__: Any) -> None:
        raise Stale

    one.fake.script = play(answer(todo(("1", "a", "pending"))))
    run.put_todos = stale  # pyright: ignore
    with pytest.raises(Stale):
        await one.execute(run)
    assert run.outcome is None


async def test_a_fault_of_our_own_ends_the_run_with_a_plain_word(one: Bench) -> None:
    run = one.new_run("go")

    def broken() -> list[str]:
        raise RuntimeError("inner detail")

    run.take_steering = broken  # pyright: ignore
    outcome = await one.execute(run)
    assert outcome.status == "failed"
    assert isinstance(one.done.error, facts.ErrorInfo)
    assert one.done.error.kind == "internal"
    assert "inner detail" not in one.done.error.message


class Breaking:
    """A client that breaks in the middle of a text."""

    def __init__(self, whole: Client) -> None:
        self.whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    async def stream(self, request: CallRequest) -> AsyncGenerator[CallEvent]:
        async for event in self.whole.stream(request):
            yield event
            if isinstance(event, TextDelta):
                raise KeyError("secret words")


async def test_a_fault_of_our_own_in_mid_answer_keeps_what_was_shown(b: Bench) -> None:
    whole, b.client = b.client, cast("Client", Breaking(b.client))
    b.fake.script = play(answer(Think("Hm."), "I look at it, and then " * 40), answer("Hello."))
    assert (await b.say("go", level=Level.HIGH)).status == "failed"
    assert "secret" not in raw([msgspec.to_builtins(fact) for fact in b.facts()])
    cut_off = next(message for message in b.messages if message.role == "assistant")
    assert cut_off.interrupted
    assert [*b.shown().values()] == [thinking_of(cut_off), text_of(cut_off)]
    assert text_of(cut_off).startswith("I look")
    b.client = whole
    assert (await b.say("again")).status == "completed"
    assert b.fake.refusals == []


async def test_words_that_come_during_the_last_answer_are_the_next_message(b: Bench) -> None:
    b.fake.script = play(answer("Hello."), answer("Hallo."))

    def steer(run: MemoryRun, told: Told) -> None:
        if isinstance(told, facts.ContentStart) and len(b.fake.bodies) == 1:
            run.steer("in German")

    b.watch = steer
    assert (await b.say("go")).status == "completed"
    assert b.answer == "Hallo."
    assert [m.role for m in b.messages] == ["user", "assistant", "user", "assistant"]
    assert b.facts("message_added")
    assert b.fake.refusals == []


async def test_arguments_cut_by_the_limit_are_not_run(one: Bench) -> None:
    b = one
    b.fake.script = play(
        answer(Call("read_file", '{"path": "no'), finish="length"), answer("I was cut off.")
    )
    outcome = await b.say("go")
    assert outcome.status == "completed"
    result = b.messages[2].parts[0]
    assert isinstance(result, ToolResultPart)
    assert "output limit cut" in result.shown
    assert b.fake.refusals == []
