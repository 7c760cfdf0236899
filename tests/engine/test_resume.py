"""What happens to a run when its process stops, dies, or waits for a person."""

import asyncio

import msgspec
import pytest

from silu.agent.ports import Stale, TurnState
from silu.engine import Done, Parked, TurnPorts
from silu.store import Store, runs
from silu.types import facts as f
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import ImagePart, TextPart
from silu.types.todos import Todo
from tests.engine.turns import (
    Step,
    call_record,
    done,
    finish,
    results,
    run_start,
    simple_turn,
)
from tests.engine.viewer import Viewer
from tests.engine.workspace import House, steered, until

pytestmark = pytest.mark.anyio

_LEVEL = f.LevelState(requested="low", effective="low", source="session", notes=[])


async def test_a_run_that_is_stopped_with_the_process_goes_on_in_the_next(house: House) -> None:
    states: list[TurnState] = []

    async def first(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        ports.events.fact(run_start(state.user_message_id))
        step = Step(ports, 0, state.attempt + 1)
        await step.think(["whole step"])
        await step.end()
        cut = Step(ports, 1, 1)
        await cut.think(["closed thought"])
        await cut.say(["half an ans"] * 1000, pause=0.01)
        return Done()

    async def second(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        states.append(state)
        step = Step(ports, state.steps_done, state.attempt + 1)
        await step.say(["the answer"])
        await step.end()
        return await finish(ports)

    house.turn = first
    session = await house.session()
    viewer = Viewer(house.hub.client(), session)
    await viewer.join()
    sent = await house.engine.send(session, "Hello")
    await viewer.read_until("content_start")
    await asyncio.sleep(0.1)
    await house.close()
    store = await Store.open(house.folder / "silu.db")
    assert (await store.session(session)).item.is_running
    blocks = (await store.snapshot(session)).blocks
    assert [block.text[:11] for block in blocks] == ["whole step", "closed thou", "half an ans"]
    await store.close()

    house.turn = second
    await house.open()
    viewer.client = house.hub.client()
    await viewer.join()
    await viewer.read_until("done")
    (state,) = states
    assert (state.run_id, state.steps_done) == (sent.run_id, 1)
    assert state.attempt >= 1
    assert [message.role for message in state.history] == ["user", "assistant"]
    page = await house.store.messages(session)
    assert [m.content for m in page.messages] == ["Hello", "", "the answer"]
    assert page.messages[-1].thinking_content is None
    closed = [fact for fact in viewer.facts if fact["type"] == "content_done"]
    assert [fact["data"]["interrupted"] for fact in closed] == [True, False]
    assert list(viewer.texts.values()) == ["whole step", "the answer"]
    viewer.client.close()


async def test_a_graceful_stop_lets_a_turn_end(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        await asyncio.sleep(0.1)
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    stopping = asyncio.create_task(house.engine.stop(grace=5))
    await asyncio.sleep(0.01)
    with pytest.raises(UserError) as told:
        await house.engine.send(session, "too late")
    assert told.value.code == "stopping"
    await stopping
    run = await house.store.read(lambda tx: runs.read(tx, sent.run_id))
    assert run is not None
    assert (run.status, run.outcome) == ("done", "completed")


async def test_queued_turns_begin_after_a_restart(house: House) -> None:
    async def forever(_ports: TurnPorts) -> Done:
        await asyncio.sleep(60)
        return Done()

    house.turn = forever
    session = await house.session()
    await house.engine.send(session, "one")
    second = await house.engine.send(session, "two")
    await house.close()
    house.turn = simple_turn
    await house.open()
    await house.engine.wait(second.run_id)
    texts = [m.content for m in (await house.store.messages(session)).messages]
    assert texts == ["one", "Here you are.", "two", "Here you are."]


async def test_a_run_that_never_gets_anywhere_is_ended_in_the_end(house: House) -> None:
    said = asyncio.Event()

    async def forever(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        ports.events.fact(run_start(state.user_message_id))
        step = Step(ports, 0, state.attempt + 1)
        asyncio.get_running_loop().call_later(0.05, said.set)
        await step.say(["x"] * 10_000, pause=0.01)
        return Done()

    house.turn = forever
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    house.most_stalls = 2
    for _ in range(4):
        async with asyncio.timeout(10):
            while not said.is_set() and await house.engine.list(session):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        said.clear()
        await house.close()
        await house.open()
    await house.engine.wait(sent.run_id)
    last = (await house.store.facts(session, 0))[-1]
    data = msgspec.json.decode(last.data)
    assert (data["status"], data["reason"]) == ("interrupted", "restart")
    answer = (await house.store.messages(session)).messages[-1]
    assert set(answer.content) == {"x"}
    assert answer.segments[-1].interrupted


async def test_open_calls_of_a_cut_step_are_told_to_the_next_attempt(house: House) -> None:
    seen: list[dict[str, str]] = []

    async def first(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        for call in ("a", "b", "c"):
            await step.call(call, "work", "{}")
        await step.end()
        await ports.journal.tool_started("a")
        await ports.journal.tool_finished(results(step, "a"), step=0)
        await ports.journal.tool_started("b")
        await asyncio.sleep(60)
        return Done()

    async def second(ports: TurnPorts) -> Done:
        seen.append(dict((await ports.journal.load()).open_calls))
        raise RuntimeError("and this attempt fails")

    house.turn = first
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await asyncio.sleep(0.2)
    await house.close()
    house.turn = second
    await house.open()
    await house.engine.wait(sent.run_id)
    assert seen == [{"b": "started", "c": "proposed"}]
    (answer,) = [m for m in (await house.store.messages(session)).messages if m.role != "user"]
    assert [(s.call_id, s.status) for s in answer.segments] == [
        ("a", "ok"),
        ("b", "unknown"),
        ("c", "interrupted"),
    ]
    facts = [fact for fact in await house.store.facts(session, 0) if fact.type == "tool_result"]
    assert len(facts) == 2
    history = await house.store.history(session)
    assert [len(m.parts) for m in history if m.role == "tool"] == [3]


async def test_a_parked_run_holds_no_task_and_goes_on_when_its_wait_is_over(house: House) -> None:
    attempts: list[int] = []

    async def turn(ports: TurnPorts) -> Done | Parked:
        attempts.append(1)
        if len(attempts) == 1:
            ports.events.fact(f.Question(question_id="q1", text="Which?", choices=["a", "b"]))
            return Parked("q1")
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    queued = await house.engine.send(session, "later")
    await house.until_runs(session, ["parked", "queued"])
    state = await house.store.session(session)
    assert state.item.waiting
    assert [wait.data["question_id"] for wait in state.waits] == ["q1"]
    await house.close()
    await house.open()
    assert attempts == [1]
    with pytest.raises(UserError) as told:
        await house.engine.resolve_wait(session, "q9", "a")
    assert told.value.code == "unknown_wait"
    await house.engine.resolve_wait(session, "q1", "a", details={"answer": "a"}, client_id="k")
    await house.engine.resolve_wait(session, "q1", "a", details={"answer": "a"}, client_id="k")
    await house.engine.wait(sent.run_id)
    await house.engine.wait(queued.run_id)
    state = await house.store.session(session)
    assert not state.item.waiting
    assert state.waits == []
    assert [fact.type for fact in await house.store.facts(session, 0)].count("wait_resolved") == 1


async def test_a_wait_that_ends_while_the_process_is_down_is_seen_at_the_start(
    house: House,
) -> None:
    waits: list[int] = []

    async def turn(ports: TurnPorts) -> Done | Parked:
        waits.append(1)
        if len(waits) == 1:
            ports.events.fact(f.Question(question_id="q1", text="Which?", choices=[]))
            return Parked("q1")
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.until_runs(session, ["parked"])
    await house.engine.stop()
    await house.engine.resolve_wait(session, "q1", "a")
    await house.close()
    await house.open()
    await house.engine.wait(sent.run_id)
    assert len(waits) == 2


async def test_an_answer_that_comes_before_the_run_is_parked_is_not_lost(house: House) -> None:
    waits: list[int] = []

    async def turn(ports: TurnPorts) -> Done | Parked:
        waits.append(1)
        if len(waits) == 1:
            ports.events.fact(f.Question(question_id="q1", text="Which?", choices=[]))
            await asyncio.sleep(0.1)
            await house.engine.resolve_wait(ports.session_id, "q1", "a")
            return Parked("q1")
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    async with asyncio.timeout(5):
        await house.engine.wait(sent.run_id)
    assert len(waits) == 2


async def test_a_parked_run_can_be_cancelled(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done | Parked:
        ports.events.fact(f.Question(question_id="q1", text="Which?", choices=[]))
        return Parked("q1")

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.until_runs(session, ["parked"])
    over = asyncio.create_task(house.engine.wait(sent.run_id))
    await asyncio.sleep(0.05)
    assert await house.engine.cancel(session)
    await over
    state = await house.store.session(session)
    assert not state.item.is_running


async def test_a_late_process_that_wakes_up_writes_nothing(house: House) -> None:
    """The fence moved while it was paused: its next write raises `Stale`."""
    caught: list[str] = []
    go = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.think(["before"])
        try:
            await asyncio.shield(go.wait())
        except asyncio.CancelledError:
            await go.wait()
        for write in (step.end, lambda: step.say(["ghost"])):
            try:
                await write()
            except Stale:
                caught.append("stale")
        raise Stale

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await asyncio.sleep(0.1)
    # What another process would do:
    await house.store.write(lambda tx: runs.take_up(tx, sent.run_id))
    go.set()
    await until(lambda: len(caught) == 2)
    texts = [m.content for m in (await house.store.messages(session)).messages]
    assert "ghost" not in "".join(texts)


async def test_words_to_a_running_turn_reach_it_once_also_after_a_restart(house: House) -> None:
    heard: list[list[str]] = []

    async def first(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        heard.append(await steered(ports))
        await step.say(["ok"])
        await step.end()
        await asyncio.sleep(60)
        return Done()

    async def second(ports: TurnPorts) -> Done:
        heard.append(ports.runs.take_steering())
        return await simple_turn(ports)

    house.turn = first
    session = await house.session()
    assert not await house.engine.steer(session, "nobody runs")
    sent = await house.engine.send(session, "Hello")
    assert await house.engine.steer(session, "shorter\x00 please", client_id="s1")
    assert await house.engine.steer(session, "shorter\x00 please", client_id="s1")
    await until(lambda: bool(heard))
    await asyncio.sleep(0.1)
    assert await house.engine.steer(session, "and kinder")
    await house.close()
    house.turn = second
    await house.open()
    await house.engine.wait(sent.run_id)
    assert heard == [["shorter\x00 please"], ["and kinder"]]


async def test_level_and_mode_change_inside_a_running_turn(house: House) -> None:
    seen: list[tuple[object, str]] = []
    go = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        seen.append((ports.runs.level(), ports.runs.mode()))
        await go.wait()
        seen.append((ports.runs.level(), ports.runs.mode()))
        return await finish(ports)

    house.turn = turn
    session = await house.session(level="high")
    sent = await house.engine.send(session, "Hello", level=Level.MAX, mode="plan")
    await house.engine.set_level(session, Level.LOW, _LEVEL, client_id="l1")
    await house.engine.set_mode(session, "build")
    await house.engine.set_model(session, "v/other", _LEVEL)
    go.set()
    await house.engine.wait(sent.run_id)
    assert seen == [(None, "plan"), ("low", "build")]
    state = await house.store.session(session)
    assert (state.level, state.model) == ("low", "v/other")
    kinds = [fact.type for fact in await house.store.facts(session, 0)]
    assert {"level_update", "mode_update", "model_update"} <= set(kinds)


async def test_a_turn_starts_from_the_choices_of_its_mode(house: House) -> None:
    states: list[TurnState] = []

    async def turn(ports: TurnPorts) -> Done:
        states.append(await ports.journal.load())
        return await finish(ports)

    house.turn = turn
    session = await house.session(model="v/build", title="t")
    sent = await house.engine.send(session, "plain")
    await house.engine.wait(sent.run_id)
    await house.store.set_model(session, "v/plan", mode="plan")
    await house.store.set_level(session, Level.HIGH, mode="plan")
    sent = await house.engine.send(session, "planned", mode="plan", level=Level.OFF)
    await house.engine.wait(sent.run_id)
    other = await house.session()
    sent = await house.engine.send(other, "no model")
    await house.engine.wait(sent.run_id)
    plain, planned, bare = [state.session for state in states]
    assert (plain.model, plain.level, plain.level_source) == ("v/build", "default", "model")
    assert plain.titled
    assert (planned.model, planned.level, planned.level_source) == ("v/plan", "high", "session")
    assert planned.mode == "plan"
    assert states[1].turn_level == "off"
    assert bare.model == "demo/model"
    assert not bare.titled


async def test_editing_and_asking_again_make_siblings(house: House) -> None:
    house.turn = simple_turn
    session = await house.session(model="v/m")
    blob = await house.store.put_blob(b"png", media_type="image/png")
    picture = ImagePart(media_type="image/png", blob=blob, id="i")
    first = await house.engine.send(session, "one")
    await house.engine.wait(first.run_id)
    second = await house.engine.send(session, "two", parts=[picture])
    await house.engine.wait(second.run_id)
    answer = (await house.store.messages(session)).messages[-1]

    edited = await house.engine.edit(session, second.message_id, "zwei", client_id="e1")
    same = await house.engine.edit(session, second.message_id, "zwei", client_id="e1")
    assert edited == same
    await house.engine.wait(edited.run_id)
    texts = [m.content for m in (await house.store.messages(edited.session_id)).messages]
    assert texts == ["one", "Here you are.", "zwei", "Here you are."]
    asked = (await house.store.history(edited.session_id))[2]
    assert [type(part) for part in asked.parts] == [TextPart, ImagePart]

    again = await house.engine.regenerate(
        session, answer.id, level=Level.MAX, model="v/other", client_id="g1"
    )
    await house.engine.wait(again.run_id)
    assert again.session_id not in {session, edited.session_id}
    sibling = await house.store.session(again.session_id)
    assert (sibling.model, sibling.kind) == ("v/other", "branch")
    texts = [m.content for m in (await house.store.messages(again.session_id)).messages]
    assert texts == ["one", "Here you are.", "two", "Here you are."]
    assert len((await house.store.messages(session)).messages) == 4
    with pytest.raises(UserError):
        await house.engine.edit(session, answer.id, "not mine")
    with pytest.raises(UserError) as told:
        await house.engine.regenerate(session, "m_none")
    assert told.value.code == "unknown_message"


async def test_the_persons_own_todos_are_told_and_kept(house: House) -> None:
    session = await house.session()
    mine = [Todo(id="1", content="milk", status="pending", origin="person")]
    await house.engine.todo_edit(session, mine, client_id="t1")
    await house.engine.todo_edit(session, mine, client_id="t1")
    assert await house.store.todos(session) == mine
    assert len(await house.store.todo_history(session)) == 1


async def test_a_turn_without_an_end_is_ended_for_it(house: House) -> None:
    async def silent(ports: TurnPorts) -> Done:
        await ports.journal.load()
        return Done()

    async def refused(_ports: TurnPorts) -> Done:
        raise UserError("No key.", code="no_key", setting="DEEPSEEK_API_KEY")

    for turn, expected in ((silent, None), (refused, "no_key")):
        house.turn = turn
        session = await house.session()
        sent = await house.engine.send(session, "Hello")
        await house.engine.wait(sent.run_id)
        data = msgspec.json.decode((await house.store.facts(session, 0))[-1].data)
        assert data["status"] == "failed"
        assert data["error"]["code"] == expected
    assert data["error"]["setting"] == "DEEPSEEK_API_KEY"
    await house.engine.wait(sent.run_id)
    await house.engine.wait("r_none")


async def test_a_done_turn_notes_usage_and_skills_on_its_last_answer(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        ports.events.fact(f.SkillStart(skill_id="k", name="n", label="L"))
        ports.events.fact(f.SkillProgress(skill_id="k", step="s", detail=None, percent=50))
        ports.events.fact(
            f.SkillEnd(skill_id="k", status="done", result="r", result_type="markdown")
        )
        ports.events.fact(
            f.PlanUpdate(
                plan_id="p",
                revision=1,
                status="draft",
                goal="g",
                steps=[],
                active_todo_ids=[],
                constraints=[],
                open_questions=[],
            )
        )
        ports.events.fact(
            f.TokenUpdate(
                current=done().usage,
                context=f.ContextUse(used_tokens=5, max_tokens=10, percent=50.0, source="vendor"),
            )
        )
        await step.say(["x"])
        await step.end()
        end = done()
        end.skill_executions = [{"skill_id": "k"}]
        await ports.journal.finish("completed", reason=None, facts=[end])
        return Done()

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    metadata = (await house.store.messages(session)).messages[-1].metadata
    assert metadata["skillExecutions"] == [{"skill_id": "k"}]
    assert metadata["tokenUsage"]["apiCalls"] == 0
    state = await house.store.session(session)
    assert state.plan is not None
    assert (state.plan.goal, state.plan.status) == ("g", "draft")
    assert state.tokens is not None
    assert state.tokens.context.percent == 50.0


async def test_messages_tell_of_their_run_without_its_facts(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        ports.events.fact(run_start(state.user_message_id))
        step = Step(ports, 0, 3)
        await step.say(["x"])
        await step.end()
        await ports.journal.end_step(0, call=call_record(attempt=3, model="demo/other"), facts=[])
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    asked, answered = [m.metadata for m in (await house.store.messages(session)).messages]
    assert (asked["model"], asked["level"]["effective"], asked["mode"]) == (
        "demo/m",
        "high",
        "build",
    )
    assert "status" not in asked
    assert (answered["model"], answered["attempt"]) == ("demo/other", 3)
    assert (answered["level"]["requested"], answered["level"]["effective"]) == ("max", "high")
    assert answered["call"] == {"started_at": 1000, "ended_at": 1250, "duration_ms": 250}
    assert answered["status"] == "completed"
    assert answered["ended_at"] - answered["started_at"] == answered["duration_ms"] >= 0


async def test_a_run_that_failed_before_an_answer_says_so_on_the_persons_message(
    house: House,
) -> None:
    async def turn(ports: TurnPorts) -> Done:
        raise UserError("There is no key.", code="no_key", setting="SOME_API_KEY")

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    (asked,) = (await house.store.messages(session)).messages
    assert asked.metadata["status"] == "failed"
    assert asked.metadata["error"]["setting"] == "SOME_API_KEY"
