"""P4 and P9: importing silu and starting its command, against an empty Python."""

import sys
from pathlib import Path

from bench import measure

SILU = str(Path(sys.executable).with_name("silu"))
"""The installed command, as a person starts it."""

IMPORT = "import silu"
CLIENT = "import silu.providers.client, aiohttp"
"""All that a process has loaded once it has made a call."""

CASES: dict[str, tuple[str, ...]] = {
    "empty": ("-c", "pass"),
    "import silu": ("-c", IMPORT),
    "silu --version": (SILU, "--version"),
    "silu --help": (SILU, "--help"),
}
GOALS = {"import silu": 7.0, "silu --version": 3.0, "silu --help": 6.0}
CLIENT_MB = 45.0


def main(*, times: int) -> None:
    cpu: dict[str, list[float]] = {name: [] for name in CASES}
    for number in range(times + 1):
        for name, arguments in CASES.items():
            seconds = measure.python_cpu(*arguments)
            if number:
                cpu[name].append(seconds)
    rows = [measure.Row("an empty Python", measure.median(cpu["empty"]) * 1e3, "ms")]
    for name, goal in GOALS.items():
        value = measure.median(cpu[name]) * 1e3
        rows.append(measure.Row(name, value, "ms", measure.ratio(cpu, name, "empty"), goal))
    measure.report("P4, P9  start, CPU", rows)
    size = measure.median([measure.python_memory(CLIENT) for _ in range(3)])
    row = measure.Row("peak memory", size, "MB", None, CLIENT_MB)
    measure.report("P4  a process with the client loaded", [row])
