"""The files of the checkout, as git sees them, for the rules that read them."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "silu"

BINARY = {".png", ".jpg", ".webp", ".ico", ".woff2", ".bin", ".gz", ".db"}


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Tracked and new files that git does not ignore; all of them, or those with a suffix."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return tuple(p for p in paths if p.is_file() and (not suffixes or p.suffix in suffixes))


def texts() -> list[tuple[Path, str]]:
    """Every file of text with its contents."""
    return [(p, p.read_text("utf-8", "replace")) for p in files() if p.suffix not in BINARY]


def show(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def run(*command: str) -> None:
    """Run a checker of this environment; fail with what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"
