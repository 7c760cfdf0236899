"""What a run asks of the person at a terminal, on a real pseudo-terminal, and without one."""

import asyncio
import json
import os
import pty
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from silu.config import Endpoint
from silu.fakes import Call, FakeDeepSeek, answer, play, serve
from tests.cli.test_ask import MODEL, REF, silu
from tests.gateway.house import Workspace, clean_env

pytestmark = pytest.mark.anyio

Setup = tuple[FakeDeepSeek, Workspace]

WRITE = answer(Call("write_file", {"path": "a.txt", "content": "one\n"}))


@pytest.fixture
async def vendor(tmp_path: Path) -> AsyncIterator[Setup]:
    fake = FakeDeepSeek()
    workspace = Workspace(tmp_path)
    async with serve(fake) as url:
        workspace.add_endpoint(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        yield fake, workspace


class Terminal:
    """`silu` on a pseudo-terminal; `screen` is what it wrote."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process = process
        self.screen = ""
        self._master = master
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self.screen += data.decode(errors="replace")
        self._news.set()

    async def until(self, words: str) -> None:
        async with asyncio.timeout(20):
            while words not in self.screen:
                self._news.clear()
                await self._news.wait()

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    async def end(self) -> int:
        code = await asyncio.wait_for(self.process.wait(), 20)
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        return code


async def terminal(workspace: Workspace, *args: str) -> Terminal:
    master, slave = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "silu",
        *args,
        env=clean_env(workspace.home, **workspace.env),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=workspace.work,
        start_new_session=True,
    )
    os.close(slave)
    return Terminal(process, master)


async def test_a_call_is_shown_and_made_when_the_person_says_yes(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(WRITE, answer("Written."))
    tty = await terminal(workspace, "ask", "Write", "--model", REF)
    await tty.until("write_file? [y]es")
    assert "+one" in tty.screen
    tty.type("perhaps")
    tty.type("y")
    assert await tty.end() == 0
    assert "Written." in tty.screen
    assert (workspace.work / "a.txt").read_text() == "one\n"


async def test_a_no_and_its_reason_reach_the_model(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(WRITE, answer("Then not."))
    tty = await terminal(workspace, "ask", "Write", "--model", REF)
    await tty.until("write_file? [y]es")
    tty.type("n")
    await tty.until("Why?")
    tty.type("wrong folder")
    assert await tty.end() == 0
    assert "wrong folder" in json.dumps(fake.bodies[-1])
    assert not (workspace.work / "a.txt").exists()


async def test_a_question_is_answered_by_the_number_of_a_choice(vendor: Setup) -> None:
    fake, workspace = vendor
    asks = Call("ask_user", {"question": "Which colour?", "choices": ["red", "blue"]})
    fake.script = play(answer(asks), answer("Blue it is."))
    tty = await terminal(workspace, "ask", "Paint", "--model", REF)
    await tty.until("2  blue")
    tty.type("2")
    assert await tty.end() == 0
    assert "The person answered: blue" in json.dumps(fake.bodies[-1])


async def test_ctrl_c_at_the_question_stops_the_run(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(WRITE)
    tty = await terminal(workspace, "ask", "Write", "--model", REF)
    await tty.until("write_file? [y]es")
    tty.process.send_signal(2)
    assert await tty.end() == 130
    assert not (workspace.work / "a.txt").exists()


async def test_without_a_terminal_the_call_is_refused_and_the_model_told_why(
    vendor: Setup,
) -> None:
    fake, workspace = vendor
    fake.script = play(WRITE, answer("I could not."))
    ran = await silu(workspace, "ask", "Write", "--model", REF)
    assert ran.code == 0, ran.err
    assert "--allow" in json.dumps(fake.bodies[-1])
    assert not (workspace.work / "a.txt").exists()


async def test_what_is_allowed_by_a_flag_runs_unasked(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(WRITE, answer("Written."))
    ran = await silu(workspace, "ask", "Write", "--model", REF, "--allow", "write_file:*.txt")
    assert ran.code == 0, ran.err
    assert (workspace.work / "a.txt").read_text() == "one\n"


async def test_a_flag_that_names_no_tool_is_refused(vendor: Setup) -> None:
    _, workspace = vendor
    ran = await silu(workspace, "ask", "Write", "--model", REF, "--allow", ":x")
    assert ran.code == 2
    assert "--allow" in ran.err
