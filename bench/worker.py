"""One client in a process of its own, measured on command: JSON lines in, JSON lines out.

So rounds of many clients can take turns while each keeps its imports and its connections. Only
the standard library and the client itself are loaded here.
"""

import asyncio
import gc
import json
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

from bench.clients import Stream, make
from bench.processes import ROOT
from bench.upstream import moments


async def burst(stream: Stream, *, base: str, n: int) -> dict[str, float]:
    """CPU of a delta, in microseconds, when all are there at once."""
    got: list[str] = []
    gc.collect()
    began = time.process_time()
    await stream(f"{base}/n={n}", got.append)
    took = time.process_time() - began
    return {"cost": took / n * 1e6, "chars": len("".join(got))}


async def request(stream: Stream, *, base: str, n: int) -> dict[str, float]:
    """CPU of a call of two deltas, in milliseconds, over `n` calls."""
    got: list[str] = []
    gc.collect()
    began = time.process_time()
    for _ in range(n):
        await stream(f"{base}/n=2", got.append)
    return {"cost": (time.process_time() - began) / n * 1e3, "chars": len("".join(got)) / n}


async def paced(
    stream: Stream, *, base: str, n: int, streams: int, delay: float
) -> dict[str, float]:
    """Many streams at once: CPU of a delta in microseconds, its delay in milliseconds, and how
    many deltas were lost or out of order."""
    late: list[int] = []
    wrong = 0

    async def one(number: int) -> None:
        nonlocal wrong
        seen = 0

        def on(text: str) -> None:
            nonlocal seen, wrong
            now = time.monotonic_ns()
            for at, sent in moments(text):
                late.append(now - sent)
                wrong += at != seen
                seen += 1

        await asyncio.sleep(number * delay / streams / 1e3)
        await stream(f"{base}/n={n},delay={delay:g},wait=1000", on)
        wrong += seen != n

    await stream(f"{base}/n=2", len)
    gc.collect()
    began = time.process_time()
    await asyncio.gather(*(one(number) for number in range(streams)))
    took = time.process_time() - began
    late.sort()
    return {
        "cost": took / (n * streams) * 1e6,
        "p50": late[len(late) // 2] / 1e6,
        "p99": late[len(late) * 99 // 100] / 1e6,
        "wrong": wrong,
    }


MODES: dict[str, Any] = {"burst": burst, "request": request, "paced": paced}


async def work(name: str, dialect: str) -> None:
    stream = make(name, dialect)
    print(json.dumps({"ready": name}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        print(json.dumps(await MODES[asked.pop("mode")](stream, **asked)), flush=True)


class Worker:
    """A measured client, from outside. `python` is the interpreter that has it installed."""

    def __init__(self, name: str, dialect: str, *, python: str = sys.executable) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "bench.worker", name, dialect],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def ask(self, mode: str, **how: Any) -> dict[str, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"mode": mode, **how}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None and self._process.stderr is not None
        for line in self._process.stdout:
            # Some libraries print.
            if line.startswith("{"):
                return json.loads(line)
        raise RuntimeError(f"{self.name} ended: {self._process.stderr.read()[-600:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
