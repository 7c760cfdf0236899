"""How numbers are taken: CPU, not wall time; rounds interleaved; medians and ratios to a floor."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the report: `value` in `unit`, as a multiple of the floor's, and the goal."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    goal: float | None = None


def title(text: str) -> None:
    """The head of a table, with the load the machine has at this moment."""
    print(f"\n{text}   (load {os.getloadavg()[0]:.1f})", flush=True)


def say(text: str) -> None:
    print(f"  {text}", flush=True)


def print_rows(rows: Iterable[Row]) -> None:
    for row in rows:
        line = f"  {row.name:44} {row.value:9.2f} {row.unit:3}"
        if row.ratio is not None:
            line += f"  {row.ratio:6.2f} x"
        if row.goal is not None:
            met = row.ratio if row.ratio is not None else row.value
            line += f"   goal {row.goal:g}  {'met' if met <= row.goal else 'MISSED'}"
        print(line, flush=True)


def report(head: str, rows: Iterable[Row]) -> None:
    title(head)
    print_rows(rows)


def rounds(cases: dict[str, Callable[[], object]], *, times: int) -> dict[str, list[float]]:
    """CPU seconds of each case, every round running each once; the first round is thrown away."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(times + 1):
        for name, case in cases.items():
            began = time.process_time()
            case()
            if number:
                taken[name].append(time.process_time() - began)
    return taken


def ratio(taken: dict[str, list[float]], name: str, floor: str) -> float:
    """The median over rounds of `name` to `floor` of the same round."""
    pairs = zip(taken[name], taken[floor], strict=True)
    return statistics.median(a / b for a, b in pairs)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def python_cpu(*arguments: str) -> float:
    """Run this Python with arguments; the CPU seconds it took. Raises when it fails."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = process.stderr.read().decode()
    process.stderr.close()
    if process.returncode != 0:
        raise RuntimeError(f"{arguments}: {said[-400:]}")
    return used.ru_utime + used.ru_stime


def python_memory(code: str) -> float:
    """Peak resident memory, in MB, of a Python that has run `code`.

    Read by the child itself: what wait4 tells of a child includes its parent's memory at the
    fork.
    """
    told = "; print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    done = subprocess.run(
        [sys.executable, "-c", code + told], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[1]) / 1024
