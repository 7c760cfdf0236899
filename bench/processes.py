"""The bench's own servers: each a process, so that its CPU is told apart from what is measured."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Server(NamedTuple):
    url: str
    pid: int


@contextlib.contextmanager
def serving(module: str, *arguments: str) -> Generator[Server]:
    """`python -m module PORT arguments…`, from when it listens until the block ends."""
    port = _free_port()
    process = subprocess.Popen([sys.executable, "-m", module, str(port), *arguments], cwd=ROOT)
    try:
        _wait_for(port)
        yield Server(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the bench's own server did not start")


def cpu(pid: int) -> float:
    """Seconds on CPU of all live threads of a process, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
