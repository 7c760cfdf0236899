"""Making the context shorter because the person asks for it."""

import asyncio
from pathlib import Path

import pytest

from silu.app import App
from silu.fakes import Answer, answer, play
from silu.fakes.script import Asked, Think
from silu.types import api
from silu.types import frames as f
from silu.types.errors import UserError
from tests.app.vendor import REF, cid, house, say

pytestmark = pytest.mark.anyio

LONG = "A long answer about many things. " * 60


def talker(asked: Asked) -> Answer:
    """Answers at length; a transcript to be noted down gets notes."""
    if "as a transcript" in str(asked.body["messages"][0]):
        return answer("NOTES: the person likes blue.")
    return answer(Think("Let me think about that."), LONG)


async def settled(app: App, session_id: str) -> None:
    for run in await app.engine.list(session_id):
        await app.engine.wait(run.run_id)


async def compacted(app: App, session_id: str) -> list[str]:
    client = app.hub.client()
    await client.subscribe(session_id)
    text = "".join(out.data.decode() for out in await client.take())
    client.close()
    states = ("done", "gained_nothing", "failed")
    return [state for state in states if f'"status":"{state}","before_tokens"' in text]


async def test_a_compaction_on_demand_keeps_history_and_shortens_what_is_sent(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, talker) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        for word in "abcdefgh":
            await app.engine.wait(await say(app, session.id, f"{word}, please"))
        before = (await app.calls(session.id)).calls[-1]
        await app.compact(session.id, f.Compact(client_id=cid()))
        await settled(app, session.id)
        assert await compacted(app, session.id) == ["done"]
        summary = (await app.calls(session.id)).calls[-1]
        assert summary.purpose == "summary"
        assert summary.resolution.effective == "off"
        assert "NOTES" not in summary.body
        await app.engine.wait(await say(app, session.id, "five"))
        after = (await app.calls(session.id)).calls[-1]
        assert "NOTES: the person likes blue." in after.body
        assert len(after.body) < len(before.body)
        assert after.body.count("A long answer") < before.body.count("A long answer")
        page = await app.messages(session.id)
        assert [m.role for m in page.messages] == ["user", "assistant"] * 9


async def test_the_same_wish_sent_twice_compacts_once(tmp_path: Path) -> None:
    async with house(tmp_path, talker) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        for word in ("one", "two", "three"):
            await app.engine.wait(await say(app, session.id, word))
        wish = f.Compact(client_id=cid())
        await app.compact(session.id, wish)
        await app.compact(session.id, wish)
        await settled(app, session.id)
        calls = (await app.calls(session.id)).calls
        assert [call.purpose for call in calls].count("summary") == 1


async def test_a_short_conversation_gains_nothing_and_loses_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, play(answer("Hi."))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        with pytest.raises(UserError) as nothing:
            await app.compact(session.id, f.Compact(client_id=cid()))
        assert nothing.value.code == "nothing_to_compact"
        await app.engine.wait(await say(app, session.id, "Hello"))
        await app.compact(session.id, f.Compact(client_id=cid()))
        await settled(app, session.id)
        assert await compacted(app, session.id) in (["gained_nothing"], ["done"])
        await app.engine.wait(await say(app, session.id, "Again"))
        assert "Hello" in (await app.calls(session.id)).calls[-1].body


async def test_a_compaction_is_stopped_within_a_second(tmp_path: Path) -> None:
    def slow(asked: Asked) -> Answer:
        made = talker(asked)
        if "as a transcript" in str(asked.body["messages"][0]):
            return answer("Notes. " * 4000)
        return made

    async with house(tmp_path, slow) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        for word in ("one", "two", "three"):
            await app.engine.wait(await say(app, session.id, word))
        await app.compact(session.id, f.Compact(client_id=cid()))
        runs = await app.engine.list(session.id)
        assert await app.cancel(session.id, f.Cancel(client_id=cid()))
        async with asyncio.timeout(2):
            await app.engine.wait(runs[0].run_id)
        assert "done" not in await compacted(app, session.id)
        await app.engine.wait(await say(app, session.id, "four"))
        assert "one" in (await app.calls(session.id)).calls[-1].body
