"""A turn that changes the workspace: asked first, remembered, and taken back."""

import asyncio
from pathlib import Path

import pytest

from silu.app import App
from silu.app.changes import MOST_TEXT
from silu.fakes import Call, answer, play
from silu.fakes.script import Think
from silu.types import api
from silu.types import frames as f
from silu.types.errors import UserError
from silu.types.policy import Rule, RunLimits, Scope
from tests.app.vendor import REF, cid, house, say, until_waiting

pytestmark = pytest.mark.anyio


def writes(path: str, text: str) -> Call:
    return Call("write_file", {"path": path, "content": text})


async def text_of(folder: str, name: str) -> str | None:
    file = Path(folder) / name
    return await asyncio.to_thread(lambda: file.read_text() if file.exists() else None)


async def allow(app: App, session_id: str, *, scope: Scope = "once") -> None:
    wait = await until_waiting(app, session_id)
    await app.approve(
        session_id,
        f.Approve(
            client_id=cid(),
            approval_id=wait.data["approval_id"],
            decision="allow",
            scope=scope,
        ),
    )


async def test_a_write_waits_for_the_person_and_shows_its_diff(tmp_path: Path) -> None:
    script = play(answer(Think("hm"), writes("a.txt", "one\n")), answer("Done."))
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Write")
        wait = await until_waiting(app, session.id)
        assert wait.type == "approval_request"
        assert "+one" in str(wait.data)
        assert await text_of(session.workspace, "a.txt") is None
        await allow(app, session.id)
        await app.engine.wait(run)
        assert await text_of(session.workspace, "a.txt") == "one\n"
        assert (await app.messages(session.id)).messages[-1].content == "Done."


async def test_a_denied_call_tells_the_model_and_changes_nothing(tmp_path: Path) -> None:
    script = play(answer(writes("a.txt", "one\n")), answer("Then not."))
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Write")
        wait = await until_waiting(app, session.id)
        await app.approve(
            session.id,
            f.Approve(
                client_id=cid(),
                approval_id=wait.data["approval_id"],
                decision="deny",
                reason="Not there.",
            ),
        )
        await app.engine.wait(run)
        assert await text_of(session.workspace, "a.txt") is None
        shown = str((await app.messages(session.id)).messages)
        assert "Not there." in shown


async def test_what_was_asked_and_decided_stays_on_record(tmp_path: Path) -> None:
    script = play(
        answer(writes("a.txt", "one\n")), answer("Then not."), answer(writes("b.txt", "two\n"))
    )
    async with house(tmp_path, script) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Write")
        wait = await until_waiting(app, session.id)
        no = f.Approve(
            client_id=cid(),
            approval_id=wait.data["approval_id"],
            decision="deny",
            reason="not that file",
        )
        await app.approve(session.id, no, by="owner (cookie)")
        await app.engine.wait(run)
        run = await say(app, session.id, "Again")
        await until_waiting(app, session.id)
        await app.cancel(session.id, f.Cancel(client_id=cid()))
        await app.engine.wait(run)
        newest, first = (await app.approvals(session_id=session.id)).approvals
        assert (first.tool, first.decision, first.scope, first.reason, first.by) == (
            "write_file",
            "deny",
            "once",
            "not that file",
            "owner (cookie)",
        )
        assert "a.txt" in first.arguments
        assert first.decided_at is not None
        assert first.decided_at >= first.asked_at
        assert (newest.decision, newest.by, newest.decided_at) == (None, None, None)
        assert "b.txt" in newest.arguments
        assert (await app.session(session.id)).waits == []
        assert not (await app.session(session.id)).waiting
        older = await app.approvals(before=newest.asked_at)
        assert [one.id for one in older.approvals] == [first.id]


async def test_a_rule_of_the_settings_lets_a_call_run_unasked(tmp_path: Path) -> None:
    script = play(answer(writes("a.txt", "one\n")), answer("Done."))
    async with house(tmp_path, script) as app:
        await app.patch_settings(
            api.SettingsPatch(approvals=[Rule(tool="write_file", action="allow")])
        )
        session = await app.create_session(api.SessionCreate(model=REF))
        await app.engine.wait(await say(app, session.id, "Write"))
        assert await text_of(session.workspace, "a.txt") == "one\n"


async def test_what_was_allowed_always_is_not_asked_in_another_session(tmp_path: Path) -> None:
    write = answer(writes("a.txt", "one\n"))
    async with house(tmp_path, play(write, answer("1"), write, answer("2"))) as app:
        first = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, first.id, "Write")
        await allow(app, first.id, scope="always")
        await app.engine.wait(run)
        second = await app.create_session(api.SessionCreate(model=REF))
        await app.engine.wait(await say(app, second.id, "Write"))
        assert await text_of(second.workspace, "a.txt") == "one\n"


