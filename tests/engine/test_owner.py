"""One process owns a data folder, and others can find it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from silu.engine import Owner
from silu.types.errors import UserError

_HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from silu.engine import Owner\n"
    "owner = Owner.acquire(Path(sys.argv[1]))\n"
    "owner.publish('http://127.0.0.1:7150', 'geheim')\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)


def _hold(folder: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_a_second_process_is_told_who_owns_the_folder(tmp_path: Path) -> None:
    child = _hold(tmp_path)
    try:
        with pytest.raises(UserError) as told:
            Owner.acquire(tmp_path)
        assert told.value.code == "owned"
        assert told.value.setting == "SILU_HOME"
        assert str(child.pid) in str(told.value)
        assert "http://127.0.0.1:7150" in str(told.value)
        assert "geheim" not in str(told.value)
        found = Owner.find(tmp_path)
        assert found is not None
        assert (found.pid, found.url, found.kind) == (child.pid, "http://127.0.0.1:7150", "serve")
        assert found.token() == "geheim"
    finally:
        child.kill()
        child.communicate()


def test_what_a_killed_owner_left_is_taken_over(tmp_path: Path) -> None:
    child = _hold(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert (tmp_path / "owner.json").exists()
    assert Owner.find(tmp_path) is None
    owner = Owner.acquire(tmp_path)
    found = Owner.find(tmp_path)
    assert found is not None
    assert (found.pid, found.url, found.token()) == (os.getpid(), None, None)
    assert not (tmp_path / "owner.token").exists()
    owner.release()


def test_only_this_user_can_read_what_an_owner_publishes(tmp_path: Path) -> None:
    owner = Owner.acquire(tmp_path / "deep" / "data")
    owner.publish("http://127.0.0.1:1", "geheim")
    for path in owner.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0
    assert "geheim" not in (owner.folder / "owner.json").read_text()
    assert json.loads((owner.folder / "owner.json").read_text())["url"] == "http://127.0.0.1:1"
    owner.release()
    owner.release()
    assert Owner.find(owner.folder) is None
    assert [path.name for path in owner.folder.iterdir()] == ["owner.lock"]


def test_an_owner_that_has_not_said_who_it_is_still_owns(tmp_path: Path) -> None:
    owner = Owner.acquire(tmp_path)
    (tmp_path / "owner.json").write_text("{")
    assert Owner.find(tmp_path) is None
    with pytest.raises(UserError) as told:
        Owner.acquire(tmp_path)
    assert "another silu" in str(told.value)
    owner.release()
    assert Owner.find(tmp_path / "nowhere") is None
