"""Makes `.venv` what a lock file says, and silu importable in it. Does nothing when it is so.

    python scripts/venv.py run      what `make run` needs   (requirements.lock)
    python scripts/venv.py dev      what `make test` needs  (requirements-dev.lock)

Runs under the machine's own Python, before anything is installed: standard library only.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import system

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCKS = {"run": ROOT / "requirements.lock", "dev": ROOT / "requirements-dev.lock"}
NODE_LOCK = ROOT / "requirements-node.lock"
LEAST = (3, 11)

NO_VENV = """\
This Python cannot make virtual environments. On Debian the package python3-venv is missing
and this user may not install it; ask for `apt-get install python3-venv`."""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in LOCKS:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.version_info < LEAST:
        found = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"silu needs Python 3.11 or later, this is {found}: make PYTHON=python3.12 …")
    ensure_venv()
    ensure_packages(arguments[0])
    return 0


def ensure_venv() -> None:
    if PYTHON.exists() and _ok([str(PYTHON), "-m", "pip", "--version"]):
        return
    print("making .venv", flush=True)
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if _ok(command):
        return
    if system.install(["python3-venv"]) and _ok(command):
        return
    bare = [*command, "--without-pip"]
    pip_here = [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "-q", "pip"]
    if not (_ok(bare) and _ok(pip_here)):
        sys.exit(NO_VENV)


def ensure_packages(kind: str) -> None:
    """Install the lock and silu itself; `dev` holds all that `run` has."""
    wanted = _fingerprint(LOCKS[kind])
    stamp = VENV / f".{kind}.stamp"
    if not (stamp.is_file() and stamp.read_text() == wanted):
        print(f"installing what {LOCKS[kind].name} names into .venv", flush=True)
        _pip("--require-hashes", "-r", str(LOCKS[kind]))
        _pip("--no-deps", "--no-build-isolation", "-e", str(ROOT))
        stamp.write_text(wanted)
        if kind == "dev":
            (VENV / ".run.stamp").write_text(_fingerprint(LOCKS["run"]))
    if not _ok([str(PYTHON), str(ROOT / "scripts" / "webapp.py"), "has-node"]):
        print("installing Node into .venv", flush=True)
        _pip("--require-hashes", "-r", str(NODE_LOCK))


def _fingerprint(lock: Path) -> str:
    parts = [lock.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "-q", "--no-input", *arguments]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"pip failed:\n{done.stderr.strip()}")


def _ok(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
