"""Debian packages that some tests need: which are missing, and installing them when we may.

python scripts/system.py        install what is missing; name in one line what stays missing
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Need(NamedTuple):
    """A program some tests use: its Debian package, and where it is looked for."""

    package: str
    programs: tuple[str, ...]
    used_by: str


NEEDS = (
    Need("chromium", ("chromium", "chromium-browser", "google-chrome"), "browser tests"),
    # The Node inside the playwright package is linked to it; a small Debian does not have it.
    Need("libatomic1", ("/usr/lib/*/libatomic.so.1", "/lib64/libatomic.so.1"), "browser tests"),
    Need("postgresql", ("/usr/lib/postgresql/*/bin/initdb",), "tests on PostgreSQL"),
    Need("ripgrep", ("rg",), "search through ripgrep"),
    Need("bubblewrap", ("bwrap",), "sandbox tests"),
)


def missing() -> list[Need]:
    return [need for need in NEEDS if not any(_found(program) for program in need.programs)]


def _found(program: str) -> bool:
    if program.startswith("/"):
        return any(Path("/").glob(program.lstrip("/")))
    return shutil.which(program) is not None


def apt() -> list[str] | None:
    """How to call apt-get as root here without a question, or None."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") is None:
        return None
    silent = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n", "apt-get"] if silent.returncode == 0 else None


def install(packages: list[str]) -> bool:
    """Install Debian packages when we may; False when we may not or it failed."""
    command = apt()
    if command is None:
        return False
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-qq", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=300"]
    steps = (["update"], ["install", "-y", "--no-install-recommends", *packages])
    for step in steps:
        done = subprocess.run(
            [*command, *options, *step],
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            print(f"apt-get {step[0]} failed: {done.stdout[-600:].strip()}", file=sys.stderr)
            return False
    return True


def main() -> int:
    lacking = missing()
    if lacking:
        print("installing", " ".join(need.package for need in lacking), flush=True)
        install([need.package for need in lacking])
    for need in missing():
        print(f"not here: {need.package} ({need.used_by}), and this user may not install it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
