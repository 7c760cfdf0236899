"""P5, P6, P7 and the crowd: `silu serve` with facts and persistence on, against plain relays.

CPU is that of the server's process alone; the vendor, the pages and the floor are others.
"""

import asyncio
import contextlib
from typing import NamedTuple

import aiohttp

from bench import measure, processes, upstream
from bench.processes import Server, serving
from bench.relay import DONE
from bench.viewer import Page, new_session, page, place, workspace
from bench.worker import Worker

SETTLE = 0.3
"""Seconds after the last frame in which a server writes down what it has sent."""

TIDY = 4.0
"""Seconds in which it also indexes for search what was said."""


class Seen(NamedTuple):
    """What a run of streams came to. `cost` is microseconds of the server's CPU a delta: of a
    burst in all, of paced streams while nothing but deltas comes (`turn`: milliseconds that a
    turn's beginning and end cost beside that)."""

    cost: float
    turn: float = 0.0
    p50: float = 0.0
    p99: float = 0.0
    wrong: int = 0


async def silu_streams(
    server: Server, name: str, *, streams: int, n: int, a_page: int = 1, steady: float = 0.0
) -> Seen:
    """`streams` turns at once, read by a page for every `a_page` of them."""
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(client())
        url = f"{server.url}/api/v1/ws"
        pages = [
            await stack.enter_async_context(page(http, url)) for _ in range(0, streams, a_page)
        ]
        sessions = [
            (pages[at // a_page], await new_session(http, server.url, name))
            for at in range(streams)
        ]
        began = processes.cpu(server.pid)
        await asyncio.gather(*(one.go(session_id) for one, session_id in sessions))
        await asyncio.gather(*(one.begun(session_id) for one, session_id in sessions))
        cost = await _steady(server, pages, steady) if steady else 0.0
        for one, session_id in sessions:
            await one.ended(session_id, seconds=120)
        await asyncio.sleep(SETTLE)
        took = processes.cpu(server.pid) - began
        told = [one.in_order(session_id) for one, session_id in sessions]
    if not steady:
        return Seen(took / (n * streams) * 1e6)
    turn = (took - cost * n * streams / 1e6) / streams * 1e3
    return Seen(cost, turn, *delays(told, n=n))


async def _steady(server: Server, pages: list[Page], seconds: float) -> float:
    """Microseconds of the server's CPU for each delta that comes within so many seconds."""
    before, began = sum(one.chars for one in pages), processes.cpu(server.pid)
    await asyncio.sleep(seconds)
    took = processes.cpu(server.pid) - began
    return took / ((sum(one.chars for one in pages) - before) / upstream.STAMPED) * 1e6


def delays(told: list[list[tuple[int, str]]], *, n: int) -> tuple[float, float, int]:
    """Of paced streams: milliseconds from the vendor's write to the page, p50 and p99, and how
    many deltas are missing or out of order."""
    late: list[float] = []
    wrong = 0
    for session in told:
        seen = 0
        for moment, text in session:
            for number, sent in upstream.moments(text):
                late.append((moment - sent) / 1e6)
                wrong += number != seen
                seen += 1
        wrong += seen != n
    late.sort()
    return late[len(late) // 2], late[len(late) * 99 // 100], wrong


async def floor_streams(
    server: Server, parameters: str, *, streams: int, n: int, steady: float = 0.0
) -> float:
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(client())
        pages = [await stack.enter_async_context(page(http, server.url)) for _ in range(streams)]
        began = processes.cpu(server.pid)
        for one in pages:
            await one.socket.send_str(f"relay {parameters}")
        await asyncio.gather(*(one.begun("") for one in pages))
        cost = await _steady(server, pages, steady) if steady else 0.0
        for one in pages:
            await one.ended("", seconds=120)
        await asyncio.sleep(SETTLE)
        return cost or (processes.cpu(server.pid) - began) / (n * streams) * 1e6


def client() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


class Load(NamedTuple):
    name: str
    streams: int
    n: int
    parameters: str
    steady: float
    goal: float


async def p5(*, times: int, tiny: bool) -> None:
    burst = Load("burst", 1, 200 if tiny else 20_000, "", 0.0, 2.0)
    paced = Load("paced", 20, 700, ",delay=10,wait=500", 4.0, 1.3)
    if tiny:
        paced = Load("paced", 3, 40, ",delay=10,wait=200", 0.1, 1.3)
    with upstream.vendor() as vendor, serving("bench.relay", vendor.url) as relay:
        places = [place(x.name, vendor.url, f"n={x.n}{x.parameters}") for x in (burst, paced)]
        with workspace(*places) as server:
            measure.title("P5  a delta from the vendor to the page, facts and store on, CPU")
            for load in (burst, paced):
                await _p5(server, relay, load, times=times)


async def _p5(server: Server, relay: Server, load: Load, *, times: int) -> None:
    name, streams, n, parameters, steady, goal = load
    taken: dict[str, list[float]] = {"floor": [], "silu": []}
    seen: list[Seen] = []
    for _ in range(times + 1):
        asked = f"n={n}{parameters}"
        taken["floor"].append(
            await floor_streams(relay, asked, streams=streams, n=n, steady=steady)
        )
        seen.append(await silu_streams(server, name, streams=streams, n=n, steady=steady))
        taken["silu"].append(seen[-1].cost)
    taken, seen = {who: costs[1:] for who, costs in taken.items()}, seen[1:]
    what = f"{name}, streams: {streams}"
    ratio = measure.ratio(taken, "silu", "floor")
    measure.print_rows(
        [
            measure.Row(f"{what}: relay floor", measure.median(taken["floor"]), "µs"),
            measure.Row(f"{what}: silu", measure.median(taken["silu"]), "µs", ratio, goal),
        ]
    )
    if steady:
        middle, slow, turn = (
            measure.median([getattr(one, key) for one in seen]) for key in ("p50", "p99", "turn")
        )
        measure.say(f"{what}: delay p50 {middle:.1f} ms, p99 {slow:.1f} ms")
        measure.say(f"{what}: a turn's beginning and end: {turn:.1f} ms of CPU")


async def p6(*, tiny: bool) -> None:
    streams, n, idle = (2, 50, 1.0) if tiny else (20, 400, 60.0)
    with upstream.vendor() as vendor:
        paced = place("paced", vendor.url, f"n={n},delay=10")
        burst = place("burst", vendor.url, f"n={n}")
        with workspace(paced, burst) as server:
            await silu_streams(server, "paced", streams=streams, n=n)
            await asyncio.sleep(TIDY)
            size = processes.memory(server.pid)
            began = processes.cpu(server.pid)
            await asyncio.sleep(idle)
            rest = (processes.cpu(server.pid) - began) / idle * 1e3
            await silu_streams(server, "burst", streams=streams, n=n)
            await asyncio.sleep(TIDY)
            most = processes.memory(server.pid)
    measure.title(f"P6  after {streams} streams of {n} deltas at once")
    measure.print_rows(
        [
            measure.Row("resident memory", size, "MB", None, 80.0),
            measure.Row(f"idle CPU a second, over {idle:.0f} s", rest, "ms", None, 0.2),
            measure.Row("resident memory after as many bursts", most, "MB"),
        ]
    )


async def silu_fan(server: Server, name: str, *, clients: int) -> tuple[float, int]:
    """One paced turn that many pages follow: CPU seconds, frames each of them got."""
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(client())
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
        http = await stack.enter_async_context(client())
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
    streams, n = (5, 60) if tiny else (200, 500)
    with upstream.vendor() as vendor:
        with Worker("floor", "openai-chat") as reader:
            # Asked in a thread: what the bench does meanwhile must not delay it.
            direct = await asyncio.to_thread(
                reader.ask, "paced", base=vendor.url, n=n, streams=streams, delay=20
            )
        paced = place("paced", vendor.url, f"n={n},delay=20,wait=3000")
        with workspace(paced) as server:
            seen = await silu_streams(
                server, "paced", streams=streams, n=n, a_page=20, steady=n * 0.02 / 2
            )
    measure.title(f"    {streams} streams at once, 50 deltas a second each, 20 on a page")
    measure.print_rows(
        [
            measure.Row("delay at a client that reads the vendor, p99", direct["p99"], "ms"),
            measure.Row("delay at the page, p50", seen.p50, "ms"),
            measure.Row("delay at the page, p99", seen.p99, "ms"),
            measure.Row("added, p99", seen.p99 - direct["p99"], "ms", None, 150.0),
            measure.Row("lost or out of order", seen.wrong, "", None, 0.0),
            measure.Row("CPU of a delta", seen.cost, "µs"),
        ]
    )
