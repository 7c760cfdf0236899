"""What a session's system text is made from, and how a change of it comes into force."""

import asyncio
from pathlib import Path

import pytest

from silu.app import App
from silu.fakes import answer, play
from silu.types import api
from tests.app.vendor import REF, house, say

pytestmark = pytest.mark.anyio


async def write(folder: str, text: str) -> None:
    await asyncio.to_thread((Path(folder) / "AGENTS.md").write_text, text)


async def system_of(app: App, session_id: str) -> str:
    """The system text of the newest call, as sent."""
    calls = (await app.calls(session_id)).calls
    return calls[-1].body.split('"role":"user"')[0]


async def notices(app: App, session_id: str) -> list[str]:
    client = app.hub.client()
    await client.subscribe(session_id)
    text = "".join(out.data.decode() for out in await client.take())
    client.close()
    return [word for word in ("rules_read", "rules_changed") if word in text]


async def test_agents_md_is_followed_shown_and_changed_only_with_the_persons_word(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, play(*[answer(str(n)) for n in range(4)])) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        await write(session.workspace, "Use tabs.")
        await app.engine.wait(await say(app, session.id, "one"))
        assert "Use tabs." in await system_of(app, session.id)
        assert await notices(app, session.id) == ["rules_read"]
        first = await system_of(app, session.id)

        await write(session.workspace, "Use spaces.")
        await app.engine.wait(await say(app, session.id, "two"))
        assert await system_of(app, session.id) == first
        assert await notices(app, session.id) == ["rules_read", "rules_changed"]

        await app.reload_session(session.id)
        await app.engine.wait(await say(app, session.id, "three"))
        assert "Use spaces." in await system_of(app, session.id)
        again = await system_of(app, session.id)
        await app.engine.wait(await say(app, session.id, "four"))
        assert await system_of(app, session.id) == again


@pytest.mark.parametrize("kind", ["link", "folder", "binary", "empty"])
async def test_what_is_no_file_of_the_workspace_gives_no_rules(tmp_path: Path, kind: str) -> None:
    async with house(tmp_path, play(answer("ok"))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        file = Path(session.workspace) / "AGENTS.md"
        outside = tmp_path / "secret.md"
        await asyncio.to_thread(outside.write_text, "SECRET")
        match kind:
            case "link":
                await asyncio.to_thread(file.symlink_to, outside)
            case "folder":
                await asyncio.to_thread(file.mkdir)
            case "binary":
                await asyncio.to_thread(file.write_bytes, b"SECRET\0")
            case _:
                await asyncio.to_thread(file.write_text, " \n")
        await app.engine.wait(await say(app, session.id, "hello"))
        assert "SECRET" not in await system_of(app, session.id)
        assert "# AGENTS.md" not in await system_of(app, session.id)


async def test_a_long_agents_md_is_cut_and_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, play(answer("ok"))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        await write(session.workspace, "x" * 40_000)
        await app.engine.wait(await say(app, session.id, "hello"))
        system = await system_of(app, session.id)
        assert "AGENTS.md is longer" in system
        assert "x" * 32_001 not in system
