"""Runs every test and says, at the end, what was covered and what was left out.

    python scripts/test.py          all but the tests marked `long`
    python scripts/test.py --long   only those

Steps that pass print one line; what a failed one printed is shown whole. Tests that could not
run here are listed with their reason, and written to build/test/left-out.txt for `.ci/run`.
"""

import json
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import webapp

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "test"
JUNIT = OUT / "pytest.xml"
LEFT_OUT = OUT / "left-out.txt"

WANTED = {"wire": 100.0, "providers": 100.0}
WANTED_ELSEWHERE = 90.0

NOT_LEFT_OUT = ("kernel:", "optional:")
"""A skip whose reason begins so is told, but is no gap: what it needs cannot be installed."""

NO_TESTS = 5
"""pytest's exit code when nothing was collected."""


def main(arguments: list[str]) -> int:
    long = arguments == ["--long"]
    OUT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    failed = [] if long else web_steps()
    code, closing = pytest(long=long)
    if code not in (0, NO_TESTS) or (code == NO_TESTS and not long):
        failed.append("pytest")
    if not long:
        print_coverage()
    print_left_out()
    print(f"\n{time.monotonic() - began:.0f} s in all")
    if failed:
        print("failed:", ", ".join(failed))
    print(closing or "no tests ran")
    return 1 if failed else 0


def web_steps() -> list[str]:
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("web app: build", webapp.build),
        ("web app: vue-tsc, eslint, generated types", lambda: webapp.run("check")),
        ("web app: vitest", lambda: webapp.run("test")),
    )
    return [name for name, step in steps if not passed(name, step)]


def passed(name: str, step: Callable[[], object]) -> bool:
    began = time.monotonic()
    print(name, end=" … ", flush=True)
    try:
        step()
    except webapp.WebError as error:
        print(f"failed\n{error}")
        return False
    print(f"{time.monotonic() - began:.0f} s")
    return True


def pytest(*, long: bool) -> tuple[int, str]:
    """Run pytest on all cores; its exit code and its closing line."""
    JUNIT.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-v", "-n", "auto", "--dist", "worksteal"]
    command += ["--no-header", f"--junitxml={JUNIT}", "-m", "long" if long else "not long"]
    if not long:
        command += ["--cov", "--cov-report="]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    closing = ""
    assert running.stdout is not None
    for line in running.stdout:
        print(line, end="", flush=True)
        if line.startswith("=") and " in " in line:
            closing = line.strip()
    return running.wait(), closing


def print_coverage() -> None:
    """Line coverage by room, and the files that keep a room below what is wanted."""
    report = OUT / "coverage.json"
    command = [sys.executable, "-m", "coverage", "json", "-q", "-o", str(report)]
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        return
    rooms: dict[str, list[tuple[str, int, int, list[int]]]] = {}
    for name, data in json.loads(report.read_text())["files"].items():
        inside = Path(name).parts
        inside = inside[inside.index("silu") + 1 :]
        room = inside[0] if len(inside) > 1 else "(top)"
        summary = data["summary"]
        row = (name, summary["covered_lines"], summary["num_statements"], data["missing_lines"])
        rooms.setdefault(room, []).append(row)
    print("\nline coverage       lines  covered   wanted")
    for room, rows in sorted(rooms.items()):
        print_room(room, rows)
    covered = sum(row[1] for rows in rooms.values() for row in rows)
    lines = sum(row[2] for rows in rooms.values() for row in rows)
    print(f"{'in all':18} {lines:6} {percent(covered, lines):7.1f}%")


def print_room(room: str, rows: list[tuple[str, int, int, list[int]]]) -> None:
    lines, covered = sum(row[2] for row in rows), sum(row[1] for row in rows)
    wanted = WANTED.get(room, WANTED_ELSEWHERE)
    share = percent(covered, lines)
    print(f"{room:18} {lines:6} {share:7.1f}% {wanted:7.0f}%")
    if share >= wanted:
        return
    for name, has, of, missing in sorted(rows):
        if percent(has, of) < wanted:
            print(f"    {name}: {percent(has, of):.0f}%, not run: {spans(missing)}")


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def spans(lines: list[int], *, most: int = 12) -> str:
    """[3, 4, 5, 9] as "3-5 9", cut after `most` spans."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1][1:] = [line]
        else:
            runs.append([line])
    shown = ["-".join(map(str, run)) for run in runs[:most]]
    return " ".join([*shown, "…"] if len(runs) > most else shown)


def is_gap(reason: str) -> bool:
    """False where a skip says that nothing could be installed to mend it."""
    # bwrap is there and still does not work: the kernel forbids namespaces.
    forbidden = "bubblewrap" in reason and shutil.which("bwrap") is not None
    return not (forbidden or reason.startswith(NOT_LEFT_OUT))


def print_left_out() -> None:
    """One line a reason for the tests that could not run here."""
    reasons = Counter[str]()
    if JUNIT.is_file():
        for skipped in ET.parse(JUNIT).getroot().iter("skipped"):
            if skipped.get("type") == "pytest.xfail":
                continue  # it ran
            reasons[skipped.get("message", "").removeprefix("Skipped: ").strip()] += 1
    gaps = {r: n for r, n in reasons.items() if is_gap(r)}
    for reason, count in sorted(reasons.items()):
        word = "left out" if reason in gaps else "not possible here"
        print(f"{word}: {count} test{'s' if count > 1 else ''}: {reason}")
    LEFT_OUT.write_text("".join(f"{count} {reason}\n" for reason, count in sorted(gaps.items())))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
