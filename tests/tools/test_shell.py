"""Commands: what is proven to change nothing, and a sandbox that lets nothing else out."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from silu.tools import ToolContext, ToolOutput
from silu.tools.read_only import proves_read_only
from silu.tools.sandbox import Sandbox, find_sandbox
from silu.tools.shell import shell_tool
from silu.types.errors import ToolError
from silu.types.facts import Mode

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat src/a.py | head -n 20",
        "grep -rn 'def main' src && wc -l src/*.py",
        "find . -name '*.py' -type f",
        "git status; git log --oneline -5",
        "git diff HEAD~1 -- src",
        "git branch -a",
        "git --no-pager show HEAD",
        "git stash list",
        "rg -n pattern src 2>/dev/null",
        "ls missing 2>&1 | tail -3",
        "sed -n '10,20p' file.txt",
        "sed -n 5p a b",
        "sort names | uniq -c",
        "echo 'a > b; rm x'",
        "cd src && pwd",
        "jq .name package.json",
        "date +%s",
        "date -d tomorrow -u +%F",
        "hostname -f",
        "uniq -c -",
        "test -f a || echo no",
    ],
)
def test_commands_known_to_change_nothing_pass(command: str) -> None:
    assert proves_read_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm x",
        "python -c \"open('x','w')\"",
        "cat > f",
        "cat >> f",
        "cat a >f",
        "cat <a",
        "sed -i s/a/b/ f",
        "sed -n 'w out' f",
        "sed s/a/b/e f",
        "sed -n 5p -i f",
        "tee f",
        "ls | tee f",
        "git commit --amend",
        "git branch -D main",
        "git branch new",
        "git tag v1",
        "git stash",
        "git remote add x y",
        "git -c core.pager=evil log",
        "git diff --output=f",
        "git diff --outp=f",
        "git grep -O x",
        "git log --ext-diff",
        "git checkout .",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprintf f x",
        "find *",
        "rg --pre x y",
        "rg --pre=x y",
        "rg -z x",
        "fd -x rm",
        "sort -o f g",
        "sort -uof g",
        "sort --out=f g",
        "uniq a b",
        "uniq - out",
        "uniq -- -a out",
        "date 010100002026",
        "date -u 0101",
        "hostname -Fname",
        "hostname --file=name",
        "git cat-file --filters HEAD:a",
        "awk '{print > \"f\"}'",
        "xargs rm",
        "ls | xargs rm",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "$(rm x)"',
        'echo "a\\"b"',
        "echo $HOME",
        "ls & rm x",
        "ls &",
        "(rm x)",
        "{ rm x; }",
        "ls\nrm x",
        "ls;rm x",
        "ls &&",
        "| ls",
        "x=1 ls",
        "\\rm x",
        "'rm' x",
        "'ls'",
        "date -s 2020-01-01",
        "tail -f log",
        "tree -o f",
        "ls 2> f",
        "ls 2>&1 > f",
        "hostname new",
        "cat 'unclosed",
        "eval rm",
        "source f",
        "bash -c ls",
        "env ls",
        "sudo ls",
        "dd if=a of=b",
        "curl http://x",
        "ls ~",
        "ls {a,b}",
        "cd a b",
        "git",
        "ls > /dev/null/x",
        "ls >/dev/nullx",
    ],
)
def test_everything_else_counts_as_writing(command: str) -> None:
    assert not proves_read_only(command)


# ------------------------------------------------------------------------------ sandbox


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    made = find_sandbox()
    if made.state != "on":
        pytest.skip("bubblewrap does not work on this machine")
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("hello\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    return root


async def run(
    sandbox: Sandbox, workspace: Path, command: str, *, mode: Mode = "build", **args: Any
) -> ToolOutput:
    tool = shell_tool(sandbox)
    return await tool.run({"command": command, **args}, ToolContext(workspace=workspace, mode=mode))


async def test_a_command_works_on_the_workspace(sandbox: Sandbox, workspace: Path) -> None:
    done = await run(sandbox, workspace, "cat a.txt; echo more > b.txt; echo oops >&2; exit 3")
    assert done.text == "hello\noops\n[exit code 3]"
    assert not done.ok
    assert (workspace / "b.txt").read_text() == "more\n"
    assert (await run(sandbox, workspace, "true")).ok


async def test_nothing_outside_the_workspace_can_be_seen_or_written(
    sandbox: Sandbox, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    (workspace / "out").symlink_to(workspace.parent)
    for command in (
        "cat ../secret.txt",
        "cat out/secret.txt",
        f"cat {workspace.parent}/secret.txt",
        "ls /root /home/*",
        "cat /etc/shadow",
        "touch /usr/x",
        "echo x > /x",
        "curl -m 2 http://1.1.1.1 || getent hosts example.com",
    ):
        done = await run(sandbox, workspace, command)
        assert not done.ok, command
        assert "secret" not in done.text.replace("secret.txt", "")
    await run(sandbox, workspace, "echo x > ../x")
    assert "sk-very" not in (await run(sandbox, workspace, "env")).text
    assert "sk-very" not in (await run(sandbox, workspace, "cat /proc/*/environ")).text
    assert [p.name for p in sorted(Path(workspace.parent).iterdir())] == ["secret.txt", "work"]  # noqa: ASYNC240


async def test_plan_mode_mounts_the_workspace_read_only(sandbox: Sandbox, workspace: Path) -> None:
    done = await run(sandbox, workspace, "echo x > a.txt", mode="plan")
    assert not done.ok
    assert (workspace / "a.txt").read_text() == "hello\n"


async def test_hooks_of_the_persons_git_cannot_be_planted(
    sandbox: Sandbox, workspace: Path
) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    done = await run(
        sandbox, workspace, "echo evil > .git/hooks/pre-commit || echo evil >> .git/config"
    )
    assert not done.ok
    moved = await run(sandbox, workspace, "mv .git old; mkdir .git; echo evil > .git/config")
    assert not moved.ok
    assert (workspace / ".git" / "config").read_text() == "[core]\n"
    assert not (workspace / "old").exists()


async def test_a_worktree_cannot_be_pointed_at_another_git(
    sandbox: Sandbox, workspace: Path
) -> None:
    (workspace / ".git").write_text("gitdir: /elsewhere\n")
    done = await run(sandbox, workspace, "rm -f .git; echo gitdir: evil > .git")
    assert not done.ok
    assert (workspace / ".git").read_text() == "gitdir: /elsewhere\n"


async def test_git_itself_works_in_the_sandbox(sandbox: Sandbox, workspace: Path) -> None:
    who = "-c user.name=me -c user.email=me@example.com"
    assert (await run(sandbox, workspace, "git init -q")).ok
    done = await run(sandbox, workspace, f"git add a.txt && git {who} commit -q -m x && git log")
    assert done.ok, done.text
    read = await run(sandbox, workspace, "git status --short && git log --oneline", mode="plan")
    assert read.ok, read.text


async def test_a_command_that_does_not_end_is_stopped(sandbox: Sandbox, workspace: Path) -> None:
    done = await run(sandbox, workspace, "echo start; sleep 60", timeout=1)
    assert done.text.startswith("start\n[stopped: it had not ended after 1 s]")
    assert not done.ok


async def test_of_endless_output_both_ends_are_kept_and_the_command_still_ends(
    sandbox: Sandbox, workspace: Path
) -> None:
    done = await run(sandbox, workspace, "echo first; yes | head -c 12000000; echo last")
    assert done.text.startswith("first\ny\n")
    assert "[4000011 bytes of the output were not kept]" in done.text
    assert done.text.endswith("y\nlast")


async def test_output_of_megabytes_is_kept_whole(sandbox: Sandbox, workspace: Path) -> None:
    done = await run(sandbox, workspace, "seq 1000000")
    assert done.text == "\n".join(str(number) for number in range(1, 1_000_001))


async def test_a_cancelled_command_leaves_nothing_running(
    sandbox: Sandbox, workspace: Path
) -> None:
    task = asyncio.ensure_future(run(sandbox, workspace, "(sleep 2; touch late.txt) & sleep 60"))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(2.2)
    assert not (workspace / "late.txt").exists()


async def test_without_bubblewrap_commands_are_refused_until_it_is_switched_off(
    workspace: Path,
) -> None:
    missing = find_sandbox(environ={"PATH": "/nonexistent"})
    assert missing.state == "missing"
    with pytest.raises(ToolError, match="has not switched the sandbox off"):
        await run(missing, workspace, "ls")
    off = find_sandbox(wanted=False)
    assert off.state == "off"
    assert (await run(off, workspace, "cat a.txt")).text == "hello"
    tool = shell_tool(off)
    assert tool.proves_read_only is not None
    assert not tool.proves_read_only({"command": "ls"})


def test_the_persons_toolchains_are_seen_and_their_home_is_not(tmp_path: Path) -> None:
    for name in (".pyenv/shims", ".local/bin", "bin"):
        (tmp_path / name).mkdir(parents=True)
    path = ":".join(str(tmp_path / name) for name in (".pyenv/shims", ".local/bin", "bin"))
    made = find_sandbox(environ={"PATH": f"{path}:{os.environ['PATH']}", "HOME": str(tmp_path)})
    if made.state != "on":
        pytest.skip("bubblewrap does not work on this machine")
    assert tmp_path / ".pyenv" in made.read_only
    assert tmp_path / ".local/bin" in made.read_only
    assert not {tmp_path, tmp_path / ".local"} & set(made.read_only)


def test_network_is_an_effect_where_commands_have_it() -> None:
    off = Sandbox(program=None, state="off")
    assert "network" in shell_tool(off, network=True).effects
    assert "network" not in shell_tool(off).effects
    on = Sandbox(program="bwrap", state="on")
    assert "--share-net" in on.argv(["ls"], Path("/tmp"), write=True, network=True)
