"""What a delta costs in the decoder alone, fed from memory, and whether that grows (P10).

`calls.py` has the whole client over a socket: that is what a person pays, and what P1 is about.
"""

from collections.abc import Callable

from bench import measure, streams
from bench.floor import Floor
from silu.types.events import TextDelta, ThinkingDelta
from silu.types.rules import DecodeRules
from silu.wire import decoder

N = 20_000
SHORT, LONG = 2_000, 30_000


def floor_run(dialect: str, pieces: list[bytes]) -> int:
    got: list[str] = []
    floor = Floor(dialect, got.append)
    for piece in pieces:
        floor.feed(piece)
    return len(got)


def silu_run(dialect: str, pieces: list[bytes]) -> int:
    reader = decoder(dialect, rules=DecodeRules(), streaming=True)
    deltas = 0
    for piece in pieces:
        for event in reader.feed(piece):
            kind = type(event)
            if kind is ThinkingDelta or kind is TextDelta:
                deltas += 1
    reader.close()
    return deltas


def alone(*, times: int) -> list[measure.Row]:
    """The decoder without a socket."""
    rows: list[measure.Row] = []
    for dialect, make in streams.STREAMS.items():
        pieces = streams.reads(make(N))
        assert floor_run(dialect, pieces) == silu_run(dialect, pieces) == N
        cases: dict[str, Callable[[], object]] = {
            "floor": lambda d=dialect, p=pieces: floor_run(d, p),
            "silu": lambda d=dialect, p=pieces: silu_run(d, p),
        }
        rows += compare(dialect, measure.rounds(cases, times=times))
    return rows


def compare(dialect: str, taken: dict[str, list[float]]) -> list[measure.Row]:
    def each(name: str) -> float:
        return measure.median(taken[name]) / N * 1e6

    ratio = measure.ratio(taken, "silu", "floor")
    return [
        measure.Row(f"{dialect}: floor", each("floor"), "µs"),
        measure.Row(f"{dialect}: silu", each("silu"), "µs", ratio),
    ]


def growth(*, times: int) -> list[measure.Row]:
    """P10: the cost of a delta must not depend on how long the stream is."""
    rows: list[measure.Row] = []
    for dialect, make in streams.STREAMS.items():
        short, long = streams.reads(make(SHORT)), streams.reads(make(LONG))
        cases: dict[str, Callable[[], object]] = {
            "short": lambda d=dialect, p=short: [silu_run(d, p) for _ in range(LONG // SHORT)],
            "long": lambda d=dialect, p=long: silu_run(d, p),
        }
        taken = measure.rounds(cases, times=times)
        ratio = measure.ratio(taken, "long", "short")
        cost = measure.median(taken["long"]) / LONG * 1e6
        rows.append(measure.Row(f"{dialect}: {LONG} against {SHORT}", cost, "µs", ratio, 1.2))
    return rows


def main(*, times: int) -> None:
    measure.report("P1  a delta, decoder alone (from memory)", alone(times=times))
    measure.report("P10 the decoder against the length of the stream", growth(times=times))
