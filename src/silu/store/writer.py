"""The threads of the store: one that writes, a few that read.

The writer takes everything that is queued, runs it as one transaction, each job in a savepoint
of its own, and then tells the event loop. So many sessions cost one commit, and one that fails
fails alone.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import sqlalchemy as sa

from silu.store.database import PASSING, Database, Trouble, is_driver_error, trouble_of
from silu.store.sql import Tx
from silu.types.errors import SiluError, UserError
from silu.types.frames import FactFrame

T = TypeVar("T")

_MOST_JOBS = 512
_PATIENCE = 5.0
_ROLL_BACK_JOB = "ROLLBACK TO SAVEPOINT job"

Committed = Callable[[list[FactFrame], set[str]], None]


class Job:
    """Work for the writer. It may be run again after a failed attempt.

    `patient` jobs outlast a lock, a full disk or a database that is away; others give up after
    five seconds. `durable` ones are on the disk itself before they count as done.
    """

    __slots__ = ("durable", "future", "patient", "queued_at", "work")

    def __init__(
        self,
        work: Callable[[Tx], Any],
        future: asyncio.Future[Any],
        *,
        patient: bool,
        durable: bool,
    ) -> None:
        self.work = work
        self.future = future
        self.patient = patient
        self.durable = durable
        self.queued_at = time.monotonic()


_Outcome = tuple[Job, Any, BaseException | None]


class _Done:
    """What a transaction came to."""

    __slots__ = ("after", "facts", "failed", "outcomes", "touched")

    def __init__(self) -> None:
        self.outcomes: list[_Outcome] = []
        self.facts: list[FactFrame] = []
        self.touched: set[str] = set()
        self.after: list[Callable[[], None]] = []
        self.failed = False


def _run(connection: sa.Connection, job: Job, done: _Done, *, alone: bool) -> _Outcome:
    """Run a job in a savepoint of its own; one that is alone has the whole transaction."""
    tx = Tx(connection)
    if not alone:
        tx.raw.execute("SAVEPOINT job")
    try:
        result = job.work(tx)
    except Exception as error:
        if trouble_of(error) is not None:
            raise
        done.failed = True
        if not alone:
            tx.raw.execute(_ROLL_BACK_JOB)
        return job, None, error
    if not alone:
        tx.raw.execute("RELEASE SAVEPOINT job")
    done.facts += tx.facts
    done.touched |= tx.touched
    done.after += tx.after_commit
    return job, result, None


class Writer:
    """The one thread that writes. `on_commit` is called on the loop, before the jobs' callers go
    on, with the facts in the order of their numbers and the sessions whose line changed."""

    def __init__(
        self,
        database: Database,
        loop: asyncio.AbstractEventLoop,
        *,
        on_commit: Committed,
        on_trouble: Callable[[Trouble | None], None],
    ) -> None:
        self._database = database
        self._loop = loop
        self._on_commit = on_commit
        self._on_trouble = on_trouble
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._connection: sa.Connection | None = None
        self._trouble: Trouble | None = None
        self._thread = threading.Thread(target=self._work, name="silu-writer", daemon=True)
        self._thread.start()

    def submit(
        self, work: Callable[[Tx], T], *, patient: bool = False, durable: bool = False
    ) -> "asyncio.Future[T]":
        """Queue a job from the loop; its future is done after the commit."""
        future: asyncio.Future[T] = self._loop.create_future()
        if self._closing.is_set():
            future.set_exception(_closed())
            return future
        self._queue.put(Job(work, future, patient=patient, durable=durable))
        return future

    def close(self) -> None:
        """Finish what is queued, then end the thread; to be called off the loop."""
        self._closing.set()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            if job is None:
                break
            jobs = [job, *self._queued(_MOST_JOBS)]
            try:
                self._batch(jobs)
            except Exception as error:
                # A fault of ours in the handling of another: whoever waits is told, and the one
                # thread that writes lives on.
                self._disconnect()
                outcomes: list[_Outcome] = [(job, None, error) for job in jobs]
                self._tell(self._deliver, outcomes, [], set())
        self._disconnect()

    def _queued(self, most: int) -> list[Job]:
        jobs: list[Job] = []
        while len(jobs) < most:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._queue.put(None)
                break
            jobs.append(job)
        return jobs

    def _batch(self, jobs: list[Job]) -> None:
        """Run until each job is done or given up; `jobs` is kept to those still under way."""
        delay = 0.02
        while jobs:
            try:
                self._transaction(jobs)
            except Exception as error:
                trouble = trouble_of(error)
                self._abandon(trouble)
                if trouble not in PASSING or self._closing.is_set():
                    self._fail(jobs, error)
                    return
                self._report(trouble)
                jobs[:] = self._patient(jobs, error)
                self._closing.wait(delay)
                delay = min(delay * 2, 1.0)
                jobs += self._queued(_MOST_JOBS - min(len(jobs), _MOST_JOBS))
                continue
            return

    def _transaction(self, jobs: list[Job]) -> None:
        connection = self._connect()
        raw: Any = connection.connection.dbapi_connection
        durable = self._database.is_sqlite and any(job.durable for job in jobs)
        if durable:
            raw.execute("PRAGMA synchronous=FULL")
        raw.execute(self._database.begin())
        done = _Done()
        alone = len(jobs) == 1
        for job in jobs:
            if not job.future.cancelled() or job.patient:
                done.outcomes.append(_run(connection, job, done, alone=alone))
        raw.execute("ROLLBACK" if alone and done.failed else "COMMIT")
        if durable:
            raw.execute("PRAGMA synchronous=NORMAL")
        self._report(None)
        for action in done.after:
            action()
        self._tell(self._deliver, done.outcomes, done.facts, done.touched)

    def _connect(self) -> sa.Connection:
        if self._connection is None:
            self._connection = self._database.connect()
        return self._connection

    def _abandon(self, trouble: Trouble | None) -> None:
        """Leave the failed transaction; a connection that may be broken is not used again."""
        if self._connection is None:
            return
        # SQLAlchemy takes a connection it saw break out of use; asking it for the raw one then
        # dials a server that may be away. None of this may end the thread.
        with suppress(Exception):
            raw: Any = self._connection.connection.dbapi_connection
            raw.execute("ROLLBACK")
            if trouble in {"locked", "full"}:
                return
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it is broken: that is why it is closed
                connection.close()

    def _patient(self, jobs: list[Job], error: Exception) -> list[Job]:
        now = time.monotonic()
        waiting = [job for job in jobs if job.patient or now - job.queued_at < _PATIENCE]
        self._fail([job for job in jobs if job not in waiting], error)
        return waiting

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        told = error if isinstance(error, SiluError) else self._database.explain(error)
        told.__cause__ = error if told is not error else None
        outcomes: list[_Outcome] = [(job, None, told) for job in jobs]
        self._tell(self._deliver, outcomes, [], set())

    def _report(self, trouble: Trouble | None) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(self._on_trouble, trouble)

    def _tell(self, callback: Callable[..., None], *args: Any) -> None:
        # The loop is gone when a program ends without closing the store: nobody listens then.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *args)

    def _deliver(self, outcomes: list[_Outcome], facts: list[FactFrame], touched: set[str]) -> None:
        if facts or touched:
            self._on_commit(facts, touched)
        for job, result, error in outcomes:
            if job.future.done():
                continue
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(self._told(error))

    def _told(self, error: BaseException) -> BaseException:
        if isinstance(error, Exception) and is_driver_error(error):
            told = self._database.explain(error)
            told.__cause__ = error
            return told
        return error


class Readers:
    """Threads that read, each with its own connection; a read sees one moment of the database."""

    def __init__(self, database: Database, *, threads: int = 3) -> None:
        self._database = database
        self._local = threading.local()
        self._open: list[sa.Connection] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="silu-reader")

    async def run(self, work: Callable[[Tx], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self.read, work)

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run on this thread; a lock or a lost connection is tried again for a while (F143)."""
        for delay in (0.05, 0.2, 0.5, 1.0, None):
            try:
                return self._once(work)
            except Exception as error:
                if not is_driver_error(error):
                    raise
                trouble = trouble_of(error)
                self._drop()
                if delay is None or trouble not in PASSING:
                    raise self._database.explain(error) from error
                time.sleep(delay)
        raise AssertionError

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        for connection in self._open:
            with suppress(Exception):  # a server that is gone cannot be told
                connection.close()

    def _once(self, work: Callable[[Tx], T]) -> T:
        connection = self._connection()
        tx = Tx(connection)
        tx.raw.execute(self._database.begin_read())
        try:
            return work(tx)
        finally:
            try:
                tx.raw.execute("ROLLBACK")
            except Exception:
                self._drop()  # the error that matters is the one under way

    def _connection(self) -> sa.Connection:
        connection: sa.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._database.connect()
            self._local.connection = connection
            with self._lock:
                self._open.append(connection)
        return connection

    def _drop(self) -> None:
        connection: sa.Connection | None = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            with self._lock:
                self._open.remove(connection)
            with suppress(Exception):  # it is broken: that is why it is dropped
                connection.close()


def _closed() -> UserError:
    return UserError("The store is closed.", code="closed")
