"""The command itself: quick to start, clear when it fails, clean when it is stopped."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from silu.cli.main import main
from silu.types.version import VERSION
from tests.gateway.house import clean_env


def silu(
    *args: str, home: Path, text: str | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would, with stdin as given or at its end."""
    return subprocess.run(
        [sys.executable, "-m", "silu", *args],
        env=clean_env(home, **env),
        input=text or "",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version_is_the_packages_own() -> None:
    assert metadata.version("silu") == VERSION


def test_the_version_and_the_help_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"silu {VERSION}\n"
    assert main([]) == 0
    told = capsys.readouterr().out
    for word in ("serve", "ask", "models", "connect", "sessions", "wire", "exit codes"):
        assert word in told


def cost(*args: str) -> float:
    """CPU seconds of the quickest of several starts."""
    best = 9.0
    for _ in range(9):
        before = os.times()
        subprocess.run([sys.executable, *args], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        spent = after.children_user + after.children_system
        best = min(best, spent - before.children_user - before.children_system)
    return best


def test_the_command_starts_nearly_as_fast_as_python_itself() -> None:
    empty = max(cost("-c", "pass"), 0.01)
    assert cost("-m", "silu", "--version") <= 3 * empty + 0.01
    assert cost("-m", "silu", "--help") <= 6 * empty + 0.01


def test_a_wrong_argument_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    for args in (["nonsense"], ["serve", "--port", "70000"], ["ask", "--level", "x", "hi"]):
        done = silu(*args, home=tmp_path)
        assert done.returncode == 2, done
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()


def test_a_wrong_level_names_the_choices(tmp_path: Path) -> None:
    done = silu("ask", "--level", "enormous", "hi", home=tmp_path)
    assert "adaptive" in done.stderr


def test_an_empty_question_says_how_to_ask(tmp_path: Path) -> None:
    done = silu("ask", home=tmp_path)
    assert done.returncode == 2
    assert "silu ask" in done.stderr


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m silu --help | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], env=clean_env(tmp_path), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in ("0", "141")
    assert "Traceback" not in done.stderr


def test_the_wire_commands_read_their_own_arguments(tmp_path: Path) -> None:
    done = silu("wire", "--help", home=tmp_path)
    assert done.returncode == 0
    assert "decode" in done.stdout
