"""`silu mcp`: servers are added, tried, listed, switched and removed at the terminal."""

import shlex
import sys
from pathlib import Path

import pytest

from silu.cli.main import main
from tests.gateway.house import clean_env

SERVER = str(Path(__file__).parents[1] / "tools" / "mcp_server.py")
COMMAND = shlex.join([sys.executable, SERVER])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in clean_env(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def silu(*args: str) -> int:
    return main(["mcp", *args])


def test_a_server_is_added_after_it_answered_and_its_tools_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert silu("add", "garden", "--command", COMMAND, "--env", "PLOT=7") == 0
    out = capsys.readouterr().out
    assert "garden 1.2 answers" in out
    assert "garden__count  [read]" in out
    assert "garden was added." in out
    assert silu("list") == 0
    assert "mcp_server.py" in capsys.readouterr().out


def test_a_server_that_does_not_answer_is_not_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert silu("add", "gone", "--command", "/no/such/program") == 1
    told = capsys.readouterr()
    assert "/no/such/program" in told.err
    assert silu("list") == 0
    assert "no MCP servers" in capsys.readouterr().out


def test_a_server_is_switched_limited_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert silu("add", "far", "--url", "http://127.0.0.1:9/mcp", "--tool", "a", "--no-test") == 0
    assert silu("disable", "far") == 0
    assert silu("list") == 0
    assert "far     off    a      http://127.0.0.1:9/mcp" in capsys.readouterr().out
    assert silu("enable", "far") == 0
    assert silu("test", "far") == 1
    assert silu("remove", "far") == 0
    assert "far was removed." in capsys.readouterr().out


@pytest.mark.parametrize(
    "args",
    [
        ("remove", "none"),
        ("test", "none"),
        ("add", "a", "--url", "http://x/", "--command", "y", "--no-test"),
        ("add", "a", "--no-test"),
        ("add", "a__b", "--command", "y", "--no-test"),
        ("add", "a", "--command", "'", "--no-test"),
        ("add", "a", "--command", "y", "--env", "secretvalue", "--no-test"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_a_sentence(
    args: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert silu(*args) == 2
    err = capsys.readouterr().err
    assert err.startswith("silu: ")
    assert "secretvalue" not in err
