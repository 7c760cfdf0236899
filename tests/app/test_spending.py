"""What a session has used, and what its context is filled with, over the wired house."""

from pathlib import Path

import pytest

from silu.fakes import answer, play
from silu.fakes.script import Call, Think
from silu.store.spending import Wanted
from silu.types import api
from silu.types.errors import UserError
from tests.app.vendor import REF, house, say

pytestmark = pytest.mark.anyio


async def test_the_parts_of_the_context_make_up_what_the_meter_shows(tmp_path: Path) -> None:
    script = play(answer(Think("hm"), "one"), answer("two"))
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        empty = await app.context(session.id)
        assert (empty.source, empty.used_tokens, empty.system) == ("unknown", None, None)
        for text in ("hello", "and now?"):
            await app.engine.wait(await say(app, session.id, text))
        report = await app.context(session.id)
        view = await app.session(session.id)
        assert view.tokens is not None
        assert report.used_tokens == view.tokens.context.used_tokens
        parts = (report.system, report.tools, report.history, report.todo, report.thinking)
        told = [part for part in parts if part is not None]
        assert len(told) == 5 and report.used_tokens is not None
        assert abs(sum(told) - report.used_tokens) <= 3

        used = await app.usage(Wanted(by="session", session_id=session.id))
        assert (used.total.calls, used.rows[0].key) == (2, session.id)
        with pytest.raises(UserError, match="no session"):
            await app.usage(Wanted(session_id="s_none"))


async def test_the_thoughts_that_went_back_with_a_call_are_told(tmp_path: Path) -> None:
    script = play(answer(Think("look first"), Call("todo", {})), answer("Done."))
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF, level="high"))
        await app.engine.wait(await say(app, session.id, "go"))
        first, second = sorted((await app.calls(session.id)).calls, key=lambda call: call.step)
        assert (await app.echoed(session.id, first.id)).thoughts == []
        (back,) = (await app.echoed(session.id, second.id)).thoughts
        assert (back.chars, back.sealed) == (len("look first"), False)
        with pytest.raises(UserError, match="no such call"):
            await app.echoed(session.id, "c_none")
