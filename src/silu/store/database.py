"""Opening a database: SQLite by a path, PostgreSQL by URL; what is wrong with it, in a sentence."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from silu.types.errors import UserError

Trouble = Literal["locked", "full", "gone", "damaged", "read_only"]
"""Why a database does not do its work; the first three may pass."""

PASSING = frozenset({"locked", "full", "gone"})

_SQLITE_TROUBLES: dict[int, Trouble] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "full",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_CANTOPEN: "gone",
}

_BUSY_MS = 5000
_MAGIC = b"SQLite format 3\0"


class Database:
    """Where the store's rows are. Connections are made here and belong to one thread each."""

    def __init__(self, place: str | Path) -> None:
        self.url = _url(place)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path = Path(self.url.database or "") if self.is_sqlite else None
        self.name = str(self.path) if self.path else self.url.render_as_string(hide_password=True)
        self._engine = _engine(self.url, is_sqlite=self.is_sqlite)

    def connect(self) -> sa.Connection:
        """A connection whose transactions are begun by hand; raises what the driver raises."""
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def prepare(self, backups: Path) -> None:
        """Make the tables of a new database or migrate an old one; refuse what is not ours."""
        from silu.store.upgrade import bring_up_to_date

        try:
            self._check_file()
            bring_up_to_date(self, backups)
        except Exception as error:
            if is_driver_error(error):
                raise self.explain(error) from error
            raise

    def begin(self) -> str:
        return "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN"

    def begin_read(self) -> str:
        return "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def explain(self, error: Exception) -> UserError:
        """What went wrong, for the person, without the statement or its values."""
        match trouble_of(error):
            case "locked":
                return UserError(
                    f"The database {self.name} is locked by another program.",
                    code="locked",
                    fix="Close what has it open (a backup, a database browser) and try again.",
                )
            case "full":
                return UserError(
                    f"The disk is full: {self.name} could not be written.",
                    code="disk_full",
                    fix="Free some space; nothing that was saved is lost.",
                )
            case "damaged":
                return UserError(
                    f"The file {self.name} is damaged or is not a database. It was left as it is.",
                    code="damaged_database",
                    setting="SILU_HOME",
                    fix="Put a backup in its place, or move it away to start anew.",
                )
            case "read_only":
                return UserError(
                    f"The database {self.name} cannot be written.",
                    code="read_only_database",
                    setting="SILU_HOME",
                    fix="Give this user the right to write there, or choose another folder.",
                )
            case "gone":
                return UserError(
                    f"The database {self.name} cannot be reached.",
                    code="database_unreachable",
                    setting="SILU_DATABASE",
                    fix="Check that it is running and that address, user and password are right.",
                )
            case None if _is_bad_value(error):
                return UserError(
                    "A name or number that was given cannot exist here.", code="bad_argument"
                )
            case None:
                kind = type(_original(error)).__name__
                return UserError(
                    f"The database {self.name} refused a statement ({kind}).", code="database_error"
                )

    def dispose(self) -> None:
        self._engine.dispose()

    def is_empty_file(self) -> bool:
        return self.path is not None and (not self.path.exists() or self.path.stat().st_size == 0)

    def _check_file(self) -> None:
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.is_empty_file():
            return
        if not self.path.is_file() or _head(self.path) != _MAGIC:
            raise UserError(
                f"{self.name} is not a database. It was left as it is.",
                code="not_a_database",
                setting="SILU_HOME",
                fix="Move it away, or choose another data folder.",
            )


def trouble_of(error: BaseException) -> Trouble | None:
    """Classify a driver's error; `None` for one that blames the statement."""
    original = _original(error)
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", None)
        return None if code is None else _SQLITE_TROUBLES.get(code & 0xFF)
    return _postgres_trouble(original)


def is_driver_error(error: BaseException) -> bool:
    """True for what the driver or SQLAlchemy around it raised."""
    original = _original(error)
    return isinstance(original, sqlite3.Error | DBAPIError) or _is_postgres(original)


def _is_postgres(error: BaseException) -> bool:
    return type(error).__module__.startswith("psycopg")


def _postgres_trouble(error: BaseException) -> Trouble | None:
    if not _is_postgres(error):
        return None
    state = str(getattr(error, "sqlstate", None) or "")
    # Classes of PostgreSQL's appendix A: 08 connection, 57P0x shutdown, 53100 disk full,
    # 55P03 lock not available, 40xxx serialization failure and deadlock.
    if state.startswith(("08", "57P0")):
        return "gone"
    if state == "53100":
        return "full"
    if state == "55P03" or state.startswith("40"):
        return "locked"
    if state == "25006":
        return "read_only"
    if not state and type(error).__name__ in {"OperationalError", "InterfaceError"}:
        return "gone"
    return None


def _is_bad_value(error: BaseException) -> bool:
    """PostgreSQL's class 22: a NUL in an id, a number out of range."""
    return str(getattr(_original(error), "sqlstate", None) or "").startswith("22")


def _original(error: BaseException) -> BaseException:
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig
    return error


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def _url(place: str | Path) -> sa.URL:
    text = str(place)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.make_url(text)
    except (ArgumentError, ValueError) as error:
        raise _bad_url("The database URL cannot be read.") from error
    match url.get_backend_name():
        case "sqlite" if url.database:
            return url.set(drivername="sqlite")
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case _:
            raise _bad_url("The database must be a file, sqlite:///… or postgresql://…")


def _bad_url(message: str) -> UserError:
    return UserError(message, code="bad_argument", setting="SILU_DATABASE")


def _engine(url: sa.URL, *, is_sqlite: bool) -> sa.Engine:
    if is_sqlite:
        engine = sa.create_engine(
            url,
            poolclass=NullPool,
            connect_args={"timeout": _BUSY_MS / 1000, "check_same_thread": False},
        )
        event.listen(engine, "connect", _sqlite_pragmas)
        return engine
    try:
        return sa.create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10})
    except ModuleNotFoundError as error:
        raise UserError(
            "PostgreSQL needs the package psycopg.",
            code="bad_argument",
            setting="SILU_DATABASE",
            fix="Install it with: pip install 'psycopg[binary]'",
        ) from error


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    # NORMAL keeps every commit through a crash of the process; what must also outlive a loss of
    # power (a tool that is about to act) asks for FULL, see `Writer`.
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={_BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_size_limit=67108864")
