"""Todos and modes in whole turns."""

from typing import Any

import pytest

from silu.agent.memory import MemoryRun, Told
from silu.fakes import Call, answer, play
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import ToolSpec
from silu.types.parts import NoticePart, ToolResultPart
from tests.agent.bench import Bench, raw, todo

pytestmark = pytest.mark.anyio


# -------------------------------------------------------------------------------- todos


async def test_a_todo_write_is_kept_and_told(b: Bench) -> None:
    items = [("1", "look", "completed"), ("2", "tell", "completed")]
    b.fake.script = play(answer(todo(*items)), answer("done"))
    outcome = await b.say("go")
    assert outcome.status == "completed"
    update = b.facts("todo_update")[0]
    assert isinstance(update, facts.TodoUpdate)
    assert [todo.content for todo in update.todos] == ["look", "tell"]
    assert update.summary.completed == 2
    assert b.session.todos == update.todos


async def test_open_todos_are_put_to_the_model_once_and_then_told_honestly(b: Bench) -> None:
    b.fake.script = play(
        answer(todo(("1", "look", "in_progress"), ("2", "tell", "pending"))),
        answer("I am done."),
        answer("Really."),
    )
    outcome = await b.say("go")
    assert (outcome.status, outcome.reason) == ("incomplete", "open_todos")
    assert len(b.fake.bodies) == 3
    nudge = b.messages[-2]
    assert nudge.role == "user"
    assert isinstance(nudge.parts[0], NoticePart)
    assert "- 1. look (in_progress)" in nudge.parts[0].text
    assert b.fake.refusals == []


async def test_a_model_that_settles_its_list_completes(b: Bench) -> None:
    b.fake.script = play(
        answer(todo(("1", "look", "in_progress"))),
        answer("I am done."),
        answer(todo(("1", "look", "completed"))),
        answer("All done."),
    )
    assert (await b.say("go")).status == "completed"


async def test_open_items_of_an_earlier_run_do_not_hold_up_this_one(b: Bench) -> None:
    b.fake.script = play(
        answer(todo(("1", "later", "pending"))), answer("a"), answer("b"), answer("Hello.")
    )
    assert (await b.say("go")).reason == "open_todos"
    assert (await b.say("hello")).status == "completed"


async def test_plan_mode_may_end_with_open_todos(one: Bench) -> None:
    one.session.mode = "plan"
    one.fake.script = play(answer(todo(("1", "build it", "pending"))), answer("Here is the plan."))
    assert (await one.say("plan it")).status == "completed"


async def test_a_list_changed_by_the_person_is_told_at_the_next_message(one: Bench) -> None:
    one.fake.script = play(
        answer(todo(("1", "a", "pending"))), answer("x"), answer("y"), answer("z"), answer("w")
    )
    await one.say("go")
    one.session.todos[0].status = "cancelled"
    await one.say("next")
    sent = raw(one.fake.bodies[-1]["messages"][-1])
    assert "changed from outside" in sent
    assert "cancelled" in sent
    await one.say("and")
    assert "changed from outside" not in raw(one.fake.bodies[-1]["messages"][-1])


# -------------------------------------------------------------------------------- modes


async def test_plan_mode_refuses_what_writes_and_says_what_is_allowed(one: Bench) -> None:
    ran: list[str] = []

    async def write(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        ran.append(context.mode)
        return ToolOutput(text="written")

    spec = ToolSpec(name="write_it", description="", parameters=object_schema({}))
    one.tools = one.tools.plus([Tool(spec=spec, effects=frozenset({"write"}), run=write)])
    one.fake.script = play(
        answer(Call("write_it")), answer(Call("write_it")), answer(Call("write_it")), answer("ok")
    )
    one.session.mode = "plan"

    def switch(run: MemoryRun, told: Told) -> None:
        if isinstance(told, facts.ToolResult):
            run.set_mode("build" if one.session.mode == "plan" else "plan")

    one.watch = switch
    await one.say("go")
    results = [p for m in one.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert [result.status for result in results] == ["denied", "ok", "denied"]
    assert ran == ["build"]
    assert "this session is in plan mode" in results[0].shown
    assert "Refused: write_it." in results[0].shown
    notices = [p.text for m in one.messages for p in m.parts if isinstance(p, NoticePart)]
    assert ["plan" in n.split(".")[0] for n in notices] == [True, False, True, False]
    tools = {raw(body["tools"]) for body in one.fake.bodies}
    assert len(tools) == 1