async def test_a_run_is_undone_and_redone_and_later_edits_stay(tmp_path: Path) -> None:
    script = play(
        answer(writes("a.txt", "one\n"), writes("b.txt", "two\n")),
        answer("1"),
        answer(writes("a.txt", "three\n")),
        answer("2"),
    )
    async with house(tmp_path, script) as app:
        await app.patch_settings(api.SettingsPatch(approvals=[Rule(tool="*", action="allow")]))
        session = await app.create_session(api.SessionCreate(model=REF))
        first = await say(app, session.id, "Write")
        await app.engine.wait(first)
        second = await say(app, session.id, "Again")
        await app.engine.wait(second)
        listed = await app.changes(session.id)
        assert [run.run_id for run in listed.runs] == [first, second]
        assert [(file.path, file.kind) for file in listed.runs[0].files] == [
            ("a.txt", "created"),
            ("b.txt", "created"),
        ]
        assert "-one" in listed.runs[1].files[0].diff

        await asyncio.to_thread((Path(session.workspace) / "b.txt").write_text, "mine\n")
        assert (await app.undo(session.id)).run_id == second
        assert await text_of(session.workspace, "a.txt") == "one\n"
        undone = await app.undo(session.id)
        assert (undone.done, undone.left) == (["a.txt"], ["b.txt"])
        assert await text_of(session.workspace, "b.txt") == "mine\n"
        with pytest.raises(UserError) as nothing:
            await app.undo(session.id)
        assert nothing.value.code == "nothing_to_undo"
        assert (await app.redo(session.id)).run_id == first
        assert (await app.redo(session.id)).run_id == second
        assert await text_of(session.workspace, "a.txt") == "three\n"

        await app.delete_session(session.id)
        assert not (app.settings.paths.data / "checkpoints" / session.id).exists()


async def test_undo_waits_until_no_run_is_on(tmp_path: Path) -> None:
    async with house(tmp_path, play(answer(writes("a.txt", "one\n")), answer("1"))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Write")
        await until_waiting(app, session.id)
        with pytest.raises(UserError) as busy:
            await app.undo(session.id)
        assert busy.value.code == "running"
        await allow(app, session.id)
        await app.engine.wait(run)


async def test_a_checkpoint_is_only_named_by_a_runs_id(tmp_path: Path) -> None:
    async with house(tmp_path, play()) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        for name in ("../../settings", "r/../x", "", "r_unknown"):
            with pytest.raises(UserError):
                await app.changes(session.id, run_id=name)


async def test_limits_of_the_settings_end_a_run(tmp_path: Path) -> None:
    script = play(*[answer(Call("list_files", {"path": "."})) for _ in range(5)])
    async with house(tmp_path, script) as app:
        await app.patch_settings(api.SettingsPatch(limits=RunLimits(steps=2)))
        session = await app.create_session(api.SessionCreate(model=REF))
        await app.engine.wait(await say(app, session.id, "Look"))
        calls = (await app.calls(session.id)).calls
        assert len({call.step for call in calls}) <= 3


async def test_a_question_is_answered_by_the_person(tmp_path: Path) -> None:
    asks = answer(Call("ask_user", {"question": "Which?", "choices": ["red", "blue"]}))
    async with house(tmp_path, play(asks, answer("Blue it is."))) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        run = await say(app, session.id, "Paint")
        wait = await until_waiting(app, session.id)
        assert wait.type == "question"
        with pytest.raises(UserError):
            await app.answer_question(
                session.id,
                f.AnswerQuestion(client_id=cid(), question_id=wait.data["question_id"], answer=" "),
            )
        await app.answer_question(
            session.id,
            f.AnswerQuestion(client_id=cid(), question_id=wait.data["question_id"], answer="blue"),
        )
        await app.engine.wait(run)
        assert "The person answered: blue" in str((await app.messages(session.id)).messages)


async def test_the_sandbox_is_told_in_the_settings_and_can_be_switched_off(tmp_path: Path) -> None:
    async with house(tmp_path, play()) as app:
        assert (await app.settings_view()).sandbox_state in {"on", "missing"}
        off = await app.patch_settings(api.SettingsPatch(sandbox=False))
        assert (off.sandbox, off.sandbox_state) == (False, "off")


async def test_a_file_of_the_workspace_can_be_read_and_nothing_outside_it(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("outside")
    async with house(tmp_path / "home", play()) as app:
        session = await app.create_session(api.SessionCreate(model=REF))
        root = Path(session.workspace)
        (root / "sub").mkdir(parents=True)
        (root / "sub" / "诗.txt").write_text("床前明月光\n")
        (root / "long.txt").write_text("x" * (MOST_TEXT + 10))
        (root / "picture.png").write_bytes(b"\x89PNG\0\0")
        (root / "way.txt").symlink_to(tmp_path / "secret.txt")
        found = await app.file_text(session.id, "sub/../sub/诗.txt")
        assert (found.path, found.text, found.truncated) == ("sub/诗.txt", "床前明月光\n", False)
        long = await app.file_text(session.id, "long.txt")
        assert (len(long.text), long.size, long.truncated) == (MOST_TEXT, MOST_TEXT + 10, True)
        for path in ("../../../secret.txt", "/etc/passwd", "way.txt", "gone.txt", "sub", ".", "\0"):
            with pytest.raises(UserError) as caught:
                await app.file_text(session.id, path)
            assert caught.value.code == "not_found"
        with pytest.raises(UserError) as caught:
            await app.file_text(session.id, "picture.png")
        assert caught.value.code == "not_text"


async def test_the_record_tells_who_approved_which_revision_of_a_plan(tmp_path: Path) -> None:
    plan = Call("plan", {"goal": "Bake", "steps": [{"text": "mix"}]})
    async with house(tmp_path, play(answer(plan), answer("Here it is."))) as app:
        session = await app.create_session(api.SessionCreate(model=REF, mode="plan"))
        await app.engine.wait(await say(app, session.id, "Plan it"))
        draft = (await app.session(session.id)).plan
        assert draft is not None
        approved = f.ApprovePlan(client_id=cid(), plan_id=draft.plan_id, revision=1)
        await app.approve_plan(session.id, approved, by="owner (cookie)")
        await app.approve_plan(session.id, approved, by="owner (cookie)")
        (record,) = (await app.approvals(session_id=session.id)).approvals
        assert (record.tool, record.decision, record.by) == ("plan", "allow", "owner (cookie)")
        assert '"revision":1' in record.arguments
        assert (await app.session(session.id)).waits == []
