"""How a failure leaves the command: by its family, in one line, with the right code."""

import asyncio
import os
import pty
import sys
from pathlib import Path

import pytest

from silu.cli import main as command
from silu.cli.browser import open_browser
from silu.config import EndpointFile, Paths
from silu.types.errors import Failure, ToolError, UserError, VendorError
from tests.gateway.house import clean_env


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UserError("No.", code="x", fix="Do that."), 2, "silu: No. Do that.\n"),
        (UserError("No.", code="x", setting="NAME"), 2, "silu: No. (setting: NAME)\n"),
        (UserError("No NAME.", code="x", setting="NAME"), 2, "silu: No NAME.\n"),
        (PermissionError(13, "Permission denied", "/x/y"), 2, "silu: /x/y: Permission denied.\n"),
        (
            VendorError(Failure(kind="auth", message="Refused.", setting="A_KEY")),
            1,
            "silu: Refused. (setting: A_KEY)\n",
        ),
        (VendorError(Failure(kind="server", message="Broken.")), 1, "silu: Broken.\n"),
        (ToolError("Tool."), 1, "silu: Tool.\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_each_family_has_its_code_and_its_line(
    error: BaseException,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_args: object) -> int:
        raise error

    monkeypatch.setattr("silu.cli.models.run", fail)
    assert command.main(["models"]) == code
    assert capsys.readouterr().err == told


def test_what_nobody_foresaw_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_args: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("silu.cli.models.run", fail)
    with pytest.raises(ZeroDivisionError):
        command.main(["models"])


def test_no_browser_is_opened_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    open_browser("http://127.0.0.1/")
    assert opened == []


@pytest.mark.anyio
async def test_connect_asks_a_person_for_what_is_missing(tmp_path: Path) -> None:
    """At a terminal, without flags: name, address, models; the key is not shown."""
    master, slave = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "silu", "connect", "--no-test"),
        env=clean_env(tmp_path),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    loop = asyncio.get_running_loop()
    shown = b""
    for prompt, typed in (
        (b"Name: ", b"mine"),
        (b"Base URL", b"http://127.0.0.1:9/v1"),
        (b"Model ids", b"one, two"),
        (b"Key", b"sk-typed-key-123456"),
    ):
        while prompt not in shown:
            shown += await asyncio.wait_for(loop.run_in_executor(None, os.read, master, 4096), 20)
        os.write(master, typed + b"\n")
    assert await asyncio.wait_for(process.wait(), 20) == 0
    os.close(master)
    assert b"typed-key" not in shown
    paths = Paths.under(tmp_path)
    endpoint = EndpointFile(paths.endpoints_file).get("mine")
    assert endpoint is not None
    assert endpoint.models == ("one", "two")
    assert "sk-typed-key-123456" in paths.keys_file.read_text()


@pytest.mark.parametrize("word", ["0", "x", "600"])
def test_a_wrong_heartbeat_or_log_level_is_told(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("SILU_HEARTBEAT", "SILU_LOG"):
        monkeypatch.setenv("SILU_HOME", str(tmp_path))
        monkeypatch.setenv(name, word)
        assert command.main(["serve", "--port", "0", "--no-open"]) == 2
        assert name in capsys.readouterr().err
        monkeypatch.delenv(name)


def test_an_address_of_another_machine_names_the_host_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SILU_HOME", str(tmp_path))
    assert command.main(["serve", "--host", "192.0.2.1", "--port", "0", "--no-open"]) == 2
    assert "--host" in capsys.readouterr().err


def test_open_without_a_workspace_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SILU_HOME", str(tmp_path))
    assert command.main(["open"]) == 2
    assert "silu serve" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["serve", "--port", "0", "--no-open"], ["sessions"], ["models"]])
def test_a_home_that_is_a_file_is_told_in_one_line(
    args: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")
    monkeypatch.setenv("SILU_HOME", str(home))
    assert command.main(args) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(home) in told
    assert "SILU_HOME" in told
