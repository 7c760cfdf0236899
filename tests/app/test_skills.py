"""Skills: found in their folders, loaded on demand, seen from start to end, kept after a reload."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silu.app import App
from silu.fakes import Answer, Call, answer, play
from silu.fakes.script import Asked
from silu.types import api
from silu.types import frames as f
from tests.app.vendor import REF, cid, house, say

pytestmark = pytest.mark.anyio

TABLE = "| a |\n|-|\n"


def skill(folder: Path, name: str, text: str, **fields: str) -> None:
    place = folder / name
    place.mkdir(parents=True)
    head = "\n".join(f"{key}: {value}" for key, value in {"name": name, **fields}.items())
    (place / "SKILL.md").write_text(f"---\n{head}\n---\n{text}")


async def facts_of(app: App, session_id: str) -> list[dict[str, Any]]:
    return [
        {"type": frame.type, **json.loads(bytes(frame.data))}
        for frame in await app.store.facts(session_id, since=-1)
        if frame.type.startswith("skill_")
    ]


async def run(app: App, text: str = "Go", **wish: Any) -> api.SessionView:
    session = await app.create_session(api.SessionCreate(model=REF, **wish))
    await app.engine.wait(await say(app, session.id, text))
    return await app.session(session.id)


async def test_a_skill_is_listed_started_followed_and_finished(tmp_path: Path) -> None:
    skill(tmp_path / "config" / "skills", "dance", "Step left.", description="How to dance")
    (tmp_path / "config" / "skills" / "dance" / "steps.md").write_text("one two three")
    script = play(
        answer(Call("skill", {"action": "start", "name": "dance", "arguments": "waltz"})),
        answer(Call("skill", {"action": "read", "name": "dance", "file": "steps.md"})),
        answer(Call("skill", {"action": "progress", "step": "left", "percent": 50})),
        answer(Call("skill", {"action": "finish", "result": TABLE, "result_type": "table"})),
        answer("Danced."),
    )
    async with house(tmp_path, script) as app:
        session = await run(app)
        calls = (await app.calls(session.id)).calls
        assert "- dance: How to dance" in calls[0].body
        assert "Step left." not in calls[0].body
        assert "Step left." in calls[1].body and "steps.md" in calls[1].body
        assert "one two three" in calls[2].body
        told = await facts_of(app, session.id)
        assert [fact["type"] for fact in told] == ["skill_start", "skill_progress", "skill_end"]
        assert (told[1]["step"], told[1]["percent"]) == ("left", 50)
        assert (told[2]["status"], told[2]["result_type"]) == ("done", "table")
        last = (await app.messages(session.id)).messages[-1]
        (kept,) = last.metadata["skillExecutions"]
        assert (kept["name"], kept["status"], kept["result"]) == ("dance", "done", TABLE)
        assert kept["started_at"] <= kept["ended_at"]


async def test_what_nobody_finishes_ends_with_the_run(tmp_path: Path) -> None:
    start = Call("skill", {"action": "start", "name": "review-changes"})
    async with house(tmp_path, play(answer(start), answer("Reviewed."))) as app:
        session = await run(app)
        told = await facts_of(app, session.id)
        assert [fact["type"] for fact in told] == ["skill_start", "skill_end"]
        assert told[1]["status"] == "done"


async def test_a_forked_skill_runs_in_a_sub_agent_whose_todos_are_its_progress(
    tmp_path: Path,
) -> None:
    skill(tmp_path / "config" / "skills", "count", "Count well.", description="c", context="fork")

    def script(asked: Asked) -> Answer:
        if "sub-agent: another agent" not in str(asked.body["messages"][0]):
            start = Call("skill", {"action": "start", "name": "count", "arguments": "apples"})
            return answer(f"It says {asked.results[0]}") if asked.results else answer(start)
        if asked.results:
            return answer("Seven apples.")
        todos = [
            {"id": "1", "content": "look", "status": "completed"},
            {"id": "2", "content": "count", "status": "completed"},
        ]
        return answer(Call("todo", {"todos": todos}))

    async with house(tmp_path, script) as app:
        session = await run(app)
        assert (await app.messages(session.id)).messages[-1].content == "It says Seven apples."
        told = await facts_of(app, session.id)
        assert [fact["type"] for fact in told] == ["skill_start", "skill_progress", "skill_end"]
        assert told[1]["percent"] == 100
        assert (told[2]["status"], told[2]["result"]) == ("done", "Seven apples.")


async def test_a_projects_skills_are_read_once_the_person_trusts_the_folder(
    tmp_path: Path,
) -> None:
    script = play(answer("1"), answer("2"))
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        skills = Path(session.workspace) / ".agents" / "skills"
        await asyncio.to_thread(skill, skills, "evil", "Do harm.", description="EVIL")
        listed = await app.skills(session.id)
        assert listed.untrusted
        assert "evil" not in {one.name for one in listed.skills}
        await app.engine.wait(await say(app, session.id, "one"))
        assert "EVIL" not in (await app.calls(session.id)).calls[-1].body
        await app.patch_session(session.id, api.SessionPatch(workspace_trusted=True))
        listed = await app.skills(session.id)
        assert {one.name: one.source for one in listed.skills}["evil"] == "project"
        await app.reload_session(session.id)
        await app.engine.wait(await say(app, session.id, "two"))
        assert "EVIL" in (await app.calls(session.id)).calls[-1].body


async def test_bad_skills_are_reported_and_the_others_work(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "skills"
    skill(folder, "good", "Text.", description="d")
    skill(folder, "nameless", "Text.")
    skill(folder, "empty", "", description="d")
    skill(folder, "huge", "x" * 200_000, description="d")
    (folder / "binary").mkdir()
    (folder / "binary" / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "SKILL.md").write_text("---\nname: out\ndescription: d\n---\nx")
    (folder / "linked").symlink_to(tmp_path / "outside")
    async with house(tmp_path, play(answer("ok"))) as app:
        found = await app.skills()
        names = {one.name for one in found.skills if one.source == "person"}
        assert names == {"good"}
        assert len(found.problems) == 5
        assert {"review-changes", "research-report"} <= {one.name for one in found.skills}


async def test_faulty_calls_are_told_to_the_model(tmp_path: Path) -> None:
    script = play(
        answer(Call("skill", {"action": "start", "name": "gone"})),
        answer(Call("skill", {"action": "finish", "result": "x"})),
        answer(Call("skill", {"action": "read", "name": "review-changes", "file": "../x"})),
        answer(Call("skill", {"name": "review-changes"})),
        answer("Sorry."),
    )
    async with house(tmp_path, script) as app:
        session = await run(app)
        shown = str((await app.calls(session.id)).calls[-1].body)
        for words in ("there is no skill", "no skill is at work", "has no file", "bad arguments"):
            assert words in shown
        assert await facts_of(app, session.id) == []


async def test_a_failed_skill_is_an_error(tmp_path: Path) -> None:
    script = play(
        answer(Call("skill", {"action": "start", "name": "research-report"})),
        answer(Call("skill", {"action": "finish", "failed": True, "result": "No sources."})),
        answer("Sorry."),
    )
    async with house(tmp_path, script) as app:
        session = await run(app)
        end = (await facts_of(app, session.id))[-1]
        assert (end["status"], end["result_type"], end["result"]) == (
            "error",
            "error",
            "No sources.",
        )


async def test_a_stopped_run_ends_its_skill_as_failed(tmp_path: Path) -> None:
    script = play(
        answer(Call("skill", {"action": "start", "name": "review-changes"})),
        answer(Call("ask_user", {"question": "Which?"})),
    )
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run_id = await say(app, session.id, "Go")
        async with asyncio.timeout(10):
            while not (await app.session(session.id)).waits:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await app.cancel(session.id, f.Cancel(client_id=cid()))
        await app.engine.wait(run_id)
        assert [fact.get("status") for fact in await facts_of(app, session.id)][-1] == "error"
