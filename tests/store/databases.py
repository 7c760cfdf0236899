"""Both databases: a new SQLite file and a new PostgreSQL database for each test."""

import itertools
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

_BIN = Path("/usr/lib/postgresql")
_numbers = itertools.count(1)


class Cluster:
    """A PostgreSQL server of our own, on a unix socket, that goes away with the tests."""

    def __init__(self, bindir: Path, folder: Path, user: str | None) -> None:
        self._bin = bindir
        self.folder = folder
        self.user = user
        self._as = ["runuser", "-u", user, "--"] if user else []

    def run(self, program: str, *args: str) -> None:
        subprocess.run(
            [*self._as, str(self._bin / program), *args],
            check=True,
            capture_output=True,
            cwd=self.folder,
        )

    def start(self) -> None:
        options = f"-k {self.folder} -h '' -c fsync=off -c max_connections=40"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def new_database(self) -> str:
        name = f"t{os.getpid()}_{next(_numbers)}"
        self.run("createdb", "-h", str(self.folder), "-U", "silu", name)
        return f"postgresql://silu@/{name}?host={self.folder}"


def _bindir() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(_BIN.glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


def _made_user() -> str | None:
    """PostgreSQL refuses to run as root: the account it came with, or one made for the tests."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "silu-test"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    subprocess.run(["useradd", "--system", "--no-create-home", "silu-test"], check=True)
    return "silu-test"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    bindir = _bindir()
    if bindir is None:
        pytest.skip("PostgreSQL is not installed: its half of the store's tests is left out")
    user = _made_user()
    folder = Path(mkdtemp(prefix="silu-pg-"))
    folder.chmod(0o755)
    if user:
        shutil.chown(folder, user)
    made = Cluster(bindir, folder, user)
    try:
        made.run("initdb", "-D", f"{folder}/data", "-U", "silu", "-A", "trust", "-E", "UTF8", "-N")
        made.start()
        yield made
        made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database is to be."""
    if request.param == "sqlite":
        return str(tmp_path / "silu.db")
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.new_database()
