"""Writes the lock files from pyproject.toml: exact versions with hashes, no index address.

    python scripts/lock.py [--upgrade]

Each lock holds for Python 3.11 and later on every platform, so that one file serves x86_64 and
aarch64. Needs `uv`, which `make lock` installs.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("requirements-dev.lock", ("pyproject.toml", "--group", "build", "--group", "dev")),
    (
        "requirements.lock",
        ("pyproject.toml", "--group", "build", "--constraint", "requirements-dev.lock"),
    ),
    ("requirements-node.lock", ("--group", "node")),
)


def compile_lock(name: str, arguments: tuple[str, ...]) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "-q"),
            *("--universal", "--python-version", "3.11", "--generate-hashes"),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate"),
            *("--custom-compile-command", "make lock", "-o", name),
            *arguments,
        ],
        cwd=ROOT,
        check=True,
    )


def main(arguments: list[str]) -> None:
    for name, contents in LOCKS:
        compile_lock(name, (*contents, *arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
