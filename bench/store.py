"""P8: appending to the store and opening a long session, against a thread that writes by hand.

The floor is the least a program does that keeps its loop free: one thread with the standard
library's sqlite3, one transaction an append. `row` writes a message as one row of one table;
`same rows` writes the rows that silu's append makes, with the statements ready.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bench import house, measure
from silu.store import Store, messages
from silu.store.api import NewSession
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.parts import Message, TextPart, ThinkingPart

ANSWER = "content words " * 36
THOUGHT = "thinking words " * 100
PAGE = 50

_ROWS = """
CREATE TABLE message(id TEXT PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL,
  role TEXT NOT NULL, content TEXT NOT NULL, thinking TEXT, created REAL NOT NULL);
CREATE INDEX message_session ON message(session, seq);
CREATE TABLE history(session TEXT, seq INTEGER, message TEXT, PRIMARY KEY(session, seq))
  WITHOUT ROWID;
CREATE INDEX history_message ON history(message);
CREATE TABLE due(message TEXT PRIMARY KEY) WITHOUT ROWID"""
_MESSAGE = "INSERT INTO message VALUES(?,?,?,?,?,?,?)"
_LAST = "SELECT * FROM message WHERE session=? ORDER BY seq DESC LIMIT ?"


class Floor:
    """One thread owns the connection; callers hand it work through a queue and await it."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(_ROWS)
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, daemon=True).start()

    def call(self, job: Callable[[sqlite3.Connection], Any]) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.put((job, future))
        return future

    def _work(self) -> None:
        while True:
            job, future = self._jobs.get()
            self._loop.call_soon_threadsafe(future.set_result, job(self._db))


def one_row(number: int) -> Callable[[sqlite3.Connection], None]:
    def job(db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        _insert(db, number)
        db.execute("COMMIT")

    return job


def same_rows(number: int) -> Callable[[sqlite3.Connection], None]:
    def job(db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        key = _insert(db, number)
        db.execute("INSERT INTO history VALUES(?,?,?)", ("b", number, key))
        db.execute("INSERT INTO due VALUES(?)", (key,))
        db.execute("COMMIT")

    return job


def _insert(db: sqlite3.Connection, number: int) -> str:
    key = new_id("m")
    thought = THOUGHT if number % 2 else None
    role = "assistant" if number % 2 else "user"
    db.execute(_MESSAGE, (key, "a", number, role, ANSWER, thought, time.time()))
    return key


def message(number: int) -> Message:
    parts: list[Any] = [TextPart(id="t", text=ANSWER)]
    if number % 2:
        parts.insert(0, ThinkingPart(id="h", text=THOUGHT))
    return Message(id=new_id("m"), role="assistant" if number % 2 else "user", parts=parts)


def appended(store: Store, session_id: str, number: int) -> "asyncio.Future[None]":
    made = message(number)
    return store.write(lambda tx: messages.put(tx, session_id, made))


async def timed(make: Callable[[int], Awaitable[object]], numbers: range) -> tuple[float, float]:
    """CPU of one in microseconds, and what a caller waits in the middle, in milliseconds."""
    waited: list[float] = []
    began = time.process_time()
    for number in numbers:
        at = time.perf_counter()
        await make(number)
        waited.append(time.perf_counter() - at)
    cpu = (time.process_time() - began) / len(numbers) * 1e6
    return cpu, measure.median(waited) * 1e3


async def p8(*, times: int, tiny: bool) -> None:
    rows, long = (20, 200) if tiny else (1000, 10_000)
    home = house.home()
    floor = Floor(home / "floor.db")
    store = await Store.open(home / "silu.db")
    try:
        await _appends(floor, store, times=times, rows=rows)
        await _first_page(floor, store, times=times, long=long)
    finally:
        await store.close()


async def _session(store: Store) -> str:
    return (await store.create_session(NewSession(workspace="/"))).item.id


async def _appends(floor: Floor, store: Store, *, times: int, rows: int) -> None:
    session_id = await _session(store)
    cases: dict[str, Callable[[int], Awaitable[object]]] = {
        "floor": lambda n: floor.call(one_row(n)),
        "same rows": lambda n: floor.call(same_rows(n)),
        "silu": lambda n: appended(store, session_id, n),
    }
    cpu: dict[str, list[float]] = {name: [] for name in cases}
    waits: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(times + 1):
        numbers = range(number * rows, (number + 1) * rows)
        for name, make in cases.items():
            cost, wait = await timed(make, numbers)
            if number:
                cpu[name].append(cost)
                waits[name].append(wait)
    measure.title("P8  one message appended, from the loop and back")
    for taken, unit in ((cpu, "µs"), (waits, "ms")):
        what = "CPU" if unit == "µs" else "p50 of the wait"
        measure.print_rows(
            measure.Row(
                f"{what}: {name}",
                measure.median(taken[name]),
                unit,
                None if name == "floor" else measure.ratio(taken, name, "floor"),
                1.2 if name == "silu" else None,
            )
            for name in cases
        )
        measure.say(
            f"silu against the same rows: {measure.ratio(taken, 'silu', 'same rows'):.2f} x"
        )


async def _first_page(floor: Floor, store: Store, *, times: int, long: int) -> None:
    session_id = await _session(store)

    def fill(tx: Tx) -> None:
        for number in range(long):
            messages.put(tx, session_id, message(number))

    def fill_floor(db: sqlite3.Connection) -> None:
        db.execute("BEGIN")
        db.executemany(
            _MESSAGE,
            [
                (f"x{n}", "long", n, "user", ANSWER, THOUGHT if n % 2 else None, 0)
                for n in range(long)
            ],
        )
        db.execute("COMMIT")

    await store.write(fill)
    await floor.call(fill_floor)
    waits: dict[str, list[float]] = {"floor": [], "silu": []}
    for _ in range(times + 1):
        _, floor_wait = await timed(
            lambda _: floor.call(lambda db: db.execute(_LAST, ("long", PAGE)).fetchall()),
            range(100),
        )
        _, wait = await timed(lambda _: store.messages(session_id, limit=PAGE), range(100))
        waits["floor"].append(floor_wait)
        waits["silu"].append(wait)
    measure.title(f"P8  first page ({PAGE}) of a session of {long} messages, p50 of the wait")
    measure.print_rows(
        [
            measure.Row("floor: rows only", measure.median(waits["floor"]), "ms"),
            measure.Row("silu", measure.median(waits["silu"]), "ms", None, 0.3),
        ]
    )
