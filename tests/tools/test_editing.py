"""Changes to files: whole or not at all, shown as a diff, undone per run."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from silu.tools import ToolBox, ToolContext
from silu.tools.checkpoints import MAX_FILE, Checkpoints
from silu.tools.editing import editing_tools
from silu.types.errors import ToolError, UserError

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("one\ntwo\nthree\n")
    return root


async def use(name: str, workspace: Path, **args: Any) -> str:
    tool = ToolBox(editing_tools()).find(name)
    return (await tool.run(args, ToolContext(workspace=workspace))).text


async def test_a_new_file_is_made_with_its_folders_and_shown(workspace: Path) -> None:
    text = await use("write_file", workspace, path="src/deep/new.py", content="x = 1\n")
    assert (workspace / "src/deep/new.py").read_text() == "x = 1\n"
    assert text.startswith("created src/deep/new.py\n--- /dev/null")
    assert "+x = 1" in text


async def test_a_rewrite_keeps_the_permissions_and_leaves_no_scraps(workspace: Path) -> None:
    (workspace / "a.py").chmod(0o755)
    text = await use("write_file", workspace, path="a.py", content="ONE\ntwo\nthree\n")
    assert text.startswith("changed a.py")
    assert stat.S_IMODE((workspace / "a.py").stat().st_mode) == 0o755
    assert list(state(workspace)) == ["a.py"]
    same = await use("write_file", workspace, path="a.py", content="ONE\ntwo\nthree\n")
    assert "nothing changed" in same


async def test_an_edit_replaces_the_one_place(workspace: Path) -> None:
    text = await use("edit_file", workspace, path="a.py", old="two", new="2")
    assert (workspace / "a.py").read_text() == "one\n2\nthree\n"
    assert "-two\n+2" in text


async def test_an_edit_that_is_not_clear_changes_nothing_and_says_why(workspace: Path) -> None:
    (workspace / "b.py").write_text("x\n  y\nx\n")
    for old, word in [("x", "2 times (lines 1, 3)"), ("y\nz", "Line 2 is like"), ("q", "Read the")]:
        with pytest.raises(ToolError) as caught:
            await use("edit_file", workspace, path="b.py", old=old, new="")
        assert word in str(caught.value)
    assert (workspace / "b.py").read_text() == "x\n  y\nx\n"
    await use("edit_file", workspace, path="b.py", old="x", new="z", all=True)
    assert (workspace / "b.py").read_text() == "z\n  y\nz\n"
    with pytest.raises(ToolError, match="write_file makes one"):
        await use("edit_file", workspace, path="none.py", old="a", new="b")


async def test_windows_line_ends_stay(workspace: Path) -> None:
    (workspace / "w.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    await use("edit_file", workspace, path="w.txt", old="a\nb", new="A\nB")
    assert (workspace / "w.txt").read_bytes() == b"A\r\nB\r\nc\r\n"


async def test_edits_at_the_same_time_do_not_get_lost(workspace: Path) -> None:
    (workspace / "n.txt").write_text("\n".join(f"<{n}>" for n in range(20)))
    tool = ToolBox(editing_tools()).find("edit_file")
    context = ToolContext(workspace=workspace)
    jobs = ({"path": "n.txt", "old": f"<{n}>", "new": f"[{n}]"} for n in range(20))
    await asyncio.gather(*(tool.run(args, context) for args in jobs))
    assert "<" not in (workspace / "n.txt").read_text()


async def test_a_preview_shows_the_change_and_makes_none(workspace: Path) -> None:
    tool = ToolBox(editing_tools()).find("edit_file")
    assert tool.preview is not None
    args = {"path": "a.py", "old": "one", "new": "1"}
    assert "+1" in await tool.preview(args, ToolContext(workspace=workspace))
    assert (workspace / "a.py").read_text().startswith("one")


async def test_nothing_outside_the_workspace_or_odd_can_be_written(workspace: Path) -> None:
    (workspace / "out").symlink_to(workspace.parent)
    (workspace / "link.txt").symlink_to(workspace.parent / "target.txt")
    (workspace / "bin").write_bytes(b"\xff\xfe\x00")
    (workspace / "dir").mkdir()
    for path in ("../x", "out/x", "/tmp/x", "link.txt", ".", "dir", "bin", "a.py/x"):
        with pytest.raises(ToolError):
            await use("write_file", workspace, path=path, content="evil")
    assert not (workspace.parent / "target.txt").exists()
    assert not (workspace.parent / "x").exists()
    with pytest.raises(ToolError, match="more than"):
        await use("write_file", workspace, path="big", content="x" * 5_000_001)


@pytest.mark.parametrize("path", [".git/config", "sub/.git/hooks/pre-commit", "sub/../.GIT/x"])
async def test_gits_own_files_are_not_written(workspace: Path, path: str) -> None:
    (workspace / "sub").mkdir()
    with pytest.raises(ToolError, match="is git's own"):
        await use("write_file", workspace, path=path, content="evil")
    assert not await asyncio.to_thread((workspace / path).exists)


async def test_a_long_diff_is_cut(workspace: Path) -> None:
    text = await use("write_file", workspace, path="l", content="\n".join(map(str, range(900))))
    assert "more lines of the diff]" in text


# ------------------------------------------------------------------------------ checkpoints


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def change(workspace: Path) -> None:
    (workspace / "a.py").write_text("changed\n")
    (workspace / "new").mkdir()
    (workspace / "new" / "b.py").write_text("new\n")
    (workspace / "gone.bin").unlink()


def state(workspace: Path) -> dict[str, bytes]:
    return {
        path.relative_to(workspace).as_posix(): path.read_bytes()
        for path in workspace.rglob("*")
        if path.is_file()
    }


def test_a_run_is_undone_and_done_again(workspace: Path, checkpoints: Checkpoints) -> None:
    (workspace / "gone.bin").write_bytes(b"\xff\x00")
    before = state(workspace)
    checkpoints.begin("r1", workspace)
    checkpoints.begin("r1", workspace)
    change(workspace)
    checkpoints.end("r1")
    after = state(workspace)
    kinds = {c.path: c.kind for c in checkpoints.changes("r1")}
    assert kinds == {"a.py": "changed", "gone.bin": "deleted", "new/b.py": "created"}
    texts = {c.path: c.text for c in checkpoints.changes("r1")}
    assert "+changed" in texts["a.py"]
    assert texts["gone.bin"] == ""
    assert checkpoints.undo("r1").left == []
    assert state(workspace) == before
    assert not (workspace / "new").exists()
    assert sorted(checkpoints.redo("r1").done) == ["a.py", "gone.bin", "new/b.py"]
    assert state(workspace) == after


def test_what_was_changed_since_is_left_alone(workspace: Path, checkpoints: Checkpoints) -> None:
    (workspace / "gone.bin").write_bytes(b"x")
    checkpoints.begin("r1", workspace)
    change(workspace)
    checkpoints.end("r1")
    (workspace / "a.py").write_text("mine\n")
    restored = checkpoints.undo("r1")
    assert restored.left == ["a.py"]
    assert (workspace / "a.py").read_text() == "mine\n"
    assert (workspace / "gone.bin").exists()


def test_a_run_that_changed_nothing_leaves_no_checkpoint(
    workspace: Path, checkpoints: Checkpoints
) -> None:
    checkpoints.begin("r1", workspace)
    checkpoints.end("r1")
    checkpoints.end("r2")
    assert checkpoints.runs() == []
    with pytest.raises(UserError):
        checkpoints.undo("r1")


def test_the_persons_git_and_ignored_files_are_not_touched(
    workspace: Path, checkpoints: Checkpoints
) -> None:
    (workspace / ".git").mkdir()
    (workspace / ".git" / "HEAD").write_text("ref")
    (workspace / ".gitignore").write_text("*.log\n")
    checkpoints.begin("r1", workspace)
    (workspace / ".git" / "HEAD").write_text("other")
    (workspace / "x.log").write_text("log")
    (workspace / "a.py").write_text("2")
    with pytest.raises(UserError, match="not ended"):
        checkpoints.undo("r1")
    checkpoints.end("r1")
    assert [c.path for c in checkpoints.changes("r1")] == ["a.py"]
    checkpoints.undo("r1")
    assert (workspace / ".git" / "HEAD").read_text() == "other"
    assert (workspace / "x.log").exists()
    assert checkpoints.runs() == ["r1"]


def test_an_undo_deletes_no_file_that_was_there_unseen_before_the_run(
    workspace: Path, checkpoints: Checkpoints
) -> None:
    (workspace / ".gitignore").write_text(".env\nold/\n")
    (workspace / ".env").write_text("mine")
    (workspace / "old").mkdir()
    (workspace / "old" / "kept.txt").write_text("mine")
    with (workspace / "big.bin").open("wb") as big:
        big.truncate(MAX_FILE + 1)
    checkpoints.begin("r1", workspace)
    (workspace / ".gitignore").write_text("")
    (workspace / "made.py").write_text("new")
    (workspace / "big.bin").write_bytes(b"small")
    checkpoints.end("r1")
    assert [c.path for c in checkpoints.changes("r1")] == [".gitignore", "made.py"]
    checkpoints.undo("r1")
    assert (workspace / ".env").read_text() == "mine"
    assert (workspace / "old" / "kept.txt").read_text() == "mine"
    assert (workspace / "big.bin").exists()
    assert not (workspace / "made.py").exists()


def test_a_file_that_a_run_hid_is_neither_deleted_nor_written_over(
    workspace: Path, checkpoints: Checkpoints
) -> None:
    (workspace / "notes.log").write_text("one")
    checkpoints.begin("r1", workspace)
    (workspace / ".gitignore").write_text("*.log\n")
    (workspace / "a.py").write_text("2")
    checkpoints.end("r1")
    kinds = {c.path: c.kind for c in checkpoints.changes("r1")}
    assert kinds == {".gitignore": "created", "a.py": "changed"}
    checkpoints.begin("r2", workspace)
    (workspace / "a.py").unlink()
    (workspace / ".gitignore").write_text("*.log\n*.txt\n")
    checkpoints.end("r2")
    (workspace / "notes.log").write_text("mine")
    for run in ("r2", "r1"):
        assert checkpoints.undo(run).left == []
    assert (workspace / "notes.log").read_text() == "mine"


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_BYTES"])
def test_an_undo_in_a_workspace_too_big_to_see_deletes_nothing(
    workspace: Path, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"silu.tools.checkpoints.{limit}", 2)
    for name in ("a", "b", "c"):
        (workspace / name).write_text(name)
    checkpoints.begin("r1", workspace)
    (workspace / "a").unlink()
    checkpoints.end("r1")
    checkpoints.undo("r1")
    assert sorted(path.name for path in workspace.iterdir() if len(path.name) == 1) == [*"abc"]


def test_an_undo_does_not_write_through_a_link(workspace: Path, checkpoints: Checkpoints) -> None:
    (workspace / "d").mkdir()
    (workspace / "d" / "f").write_text("old")
    checkpoints.begin("r1", workspace)
    (workspace / "d" / "f").unlink()
    checkpoints.end("r1")
    (workspace / "d").rmdir()
    (workspace / "d").symlink_to(workspace.parent)
    with pytest.raises(UserError, match="leads out"):
        checkpoints.undo("r1")
    assert not (workspace.parent / "f").exists()
