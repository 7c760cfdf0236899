"""P5, P6, P7 and the crowd: `silu serve` with facts and persistence on, against plain relays.

CPU is that of the server's process alone; the vendor, the pages and the floor are others.
"""

import asyncio
import contextlib
import statistics

import aiohttp

from bench import measure, processes, upstream
from bench.processes import Server, serving
from bench.relay import DONE
from bench.viewer import new_session, page, place, workspace

SETTLE = 0.3
"""Seconds after the last frame in which a server writes down what it has sent."""


async def silu_streams(server: Server, name: str, *, streams: int, n: int) -> dict[str, float]:
    """`streams` turns at once, read by one page: CPU a delta, and the delays of paced ones."""
    async with aiohttp.ClientSession() as http, page(http, f"{server.url}/api/v1/ws") as seen:
        sessions = [await new_session(http, server.url, name) for _ in range(streams)]
        began = processes.cpu(server.pid)
        await asyncio.gather(*(seen.go(session_id) for session_id in sessions))
        for session_id in sessions:
            await seen.ended(session_id, seconds=120)
        await asyncio.sleep(SETTLE)
        took = processes.cpu(server.pid) - began
        told = [seen.in_order(session_id) for session_id in sessions]
    return {"cost": took / (n * streams) * 1e6, **delays(told, n=n)}


def delays(told: list[list[tuple[int, str]]], *, n: int) -> dict[str, float]:
    """Of paced streams: milliseconds from the vendor's write to the page, and what is wrong."""
    late: list[float] = []
    wrong = 0
    for session in told:
        seen = 0
        if ":" not in session[0][1]:
            return {}
        for moment, text in session:
            for number, sent in upstream.moments(text):
                late.append((moment - sent) / 1e6)
                wrong += number != seen
                seen += 1
        wrong += seen != n
    late.sort()
    return {"p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "wrong": wrong}


async def floor_streams(
    server: Server, parameters: str, *, streams: int, n: int
) -> dict[str, float]:
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        pages = [await stack.enter_async_context(page(http, server.url)) for _ in range(streams)]
        began = processes.cpu(server.pid)
        for one in pages:
            await one.socket.send_str(f"relay {parameters}")
        for one in pages:
            await one.ended("", seconds=120)
        await asyncio.sleep(SETTLE)
        return {"cost": (processes.cpu(server.pid) - began) / (n * streams) * 1e6}


async def p5(*, times: int, tiny: bool) -> None:
    cases = [("burst", 1, 200 if tiny else 20_000, "", 2.0)]
    cases.append(("paced", 3 if tiny else 20, 20 if tiny else 1000, ",delay=10,wait=500", 1.3))
    with upstream.vendor() as vendor, serving("bench.relay", vendor.url) as relay:
        places = [place(name, vendor.url, f"n={n}{more}") for name, _, n, more, _ in cases]
        with workspace(*places) as server:
            measure.title("P5  a delta from the vendor to the page, facts and store on, CPU")
            for name, streams, n, more, goal in cases:
                ours: list[dict[str, float]] = []
                theirs: list[float] = []
                for _ in range(times + 1):
                    told = await floor_streams(relay, f"n={n}{more}", streams=streams, n=n)
                    theirs.append(told["cost"])
                    ours.append(await silu_streams(server, name, streams=streams, n=n))
                ratios = [a["cost"] / b for a, b in zip(ours[1:], theirs[1:], strict=True)]
                what = f"{name}, {streams} streams"
                measure.print_rows(
                    [
                        measure.Row(f"{what}: relay floor", statistics.median(theirs[1:]), "µs"),
                        measure.Row(
                            f"{what}: silu",
                            statistics.median(one["cost"] for one in ours[1:]),
                            "µs",
                            statistics.median(ratios),
                            goal,
                        ),
                    ]
                )
                if "p50" in ours[0]:
                    middle, slow = (
                        statistics.median(x[key] for x in ours[1:]) for key in ("p50", "p99")
                    )
                    measure.say(f"{what}: delay p50 {middle:.1f} ms, p99 {slow:.1f} ms")


async def p6(*, tiny: bool) -> None:
    streams, n, idle = (2, 50, 1.0) if tiny else (20, 1000, 60.0)
    with upstream.vendor() as vendor, workspace(place("burst", vendor.url, f"n={n}")) as server:
        await silu_streams(server, "burst", streams=streams, n=n)
        await asyncio.sleep(2 * SETTLE)
        size = processes.memory(server.pid)
        began = processes.cpu(server.pid)
        await asyncio.sleep(idle)
        rest = (processes.cpu(server.pid) - began) / idle * 1e3
    measure.title(f"P6  after {streams} streams of {n} deltas")
    measure.print_rows(
        [
            measure.Row("resident memory", size, "MB", None, 80.0),
            measure.Row(f"idle CPU a second, over {idle:.0f} s", rest, "ms", None, 0.2),
        ]
    )


async def silu_fan(server: Server, name: str, *, clients: int) -> tuple[float, int]:
    """One paced turn that many pages follow: CPU seconds, frames each of them got."""
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        )
        url = f"{server.url}/api/v1/ws"
        pages = [await stack.enter_async_context(page(http, url)) for _ in range(clients)]
        session_id = await new_session(http, server.url, name)
        for one in pages[1:]:
            await one.ask("subscribe", session_id, since=0)
        before = pages[-1].frames
        began = processes.cpu(server.pid)
        await pages[0].go(session_id)
        for one in pages:
            await one.ended(session_id, seconds=120)
        return processes.cpu(server.pid) - began, pages[-1].frames - before


