"""P1, P2, P3 and P10 of the whole client: request, transport, decoder, recoveries and message,
against the floor and, with `--peers`, against what people use today."""

import contextlib
import statistics
from collections.abc import Generator
from typing import Any

from bench import measure, peers, streams, upstream
from bench.clients import PEERS
from bench.worker import Worker

N = 20_000
SHORT, LONG = 2_000, 30_000
PEER_N = 2_000
"""Deltas of a burst for a peer: enough for its cost, and a hundred times as slow as ours."""
CALLS = 60
PACED = {"n": 200, "streams": 50, "delay": 10}
CROWD = {"n": 200, "streams": 200, "delay": 10}

Rounds = dict[str, list[dict[str, float]]]


def rounds(workers: list[Worker], mode: str, *, times: int, **how: Any) -> Rounds:
    """Every worker's figures, round by round in turn; a first round is thrown away."""
    taken: Rounds = {worker.name: [] for worker in workers}
    for number in range(times + 1):
        for worker in workers:
            peer = worker.name in PEERS
            asked = {**how, "n": min(how["n"], PEER_N)} if peer and mode == "burst" else how
            figures = worker.ask(mode, **asked)
            if number:
                taken[worker.name].append(figures)
    return taken


def middle(taken: Rounds, name: str, key: str = "cost") -> float:
    return statistics.median(figures[key] for figures in taken[name])


def ratio(taken: Rounds, name: str, key: str = "cost") -> float:
    """The median over rounds of a figure to the floor's in the same round."""
    pairs = zip(taken[name], taken["floor"], strict=True)
    return statistics.median(a[key] / b[key] for a, b in pairs)


def rows(dialect: str, taken: Rounds, unit: str, *, goal: float, key: str = "cost") -> None:
    measure.print_rows(
        measure.Row(
            f"{dialect}: {name}",
            middle(taken, name, key),
            unit,
            None if name == "floor" else ratio(taken, name, key),
            goal if name == "silu" else None,
        )
        for name in taken
    )


@contextlib.contextmanager
def working(dialect: str, names: list[str], python: str | None) -> Generator[list[Worker]]:
    with contextlib.ExitStack() as open_now:
        workers = [open_now.enter_context(Worker(name, dialect)) for name in names]
        if python is not None:
            workers += [
                open_now.enter_context(Worker(name, dialect, python=python))
                for name in peers.speaking(dialect)
            ]
        yield workers


def bursts(base: str, python: str | None, *, times: int, n: int) -> None:
    measure.title("P1  a delta of a burst, whole client, CPU")
    for dialect in streams.STREAMS:
        with working(dialect, ["floor", "silu"], python) as workers:
            taken = rounds(workers, "burst", times=times, base=base, n=n)
        assert middle(taken, "silu", "chars") == middle(taken, "floor", "chars")
        rows(dialect, taken, "µs", goal=1.5)


def growth(base: str, *, times: int) -> None:
    measure.title(f"P10 a delta of {LONG} against one of {SHORT}, whole client, CPU")
    for dialect in streams.STREAMS:
        with Worker("silu", dialect) as worker:
            pairs = [
                [
                    worker.ask("burst", base=base, n=LONG)["cost"],
                    statistics.mean(
                        worker.ask("burst", base=base, n=SHORT)["cost"]
                        for _ in range(LONG // SHORT)
                    ),
                ]
                for _ in range(times + 1)
            ][1:]
        cost = statistics.median(long for long, _ in pairs)
        grown = statistics.median(long / short for long, short in pairs)
        measure.print_rows([measure.Row(dialect, cost, "µs", grown, 1.2)])


def waits(base: str, python: str | None, *, times: int, load: dict[str, int], crowd: bool) -> None:
    what = f"{load['streams']} streams x {1000 // load['delay']}/s"
    measure.title(f"P2  {what}: {'delay of a delta, p99' if crowd else 'CPU of a delta'}")
    for dialect in streams.STREAMS:
        with working(dialect, ["floor", "silu"], python) as workers:
            taken = rounds(workers, "paced", times=times, base=base, **load)
        key, unit, goal = ("p99", "ms", 2.0) if crowd else ("cost", "µs", 1.3)
        rows(dialect, taken, unit, goal=goal, key=key)
        wrong = sum(figures["wrong"] for figures in taken["silu"])
        measure.say(f"{dialect}: lost or out of order at silu: {wrong:.0f}")


def requests(base: str, python: str | None, *, times: int, n: int) -> None:
    measure.title("P3  a call of two deltas: build, send, open, read; CPU")
    goals = {"silu": 0.5, "silu, 200 messages": 3.0}
    names = ["floor", "silu", "silu, 200 messages", "silu, 400 messages"]
    for dialect in streams.STREAMS:
        with working(dialect, names, python) as workers:
            taken = rounds(workers, "request", times=times, base=base, n=n)
        measure.print_rows(
            measure.Row(f"{dialect}: {name}", middle(taken, name), "ms", None, goals.get(name))
            for name in taken
        )
        none, some, more = (middle(taken, name) for name in names[1:])
        measure.say(
            f"{dialect}: 200 more messages cost {(more - some) / (some - none):.2f} x the first 200"
        )


def main(*, times: int, python: str | None, tiny: bool) -> None:
    n = SHORT if tiny else N
    with upstream.vendor() as server:
        base = server.url
        bursts(base, python, times=times, n=n)
        if tiny:
            load = {"n": 20, "streams": 5, "delay": 10}
            waits(base, python, times=1, load=load, crowd=True)
            return
        growth(base, times=min(times, 5))
        waits(base, python, times=min(times, 3), load=PACED, crowd=False)
        waits(base, None, times=times, load=CROWD, crowd=True)
        requests(base, python, times=times, n=CALLS)
