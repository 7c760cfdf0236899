"""P1 and P10: what a delta costs from the vendor's bytes to our event.

Twice: the decoder alone, fed from memory, and end to end over a local socket (aiohttp below
both sides). P1's goal is for the second: that is what a person pays.
"""

import asyncio
import multiprocessing
import socket
import time
from collections.abc import Awaitable, Callable

import aiohttp

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
        rows += compare(dialect, measure.rounds(cases, times=times), goal=None)
    return rows


def compare(
    dialect: str, taken: dict[str, list[float]], *, goal: float | None
) -> list[measure.Row]:
    def each(name: str) -> float:
        return measure.median(taken[name]) / N * 1e6

    ratio = measure.ratio(taken, "silu", "floor")
    return [
        measure.Row(f"{dialect}: floor", each("floor"), "µs"),
        measure.Row(f"{dialect}: silu", each("silu"), "µs", ratio, goal),
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


# ---------------------------------------------------------------------------- over a socket


def serve(port: int, bodies: dict[str, bytes]) -> None:
    """A vendor that has its answer ready: a process of its own, so that its CPU is not ours."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                body = bodies[head.split(b" ", 2)[1].decode().lstrip("/")]
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"transfer-encoding: chunked\r\n\r\n"
                )
                for event in body.split(b"\n\n")[:-1]:
                    writer.write(b"%x\r\n%b\n\n\r\n" % (len(event) + 2, event))
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(main())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def over_a_socket(port: int, *, times: int) -> list[measure.Row]:
    rows: list[measure.Row] = []
    async with aiohttp.ClientSession() as session:
        for dialect in streams.STREAMS:
            url = f"http://127.0.0.1:{port}/{dialect}"

            async def floor(url: str = url, dialect: str = dialect) -> int:
                got: list[str] = []
                sink = Floor(dialect, got.append)
                async with session.get(url) as answer:
                    async for piece in answer.content.iter_any():
                        sink.feed(piece)
                return len(got)

            async def ours(url: str = url, dialect: str = dialect) -> int:
                reader = decoder(dialect, rules=DecodeRules(), streaming=True)
                deltas = 0
                async with session.get(url) as answer:
                    async for piece in answer.content.iter_any():
                        for event in reader.feed(piece):
                            kind = type(event)
                            if kind is ThinkingDelta or kind is TextDelta:
                                deltas += 1
                reader.close()
                return deltas

            assert await floor() == await ours() == N
            cases: dict[str, Callable[[], Awaitable[object]]] = {"floor": floor, "silu": ours}
            taken = await measure.async_rounds(cases, times=times)
            rows += compare(dialect, taken, goal=1.5)
    return rows


def socket_rows(*, times: int) -> list[measure.Row]:
    port = free_port()
    bodies = {dialect: make(N) for dialect, make in streams.STREAMS.items()}
    vendor = multiprocessing.get_context("spawn").Process(
        target=serve, args=(port, bodies), daemon=True
    )
    vendor.start()
    try:
        wait_for(port)
        return asyncio.run(over_a_socket(port, times=times))
    finally:
        vendor.terminate()
        vendor.join()


def wait_for(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the bench's own server did not start")


def main(*, times: int) -> None:
    measure.report("P1  a delta, decoder alone (from memory)", alone(times=times))
    measure.report("P1  a delta over a socket, aiohttp below both", socket_rows(times=times))
    measure.report("P10 cost against the length of the stream", growth(times=times))