async def floor_fan(
    server: Server, *, clients: int, n: int, delay: int, size: int
) -> tuple[float, int]:
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        )
        pages = [await stack.enter_async_context(page(http, server.url)) for _ in range(clients)]
        for one in pages:
            await one.socket.send_str("follow")
        pusher = await stack.enter_async_context(http.ws_connect(server.url))
        began = processes.cpu(server.pid)
        text = "x" * (size - len(DONE) - 24)
        await pusher.send_str(f"push {n} {delay} {text}")
        for one in pages:
            await one.ended("", seconds=120)
        return processes.cpu(server.pid) - began, n


FRAME = 300
"""Bytes of a delta's frame, about."""


async def p7(*, times: int, tiny: bool) -> None:
    n, delay, many = (20, 20, 4) if tiny else (250, 20, 51)
    with upstream.vendor() as vendor, serving("bench.relay", vendor.url) as relay:
        paced = place("paced", vendor.url, f"n={n},delay={delay}")
        with workspace(paced) as server:
            taken: dict[str, list[float]] = {"floor": [], "silu": []}
            for _ in range(times + 1):
                alone, _ = await floor_fan(relay, clients=1, n=n, delay=delay, size=FRAME)
                all_of, frames = await floor_fan(relay, clients=many, n=n, delay=delay, size=FRAME)
                taken["floor"].append((all_of - alone) / (many - 1) / frames * 1e6)
                alone, _ = await silu_fan(server, "paced", clients=1)
                all_of, frames = await silu_fan(server, "paced", clients=many)
                taken["silu"].append((all_of - alone) / (many - 1) / frames * 1e6)
    taken = {name: costs[1:] for name, costs in taken.items()}
    measure.title(f"P7  an event to one more of {many} pages, CPU")
    measure.print_rows(
        [
            measure.Row("plain ASGI", measure.median(taken["floor"]), "µs"),
            measure.Row(
                "silu",
                measure.median(taken["silu"]),
                "µs",
                measure.ratio(taken, "silu", "floor"),
                1.2,
            ),
        ]
    )


async def crowd(*, tiny: bool) -> None:
    streams, n = (5, 20) if tiny else (200, 500)
    with upstream.vendor() as vendor:
        paced = place("paced", vendor.url, f"n={n},delay=20,wait=3000")
        with workspace(paced) as server:
            told = await silu_streams(server, "paced", streams=streams, n=n)
    measure.title(f"    {streams} streams at once, 50 deltas a second each")
    measure.print_rows(
        [
            measure.Row("delay from the vendor to the page, p50", told["p50"], "ms"),
            measure.Row("delay from the vendor to the page, p99", told["p99"], "ms", None, 150.0),
            measure.Row("lost or out of order", told["wrong"], "", None, 0.0),
            measure.Row("CPU of a delta", told["cost"], "µs"),
        ]
    )
