"""Paused processes, restarted databases, full disks, stops and cancels, each in the middle of
turns: what was told stays, every word is there once, no finished tool runs again."""

import asyncio
import contextlib
import random
import signal
import sqlite3
from pathlib import Path

import msgspec
import pytest

from silu.store import Store, writer
from silu.types.frames import SessionItem
from tests.engine.story import STEPS, Story
from tests.engine.test_kill import Victim, check, check_tools, check_whole
from tests.engine.workspace import House, until
from tests.store.databases import Cluster
from tests.store.test_writer import small_disk

__all__ = ["small_disk"]

pytestmark = pytest.mark.anyio


async def _finished(house: House, folder: Path) -> None:
    """Every run ends by itself, and all of it is exact."""
    for run in await house.engine.list():
        await house.engine.wait(run.run_id)
    await check(house.store, {})
    for item in (await house.store.list_sessions()).sessions:
        messages = (await house.store.messages(item.id, limit=10_000)).messages
        assert not item.is_running
        check_whole(messages)
        check_tools(folder, messages)


async def _check_at_rest(house: House, place: Path) -> None:
    """Between two processes, when nothing writes."""
    store = await Store.open(place, blobs=house.folder / "blobs")
    await check(store, {})
    await store.close()


async def _story(place: str, folder: Path, *, pause: float = 0.003) -> tuple[House, str, str]:
    """A house over `place` in which one run of the story has begun: house, session, run."""
    house = House(folder)
    house.turn = Story(folder, pause=pause)
    await house.open(place)
    session = await house.session(model="demo/m")
    sent = await house.engine.send(session, "go on")
    return house, session, sent.run_id


async def test_a_process_that_wakes_up_late_changes_nothing(tmp_path: Path) -> None:
    """The kernel stops it in mid-turn; another takes its runs up; then it goes on."""
    place = str(tmp_path / "silu.db")
    victim = Victim(place, tmp_path, 2)
    await asyncio.sleep(0.15)
    while True:
        victim.signal(signal.SIGSTOP)
        if await asyncio.to_thread(_can_be_written, place):
            break
        victim.signal(signal.SIGCONT)  # it held the database's lock: another moment
        await asyncio.sleep(0.01)
    house = House(tmp_path)
    house.turn = Story(tmp_path, pause=0.0)
    await house.open(place)
    taken_up = await house.engine.list()
    assert taken_up
    for run in taken_up:
        await house.engine.wait(run.run_id)
    runs = {run.run_id for run in taken_up}
    before = {item.id: await _of_runs(house.store, item.id, runs) for item in await _all(house)}
    victim.signal(signal.SIGCONT)
    await asyncio.sleep(0.3)
    victim.kill_after(0.0)
    assert before == {
        item.id: await _of_runs(house.store, item.id, runs) for item in await _all(house)
    }
    await house.close()
    await house.open(place)
    await _finished(house, tmp_path)
    await house.close()


async def _all(house: House) -> list[SessionItem]:
    return (await house.store.list_sessions()).sessions


async def _of_runs(store: Store, session: str, runs: set[str]) -> list[tuple[object, ...]]:
    """Messages and facts of some runs."""
    messages = (await store.messages(session, limit=10_000)).messages
    told = [(m.id, m.content, m.thinking_content) for m in messages if m.run_id in runs]
    facts = await store.facts(session, 0, limit=100_000)
    return [*told, *((fact.n, fact.type) for fact in facts if fact.run_id in runs)]


def _can_be_written(place: str) -> bool:
    with contextlib.closing(sqlite3.connect(place, timeout=0.2, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return False
    return True


async def test_a_turn_goes_on_when_its_database_is_started_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    house, _, run_id = await _story(cluster.new_database(), tmp_path, pause=0.01)
    await asyncio.sleep(0.2)
    await asyncio.to_thread(cluster.stop)
    await asyncio.sleep(0.3)
    await asyncio.to_thread(cluster.start)
    await asyncio.wait_for(house.engine.wait(run_id), 30)
    await _finished(house, tmp_path)
    await house.close()


async def test_a_turn_waits_on_a_full_disk_and_goes_on_when_there_is_room(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PATIENCE", 0.2)
    house, session, run_id = await _story(str(small_disk / "silu.db"), tmp_path, pause=0.01)
    troubles: list[str | None] = []
    house.store.on_trouble(troubles.append)
    await asyncio.sleep(0.2)
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()
    await until(lambda: "full" in troubles)
    filler.unlink()
    await asyncio.wait_for(house.engine.wait(run_id), 20)
    await _finished(house, tmp_path)
    assert not (await house.store.session(session)).item.is_running
    await house.close()


@pytest.mark.parametrize(
    "rounds", [5, pytest.param(100, marks=pytest.mark.long)], ids=["short", "long"]
)
async def test_a_stop_at_any_moment_goes_on_in_the_next_process(
    tmp_path: Path, rounds: int
) -> None:
    dice = random.Random(rounds)
    house, session, _ = await _story(str(tmp_path / "silu.db"), tmp_path)
    for _ in range(rounds):
        await asyncio.sleep(dice.uniform(0.0, 0.15))
        await house.close(grace=dice.choice([0.0, 0.02]))
        await _check_at_rest(house, tmp_path / "silu.db")
        await house.open(str(tmp_path / "silu.db"))
        if not await house.engine.list(session):
            await house.engine.send(session, "go on")
    await _finished(house, tmp_path)
    await house.close()


@pytest.mark.parametrize(
    "rounds", [5, pytest.param(100, marks=pytest.mark.long)], ids=["short", "long"]
)
async def test_a_cancel_at_any_moment_ends_the_run_once_and_keeps_its_words(
    tmp_path: Path, rounds: int
) -> None:
    dice = random.Random(rounds)
    house, session, run_id = await _story(str(tmp_path / "silu.db"), tmp_path)
    for number in range(rounds):
        await asyncio.sleep(dice.uniform(0.0, 0.2))
        await house.engine.cancel(session)
        await house.engine.wait(run_id)
        facts = await house.store.facts(session, 0, limit=100_000)
        ends = [f for f in facts if f.type == "done" and f.run_id == run_id]
        assert len(ends) == 1
        assert msgspec.json.decode(ends[0].data)["status"] in {"cancelled", "completed"}
        await check(house.store, {})
        run_id = (await house.engine.send(session, f"go on {number}")).run_id
    await house.engine.wait(run_id)
    messages = (await house.store.messages(session, limit=10_000)).messages
    last = [m for m in messages if m.run_id == run_id and m.role == "assistant"]
    assert len(last) == STEPS + 1
    check_whole(last)
    check_tools(tmp_path, messages)
    await house.close()
