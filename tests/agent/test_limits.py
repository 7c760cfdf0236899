"""Empty answers, limits, and what becomes of results."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from silu.agent.settings import Limits, TurnSettings
from silu.config import ModelOverride, Preferences
from silu.fakes import Answer, Asked, Call, Think, answer, play
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import ToolSpec
from silu.types.capabilities import Prices
from silu.types.events import FinishReason
from silu.types.levels import Level
from silu.types.parts import ToolResultPart
from tests.agent.bench import CHAT, LIST, MESSAGES, Bench, bench

pytestmark = pytest.mark.anyio


# ---------------------------------------------------------------------------- no answer


async def test_thinking_that_uses_up_the_limit_is_said_so(b: Bench) -> None:
    b.fake.script = play(answer(Think("endless " * 20), finish="length"))
    outcome = await b.say("go", level=Level.HIGH)
    assert (outcome.status, outcome.reason) == ("incomplete", "thinking_used_limit")
    assert outcome.finish_reason == "length"
    assert len(b.fake.bodies) == 1


async def test_an_empty_answer_is_nudged_once_and_then_told(b: Bench) -> None:
    b.fake.script = play(*[answer(Think("hm"), finish="stop") for _ in range(3)])
    outcome = await b.say("go", level=Level.HIGH)
    assert (outcome.status, outcome.reason) == ("incomplete", "no_answer")
    assert len(b.fake.bodies) == 2
    assert b.fake.refusals == []


async def test_a_nudged_model_that_answers_completes_the_run(b: Bench) -> None:
    b.fake.script = play(answer(Think("hm"), finish="stop"), answer("Hello."))
    assert (await b.say("go", level=Level.HIGH)).status == "completed"
    assert b.answer == "Hello."


async def test_an_answer_cut_by_the_limit_is_incomplete(one: Bench) -> None:
    one.fake.script = play(answer("Half of", finish="length"))
    outcome = await one.say("go")
    assert (outcome.status, outcome.reason) == ("incomplete", "token_limit")


@pytest.mark.parametrize("said", ["Half of", ""])
@pytest.mark.parametrize(("at", "finish"), [(CHAT, "content_filter"), (MESSAGES, "refusal")])
async def test_an_answer_that_was_held_back_is_incomplete_and_not_asked_for_again(
    tmp_path: Path, said: str, at: Any, finish: FinishReason
) -> None:
    dialect, like, model, fake = at
    async with bench(fake(), tmp_path, like=like, dialect=dialect, model=model) as b:
        b.fake.script = play(*[answer(said, finish=finish)] * 3)
        outcome = await b.say("go")
        assert outcome.status == "incomplete"
        assert outcome.finish_reason == finish
        assert len(b.fake.bodies) == 1


@pytest.mark.parametrize("said", ["Half of", ""])
async def test_an_answer_cut_by_the_window_is_incomplete_and_not_asked_for_again(
    tmp_path: Path, said: str
) -> None:
    dialect, like, model, fake = MESSAGES
    async with bench(fake(), tmp_path, like=like, dialect=dialect, model=model) as b:
        b.fake.script = play(*[answer(said, finish="context_overflow")] * 3)
        outcome = await b.say("go")
        assert (outcome.status, outcome.reason) == ("incomplete", "token_limit")
        assert outcome.finish_reason == "context_overflow"
        assert len(b.fake.bodies) == 1


# ------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("name", ["list_files", "todo"])
async def test_arguments_without_bottom_are_answered_like_other_bad_ones(
    one: Bench, name: str
) -> None:
    deep = '{"todos":' * 20_000
    text = json.dumps({"todos": deep}) if name == "todo" else deep
    one.fake.script = play(answer(Call(name, text)), answer("I see."), answer("And now."))
    assert (await one.say("go")).status == "completed"
    results = [p for m in one.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert [result.status for result in results] == ["error"]
    assert (await one.say("again")).status == "completed"


async def test_the_same_failing_call_four_times_ends_the_run(b: Bench) -> None:
    bad = answer(Call("todo", {"todos": ["a", 3]}))
    b.fake.script = play(*[bad] * 9)
    outcome = await b.say("go")
    assert (outcome.status, outcome.reason) == ("incomplete", "repeated_call")
    results = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert len(results) == 4
    assert all(r.status == "error" and "no objects" in r.shown for r in results)
    assert b.fake.refusals == []


@pytest.mark.parametrize(
    ("limits", "reason", "calls"),
    [
        (Limits(steps=2), "step_limit", 2),
        (Limits(tokens=10), "token_limit", 1),
        (Limits(seconds=0), "time_limit", 0),
        (Limits(cost=1e-9), "cost_limit", 1),
    ],
)
async def test_a_limit_ends_the_run_and_says_which(
    one: Bench, limits: Limits, reason: str, calls: int
) -> None:
    def endless(asked: Asked) -> Answer:
        return answer(Call("read_file", {"path": "notes.txt", "start_line": asked.turn + 1}))

    one.fake.script = endless
    one.settings = TurnSettings(limits=limits)
    priced = ModelOverride(prices=Prices(input=1.0, output=2.0))
    one.client.settings = one.client.settings.with_preferences(
        Preferences(models={one.session.model: priced})
    )
    outcome = await one.say("go")
    assert (outcome.status, outcome.reason) == ("incomplete", reason)
    assert len(one.fake.bodies) == calls


# ------------------------------------------------------------------------------ results


async def test_a_big_result_is_cut_kept_whole_and_can_be_read_on(b: Bench) -> None:
    for number in range(900):
        (b.session.workspace / f"file-{number:04}-{'x' * 40}.txt").touch()

    def script(asked: Asked) -> Answer:
        if asked.turn == 0:
            return answer(LIST)
        if asked.turn == 1:
            found = re.search(r'read_file (\{"path": "result:.*\})', asked.results[0])
            assert found is not None
            return answer(Call("read_file", json.loads(found[1])))
        return answer("ok")

    b.fake.script = script
    await b.say("go")
    first, second = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert first.full is not None
    whole = (await b.session.blobs.get(first.full)).decode()
    assert "file-0899" in whole
    assert "file-0500" not in first.shown
    assert len(first.shown) < 26_000
    assert second.status == "ok"
    assert "file-0500" in second.shown
    fact = b.facts("tool_result")[0]
    assert isinstance(fact, facts.ToolResult)
    assert fact.truncated
    assert fact.result_ref == first.full.sha256


async def test_of_two_calls_with_one_id_each_result_can_be_read_on(one: Bench) -> None:
    workspace, shown = one.session.workspace, list[str]()
    for name in ("first", "second"):
        (workspace / f"{name}.csv").write_text(f"{name}\n" * 9_000)

    def script(asked: Asked) -> Answer:
        shown.extend(asked.results)
        if asked.turn < 2:
            path = ("first.csv", "second.csv")[asked.turn]
            return answer(Call("read_document", {"path": path}, id="call_0"))
        if asked.turn == 2:
            found = re.search(r"read_file (\{.*\})", shown[0])
            assert found is not None
            return answer(Call("read_file", json.loads(found[1]), id="call_0"))
        return answer("ok")

    one.fake.script = script
    await one.say("go")
    *_, last = [p for m in one.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert "first" in last.shown
    assert "second" not in last.shown


async def test_unknown_tools_and_bad_arguments_are_errors_the_model_can_use(b: Bench) -> None:
    b.fake.script = play(
        answer(Call("fly", {}), Call("read_file", {}), Call("read_file", {"path": "no.txt"})),
        answer("ok"),
    )
    assert (await b.say("go")).status == "completed"
    shown = [p.shown for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert "there is no tool" in shown[0]
    assert "`path` is required" in shown[1]
    assert "no such file" in shown[2]
    assert b.fake.refusals == []


async def test_a_tool_that_breaks_does_not_end_the_run_and_is_logged_by_its_place_alone(
    one: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise KeyError("secret")

    spec = ToolSpec(name="broken", description="", parameters=object_schema({}))
    one.tools = one.tools.plus([Tool(spec=spec, effects=frozenset({"read"}), run=broken)])
    one.fake.script = play(answer(Call("broken")), answer("ok"))
    assert (await one.say("go")).status == "completed"
    result = one.messages[2].parts[0]
    assert isinstance(result, ToolResultPart)
    assert result.shown == "broken failed with an internal error (KeyError)"
    assert "test_limits.py" in caplog.text
    assert "secret" not in caplog.text
