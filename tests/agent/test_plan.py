"""The plan: drafts, approval by revision, and what becomes of its todos."""

from typing import Any

import pytest

from silu.agent.plan import Plans, approved_text, rendered
from silu.fakes import Call, answer, play
from silu.tools.base import Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError
from silu.types.parts import NoticePart, ToolResultPart
from silu.types.todos import Todo
from tests.agent.bench import Bench, raw, todo

pytestmark = pytest.mark.anyio


def draft(*steps: Any, goal: str = "g", **more: Any) -> dict[str, Any]:
    made = [step if isinstance(step, dict) else {"text": step} for step in steps]
    return {"goal": goal, "steps": made, **more}


def item(todo_id: str, status: Any = "pending", origin: Any = "agent") -> Todo:
    return Todo(id=todo_id, content=todo_id, status=status, origin=origin)


def statuses(plans: Plans) -> list[tuple[int, str]]:
    return [(plan.revision, plan.status) for plan in plans.revisions]


def test_a_new_draft_supersedes_the_older_draft_and_cancels_its_open_todos() -> None:
    plans = Plans([], [item("a"), item("b", "completed"), item("c", origin="person"), item("d")])
    plans.propose(draft({"text": "s", "todo_ids": ["a", "b", "c"]}))
    plans.propose(draft({"text": "t", "todo_ids": ["d"]}))
    assert statuses(plans) == [(1, "superseded"), (2, "draft")]
    assert plans.revisions[0].plan_id == plans.revisions[1].plan_id
    by_id = {todo.id: todo for todo in plans.todos}
    assert (by_id["a"].status, by_id["a"].reason) == ("cancelled", "superseded_by_revision: 2")
    assert by_id["b"].status == "completed"
    assert by_id["c"].status == "pending"
    assert (by_id["d"].status, by_id["d"].plan_revision) == ("pending", 2)


def test_an_approved_revision_stays_in_force_until_a_new_one_is_approved() -> None:
    plans = Plans()
    plans.propose(draft("one", "two"))
    approved = plans.approve(plans.revisions[0].plan_id, 1)
    assert [(t.content, t.origin, t.plan_revision) for t in plans.todos] == [
        ("one", "plan", 1),
        ("two", "plan", 1),
    ]
    assert approved.active_todo_ids == ["1", "2"]
    plans.propose(draft("three"))
    assert statuses(plans) == [(1, "approved"), (2, "draft")]
    assert [t.status for t in plans.todos] == ["pending", "pending"]
    plans.approve(approved.plan_id, 2)
    assert statuses(plans) == [(1, "superseded"), (2, "approved")]
    assert [(t.id, t.status) for t in plans.todos] == [
        ("1", "cancelled"),
        ("2", "cancelled"),
        ("1-2", "pending"),
    ]


def test_only_the_draft_that_was_shown_can_be_approved() -> None:
    plans = Plans()
    plans.propose(draft("one"))
    plans.propose(draft("two"))
    for plan_id, revision in ((plans.revisions[0].plan_id, 1), ("other", 2)):
        with pytest.raises(UserError) as caught:
            plans.approve(plan_id, revision)
        assert caught.value.code == "stale_plan"


def test_a_plan_is_completed_with_its_last_todo_and_the_next_is_another() -> None:
    plans = Plans()
    plans.propose(draft("one"))
    plans.approve(plans.revisions[0].plan_id, 1)
    assert plans.settle() is None
    plans.todos[0].status = "completed"
    done = plans.settle()
    assert done is not None
    assert done.status == "completed"
    new = plans.propose(draft("two"))
    assert (new.revision, new.plan_id == done.plan_id) == (2, False)


def test_links_to_todos_that_do_not_exist_are_refused() -> None:
    plans = Plans()
    with pytest.raises(ToolError, match="there are no todos x"):
        plans.propose(draft({"text": "s", "todo_ids": ["x"]}))
    assert plans.revisions == []


def test_the_text_for_the_model_has_every_part() -> None:
    plans = Plans([], [item("a")])
    steps = {"id": "s1", "text": "do", "todo_ids": ["a"]}
    plan = plans.propose(draft(steps, constraints=["fast"], open_questions=["why?"]))
    text = rendered(plan)
    assert text == "Goal: g\nSteps:\ns1. do (todos: a)\nConstraints:\n- fast\nOpen:\n- why?"
    assert "approved revision 1" in approved_text(plan)


# ---------------------------------------------------------------------------- in a turn


async def test_a_plan_is_drafted_approved_carried_out_and_completed(b: Bench) -> None:
    b.session.mode = "plan"
    b.fake.script = play(
        answer(Call("plan", draft("look", "tell", goal="find the answer"))),
        answer("Here is my plan."),
        answer(todo(("1", "", "completed"), ("2", "", "completed"), merge=True)),
        answer(Call("plan", {})),
        answer("Done."),
    )
    assert (await b.say("plan it")).status == "completed"  # pyright: ignore
    update = b.facts("plan_update")[0]
    assert isinstance(update, facts.PlanUpdate)
    assert (update.revision, update.status, update.goal) == (1, "draft", "find the answer")
    b.session.approve_plan(update.plan_id, 1)
    assert b.session.mode == "build"
    assert (await b.say("go")).status == "completed"  # pyright: ignore
    kinds = [p.kind for p in b.messages[4].parts if isinstance(p, NoticePart)]
    assert kinds == ["mode", "plan", "todo"]
    assert "The person approved revision 1" in raw(b.fake.bodies[2])
    assert raw(b.fake.bodies[-1]).count("The person approved revision 1") == 1
    last = b.facts("plan_update")[-1]
    assert isinstance(last, facts.PlanUpdate)
    assert last.status == "completed"
    assert b.session.plans[-1].status == "completed"
    results = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert results[-1].shown == '{"plan":null}'
    assert b.fake.refusals == []


async def test_words_of_consent_approve_nothing_and_the_plan_goes_on_waiting(b: Bench) -> None:
    async def write(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise AssertionError("plan mode writes nothing")

    spec = ToolSpec(name="write_it", description="", parameters=object_schema({}))
    b.tools = b.tools.plus([Tool(spec=spec, effects=frozenset({"write"}), run=write)])
    b.session.mode = "plan"
    b.fake.script = play(
        answer(Call("plan", draft("write it"))),
        answer("Shall I?"),
        answer(Call("write_it")),
        answer("Please approve the plan."),
    )
    await b.say("plan it")
    await b.say("go ahead")
    assert b.session.mode == "plan"
    assert [plan.status for plan in b.session.plans] == ["draft"]
    results = [p for m in b.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert "this session is in plan mode" in results[-1].shown
    assert "ask them to approve it" in results[-1].shown
    assert not [fact for fact in b.facts("plan_update") if fact.status == "approved"]  # type: ignore[attr-defined] # they are plan updates


async def test_a_bad_plan_is_explained_and_changes_nothing(one: Bench) -> None:
    one.fake.script = play(
        answer(Call("plan", {"goal": "g"}), Call("plan", {"goal": "g", "steps": []})),
        answer("ok"),
    )
    await one.say("plan it")
    shown = [p.shown for m in one.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert "`steps` is required" in shown[0]
    assert "at least 1 entries" in shown[1]
    assert one.session.plans == []
