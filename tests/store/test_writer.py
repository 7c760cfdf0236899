"""The writer under trouble: locks, a full disk, a database that goes away and comes back."""

import asyncio
import contextlib
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from silu.store import NewSession, Store, log, writer
from silu.store.sql import Tx
from silu.types.capabilities import Learned
from silu.types.errors import UserError
from silu.types.facts import Notice
from tests.store.databases import Cluster
from tests.store.rows import begin, finish

pytestmark = pytest.mark.anyio


async def test_one_job_that_fails_fails_alone(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id

    def good(tx: Tx) -> None:
        log.append(tx, session, None, [Notice(kind="k", text="good")])

    def bad(tx: Tx) -> None:
        log.append(tx, session, None, [Notice(kind="k", text="bad")])
        raise ValueError("no")

    def wrong(tx: Tx) -> None:
        log.append(tx, session, None, [Notice(kind="k", text="wrong")])
        tx.conn.exec_driver_sql("SELECT * FROM nowhere")

    jobs = [store.write(work) for work in (good, bad, good, wrong, good)]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(result) for result in results] == [
        type(None),
        ValueError,
        type(None),
        UserError,
        type(None),
    ]
    assert "nowhere" not in str(results[3])
    facts = await store.facts(session, 0)
    assert [fact.n for fact in facts] == [1, 2, 3]
    assert all(b"good" in bytes(fact.data) for fact in facts)


