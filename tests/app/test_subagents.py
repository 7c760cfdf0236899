"""Sub-agents: a call works in a session of its own, and its run waits without a coroutine."""

import asyncio
from pathlib import Path

import pytest

from silu.app import App
from silu.fakes import Answer, Call, answer
from silu.fakes.script import Asked, Think
from silu.types import api
from silu.types import frames as f
from silu.types.errors import UserError
from tests.app.vendor import REF, cid, house, say, until_waiting

pytestmark = pytest.mark.anyio


def task(prompt: str, **more: str) -> Call:
    return Call("task", {"title": prompt[:20], "prompt": prompt, **more})


def is_child(asked: Asked) -> bool:
    return "sub-agent: another agent" in str(asked.body["messages"][0])


def boss(asked: Asked) -> Answer:
    """Gives two pieces of work at once, then passes on what came back."""
    if is_child(asked):
        return answer(Think("Working on it."), f"Done: {asked.user.splitlines()[-1]}")
    if asked.results:
        return answer("They say " + " and ".join(asked.results))
    return answer(Think("Two at once."), task("count apples"), task("count pears"))


async def children_of(app: App, session_id: str) -> list[api.SessionView]:
    ids = await app.store.family(session_id)
    return [await app.session(one) for one in ids if one != session_id]


async def test_two_sub_agents_answer_and_the_run_goes_on_with_both(tmp_path: Path) -> None:
    async with house(tmp_path, boss) as app:
        session = await app.create_session(api.SessionCreate(model=REF, level="high"))
        await app.engine.wait(await say(app, session.id, "Count fruit"))
        page = await app.messages(session.id)
        assert page.messages[-1].content == ("They say Done: count apples and Done: count pears")
        children = await children_of(app, session.id)
        assert [child.title for child in children] == ["count apples", "count pears"]
        for child in children:
            assert child.workspace == session.workspace
            assert child.level.effective == "high"
            assert child.parent_id == session.id
            asked = (await app.calls(child.id)).calls[0].body
            assert "Count fruit" not in asked
        listed = {item.id for item in (await app.list_sessions()).sessions}
        assert listed == {session.id}


async def test_a_sub_agent_inherits_the_mode_and_what_it_asks_reaches_the_person(
    tmp_path: Path,
) -> None:
    def script(asked: Asked) -> Answer:
        if not is_child(asked):
            return answer(f"So: {asked.results[0]}") if asked.results else answer(task("write"))
        if asked.results:
            return answer(asked.results[0])
        return answer(Call("write_file", {"path": "a.txt", "content": "one\n"}))

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Go")
        wait = await until_waiting(app, session.id)
        assert (wait.type, wait.data["name"]) == ("approval_request", "write_file")
        assert (await app.list_sessions()).sessions[0].waiting
        await app.approve(
            session.id,
            f.Approve(client_id=cid(), approval_id=wait.data["approval_id"], decision="allow"),
        )
        await app.engine.wait(run)
        assert (Path(session.workspace) / "a.txt").read_text() == "one\n"
        assert not (await app.session(session.id)).waits
        assert not (await app.list_sessions()).sessions[0].waiting

        other = await app.create_session(api.SessionCreate(model=REF, mode="plan"))
        await app.engine.wait(await say(app, other.id, "Go"))
        assert not (Path(other.workspace) / "a.txt").exists()
        assert "plan mode" in (await app.messages(other.id)).messages[-1].content


async def test_the_switch_to_plan_mode_holds_for_sub_agents_at_work(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if not is_child(asked):
            return answer("ok") if asked.results else answer(task("write"))
        if asked.results:
            return answer(asked.results[0])
        return answer(Call("write_file", {"path": "a.txt", "content": "one\n"}))

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Go")
        wait = await until_waiting(app, session.id)
        await app.set_mode(session.id, f.SetMode(client_id=cid(), mode="plan"))
        await app.approve(
            session.id,
            f.Approve(client_id=cid(), approval_id=wait.data["approval_id"], decision="allow"),
        )
        await app.engine.wait(run)
        assert not (Path(session.workspace) / "a.txt").exists()


async def test_stopping_the_run_stops_its_sub_agents(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if is_child(asked):
            return answer(Call("ask_user", {"question": "Which?"}))
        return answer(task("one"), task("two"))

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Go")
        async with asyncio.timeout(10):
            while len((await app.session(session.id)).waits) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await app.cancel(session.id, f.Cancel(client_id=cid()))
        async with asyncio.timeout(5):
            await app.engine.wait(run)
        assert await app.engine.list() == []


async def test_a_restart_loses_no_sub_agent_and_asks_nothing_twice(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if not is_child(asked):
            return answer(f"So: {asked.results[0]}") if asked.results else answer(task("ask"))
        if asked.results:
            return answer(f"They said {asked.results[0]}")
        return answer(Call("ask_user", {"question": "Which colour?"}))

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Go")
        wait = await until_waiting(app, session.id)
    async with house(tmp_path, script) as app:
        again = await until_waiting(app, session.id)
        assert again == wait
        answered = f.AnswerQuestion(
            client_id=cid(), question_id=wait.data["question_id"], answer="blue"
        )
        await app.answer_question(session.id, answered)
        await app.engine.wait(run)
        last = (await app.messages(session.id)).messages[-1].content
        assert last == "So: They said The person answered: blue"
        assert len(await children_of(app, session.id)) == 1


async def test_sub_agents_of_sub_agents_have_none(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        names = [tool["function"]["name"] for tool in asked.body["tools"]]
        if asked.results:
            return answer(asked.results[0])
        return answer(task("deeper")) if "task" in names else answer("at the bottom")

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        await app.engine.wait(await say(app, session.id, "Go"))
        assert (await app.messages(session.id)).messages[-1].content == "at the bottom"
        assert len(await children_of(app, session.id)) == 2
        await app.delete_session(session.id)
        for child in await app.store.family(session.id):
            with pytest.raises(UserError):
                await app.session(child)


async def test_a_sub_agent_that_fails_is_told_to_the_model(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if is_child(asked):
            return answer("")
        return answer(asked.results[0]) if asked.results else answer(task("nothing"))

    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        await app.engine.wait(await say(app, session.id, "Go"))
        last = (await app.messages(session.id)).messages[-1].content
        assert last.startswith("The sub-agent ended incomplete (no_answer)")
