"""Agents as files, commands with a slash, and who answers a session and how."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silu.app import App
from silu.app.written import filled
from silu.fakes import Answer, Call, answer, play
from silu.fakes.script import Asked, Think, Trouble
from silu.types import api
from silu.types import frames as f
from silu.types.agents import ThinkingLimit
from silu.types.errors import UserError
from tests.app.vendor import REF, cid, house, say

pytestmark = pytest.mark.anyio


async def put(folder: Path, name: str, text: str) -> None:
    def work() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    await asyncio.to_thread(work)


async def turn(app: App, session_id: str, text: str) -> str:
    run = await say(app, session_id, text)
    await app.engine.wait(run)
    return run


async def body(app: App, session_id: str) -> dict[str, Any]:
    """The newest request, as sent."""
    return json.loads((await app.calls(session_id)).calls[-1].body)


REVIEWER = """---
description: Reads and judges.
model: near/deepseek-v4-flash
level: high
tools: read_file, search_*
max_tokens: 9000
---
You are a reviewer who changes nothing.
"""


async def test_an_agents_file_gives_prompt_level_tools_and_limits(tmp_path: Path) -> None:
    script = play(answer(Call("list_files", {})), answer("done"))
    async with house(tmp_path, script) as app:
        await put(app.settings.paths.agents_folder, "reviewer.md", REVIEWER)
        assert [agent.name for agent in (await app.agents()).agents] == ["silu", "reviewer"]
        session = await app.create_session(api.SessionCreate(agent="reviewer"))
        assert (session.model, session.level.effective) == (REF, "high")
        assert session.level.source == "agent"

        await turn(app, session.id, "judge it")
        sent = await body(app, session.id)
        system = sent["messages"][0]["content"]
        assert system.startswith("You are a reviewer who changes nothing.")
        assert sent["max_tokens"] == 9000
        names = {tool["function"]["name"] for tool in sent["tools"]}
        assert {"read_file", "search_files", "todo"} <= names
        assert not {"write_file", "shell", "list_files"} & names
        page = await app.messages(session.id)
        assert [s.status for m in page.messages for s in m.segments if s.name == "list_files"] == [
            "error"
        ]


async def test_a_session_changes_its_agent_from_the_next_turn_on(tmp_path: Path) -> None:
    async with house(tmp_path, play(*[answer(str(n)) for n in range(3)])) as app:
        await put(app.settings.paths.agents_folder, "reviewer.md", REVIEWER)
        session = await app.create_session(api.SessionCreate(model=REF))
        await turn(app, session.id, "one")
        view = await app.patch_session(session.id, api.SessionPatch(agent="reviewer"))
        assert (view.agent, view.level.source) == ("reviewer", "agent")
        await turn(app, session.id, "two")
        assert "You are a reviewer" in (await body(app, session.id))["messages"][0]["content"]
        await app.patch_session(session.id, api.SessionPatch(agent="silu", prompt="Rhyme always."))
        await turn(app, session.id, "three")
        system = (await body(app, session.id))["messages"][0]["content"]
        assert "You are silu" in system and "Rhyme always." in system


async def test_an_agent_whose_file_is_gone_answers_nothing_with_more_tools(tmp_path: Path) -> None:
    async with house(tmp_path, play(answer("one"))) as app:
        folder = app.settings.paths.agents_folder
        await put(folder, "reviewer.md", REVIEWER)
        session = await app.create_session(api.SessionCreate(agent="reviewer"))
        await asyncio.to_thread((folder / "reviewer.md").unlink)
        await turn(app, session.id, "hello")
        assert (await app.calls(session.id)).calls == []
        with pytest.raises(UserError, match="no agent reviewer"):
            await app.create_session(api.SessionCreate(agent="reviewer"))


async def test_sampling_and_output_limit_of_a_session_are_sent_and_taken_back(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, play(*[answer(str(n)) for n in range(2)])) as app:
        session = await app.create_session(
            api.SessionCreate(model=REF, level="off", temperature=0.3, top_p=0.9, max_tokens=700)
        )
        await turn(app, session.id, "one")
        sent = await body(app, session.id)
        assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.3, 0.9, 700)
        view = await app.patch_session(
            session.id, api.SessionPatch(temperature=None, top_p=None, max_tokens=None)
        )
        assert view.temperature is None
        await turn(app, session.id, "two")
        sent = await body(app, session.id)
        assert "temperature" not in sent and "top_p" not in sent


@pytest.mark.parametrize("where", ["session", "turn"])
async def test_a_thinking_limit_ends_the_thought_and_the_answer_comes(
    tmp_path: Path, where: str
) -> None:
    def thinker(asked: Asked) -> Answer:
        thinks = asked.body.get("thinking", {}).get("type") == "enabled"
        if not thinks:
            return answer("in time")
        return answer(Think("hm " * 400), "late", trouble=Trouble(after=20, then="silence"))

    limit = ThinkingLimit(tokens=30)
    async with house(tmp_path, thinker) as app:
        session = await app.create_session(
            api.SessionCreate(
                model=REF, level="high", thinking_limit=limit if where == "session" else None
            )
        )
        command = f.Send(
            client_id=cid(), text="why?", thinking_limit=None if where == "session" else limit
        )
        async with asyncio.timeout(8):
            await app.engine.wait((await app.send(session.id, command)).run_id)
        message = (await app.messages(session.id)).messages[-1]
        assert message.content == "in time"
        assert message.thinking_content is not None and "hm" in message.thinking_content


async def test_a_command_is_sent_with_its_arguments_and_its_level(tmp_path: Path) -> None:
    async with house(tmp_path, play(*[answer(str(n)) for n in range(2)])) as app:
        await put(
            app.settings.paths.commands_folder,
            "fix.md",
            "---\ndescription: Fixes.\nlevel: high\n---\nFix issue $1 in $2: $ARGUMENTS.",
        )
        session = await app.create_session(api.SessionCreate(model=REF, level="off"))
        await turn(app, session.id, "/fix 12 'the parser'")
        sent = await body(app, session.id)
        assert "Fix issue 12 in the parser: 12 'the parser'." in sent["messages"][-1]["content"]
        assert sent["thinking"]["type"] == "enabled"
        await turn(app, session.id, "/etc/hosts has what?")
        assert "/etc/hosts has what?" in (await body(app, session.id))["messages"][-1]["content"]


async def test_commands_of_a_folder_are_read_once_the_person_trusts_it(tmp_path: Path) -> None:
    async with house(tmp_path, play(answer("ok"))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        folder = Path(session.workspace) / ".agents" / "commands"
        await put(folder, "deploy.md", "Deploy it.")
        await put(folder, "mine.md", "The project's.")
        await put(app.settings.paths.commands_folder, "mine.md", "The person's.")

        before = await app.commands(session.id)
        assert [c.name for c in before.commands] == ["mine"] and before.untrusted
        view = await app.patch_session(session.id, api.SessionPatch(workspace_trusted=True))
        assert view.workspace_trusted
        after = await app.commands(session.id)
        assert [(c.name, c.source) for c in after.commands] == [
            ("deploy", "project"),
            ("mine", "person"),
        ]
        await turn(app, session.id, "/deploy")
        assert "Deploy it." in (await body(app, session.id))["messages"][-1]["content"]
        await app.patch_session(session.id, api.SessionPatch(workspace_trusted=False))
        assert (await app.commands(session.id)).untrusted


@pytest.mark.parametrize(
    ("text", "arguments", "sent"),
    [
        ("Do it.", "", "Do it."),
        ("Do it.", "now", "Do it.\n\nnow"),
        ("$1 then $2.", "a", "a then ."),
        ("Say $ARGUMENTS", "$1 and it's", "Say $1 and it's"),
        ("$1", "it's fine", "it's"),
    ],
)
def test_arguments_are_filled_in_once(text: str, arguments: str, sent: str) -> None:
    assert filled(text, arguments) == sent