async def test_facts_reach_listeners_in_the_order_of_their_numbers(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    heard: list[int] = []
    stop = store.listen(lambda facts, _: heard.extend(fact.n for fact in facts))

    def work(tx: Tx) -> None:
        log.append(tx, session, None, [Notice(kind="k", text="x"), Notice(kind="k", text="y")])

    await asyncio.gather(*(store.write(work) for _ in range(50)))
    assert heard == list(range(1, 101))
    stop()
    await store.write(work)
    assert len(heard) == 100


async def test_a_lock_by_another_program_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(tmp_path / "silu.db")
    session = (await store.create_session(NewSession())).item.id
    other = sqlite3.connect(tmp_path / "silu.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    renamed = asyncio.ensure_future(store.rename(session, "later"))
    await asyncio.sleep(0.3)
    assert not renamed.done()
    assert (await store.session(session)).item.title == ""
    other.execute("COMMIT")
    await renamed
    assert (await store.session(session)).item.title == "later"
    other.close()
    await store.close()


async def test_a_lock_that_stays_becomes_a_sentence_but_a_run_goes_on_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PATIENCE", 0.3)
    store = await Store.open(tmp_path / "silu.db")
    session = (await store.create_session(NewSession())).item.id
    await store.write(lambda tx: tx.raw.execute("PRAGMA busy_timeout=50"))
    troubles: list[str | None] = []
    store.on_trouble(troubles.append)
    other = sqlite3.connect(tmp_path / "silu.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    patient = store.write(
        lambda tx: log.append(tx, session, None, [Notice(kind="k", text="p")]), patient=True
    )
    with pytest.raises(UserError) as told:
        await store.rename(session, "later")
    assert told.value.code == "locked"
    assert not patient.done()
    other.execute("COMMIT")
    await patient
    assert [fact.n for fact in await store.facts(session, 0)] == [1]
    assert troubles[0] == "locked"
    assert troubles[-1] is None
    other.close()
    await store.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here: the full disk is left out")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_full_disk_loses_nothing_and_is_told(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PATIENCE", 0.2)
    store = await Store.open(small_disk / "silu.db")
    session = (await store.create_session(NewSession())).item.id
    troubles: list[str | None] = []
    store.on_trouble(troubles.append)
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()
    big = Notice(kind="k", text="x" * 100_000)
    jobs = [
        store.write(lambda tx: log.append(tx, session, None, [big]), patient=True) for _ in range(3)
    ]
    with pytest.raises(UserError) as told:
        await store.rename(session, "y" * 100_000)
    assert told.value.code == "disk_full"
    with pytest.raises(UserError) as told:
        await store.put_blob(b"z" * 100_000, media_type="text/plain")
    assert told.value.code == "disk_full"
    assert "full" in troubles
    assert (await store.session(session)).item.title == ""
    filler.unlink()
    await asyncio.gather(*jobs)
    assert [fact.n for fact in await store.facts(session, 0)] == [1, 2, 3]
    assert troubles[-1] is None
    await store.close()


async def test_a_database_restart_is_survived(cluster: Cluster, tmp_path: Path) -> None:
    store = await Store.open(cluster.new_database(), blobs=tmp_path / "b", backups=tmp_path / "k")
    session = (await store.create_session(NewSession())).item.id
    await asyncio.to_thread(cluster.stop)
    jobs = [
        store.write(
            lambda tx: log.append(tx, session, None, [Notice(kind="k", text="x")]), patient=True
        )
        for _ in range(5)
    ]
    await asyncio.sleep(0.2)
    assert not any(job.done() for job in jobs)
    await asyncio.to_thread(cluster.start)
    await asyncio.gather(*jobs)
    assert [fact.n for fact in await store.facts(session, 0)] == [1, 2, 3, 4, 5]
    await store.close()


async def test_a_database_that_goes_away_in_mid_job_is_survived(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await Store.open(cluster.new_database(), blobs=tmp_path / "b", backups=tmp_path / "k")
    session = (await store.create_session(NewSession())).item.id
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(tx: Tx) -> None:
        if not gone.is_set():
            cluster.stop()
            loop.call_soon_threadsafe(gone.set)
        # SQLAlchemy sees the connection break and takes it out of use.
        tx.conn.exec_driver_sql("SELECT 1")
        log.append(tx, session, None, [Notice(kind="k", text="x")])

    job = store.write(work, patient=True)
    try:
        await asyncio.wait_for(gone.wait(), 20)
        await asyncio.sleep(0.3)
        assert not job.done()
    finally:
        await asyncio.to_thread(cluster.start)
    await asyncio.wait_for(job, 20)
    assert [fact.n for fact in await store.facts(session, 0)] == [1]
    await store.close()


async def test_closing_finishes_what_was_queued_and_refuses_more(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "silu.db")
    session = (await store.create_session(NewSession())).item.id
    jobs = [
        store.write(lambda tx: log.append(tx, session, None, [Notice(kind="k", text="x")]))
        for _ in range(100)
    ]
    await store.close()
    await asyncio.gather(*jobs)
    with pytest.raises(UserError) as told:
        await store.rename(session, "late")
    assert told.value.code == "closed"


async def test_twenty_sessions_write_while_others_read_and_nothing_locks(store: Store) -> None:
    sessions = [(await store.create_session(NewSession())).item.id for _ in range(20)]

    async def write(session: str) -> None:
        for _ in range(10):
            ref = await begin(store, session)
            await finish(store, ref)

    async def read(session: str) -> None:
        for _ in range(10):
            await store.messages(session)

    await asyncio.gather(*(write(s) for s in sessions), *(read(s) for s in sessions))
    for session in sessions:
        assert len((await store.messages(session)).messages) == 10


async def test_learned_facts_and_settings_are_kept_and_forgotten(store: Store) -> None:
    fact = Learned(
        endpoint="https://e", model="m", fact="needs_filler", value={"a": [1]}, evidence="400", ts=5
    )
    await store.learn(fact)
    await store.learn(fact)
    await store.learn(
        Learned(endpoint="https://e", model="n", fact="x", value=1, evidence="", ts=1)
    )
    assert len(await store.learned()) == 2
    assert fact in await store.learned()
    assert await store.forget(endpoint="https://e", model="m") == 1
    assert await store.forget(endpoint="https://e") == 1
    assert await store.learned() == []
    assert await store.setting("language") is None
    await store.set_setting("language", {"ui": "zh"})
    await store.set_setting("language", {"ui": "en"})
    assert await store.setting("language") == {"ui": "en"}


async def test_a_cut_log_keeps_its_numbers(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    many = [Notice(kind="k", text=str(n)) for n in range(30)]
    await store.write(lambda tx: log.append(tx, session, None, many))
    await store.prune_facts(session, keep=10)
    await store.prune_facts(session, keep=20)
    assert [fact.n for fact in await store.facts(session, 0)] == list(range(21, 31))
    await store.write(lambda tx: log.append(tx, session, None, many[:1]))
    assert (await store.facts(session, 30))[0].n == 31
    assert await store.read(lambda tx: log.reach(tx, session)) == (31, 20)


def test_ids_sort_by_time() -> None:
    from silu.store.ids import new_id

    first = new_id("s")
    time.sleep(0.002)
    assert first < new_id("s")
    assert len({new_id("s") for _ in range(1000)}) == 1000
