"""Bringing a database to this program's schema: made new, left alone, migrated or refused."""

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from silu.store import schema, search
from silu.types.errors import UserError

if TYPE_CHECKING:
    from silu.store.database import Database

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSION = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32)))


def bring_up_to_date(database: "Database", backups: Path) -> None:
    """Alembic is imported only when a migration is due; a failed one changes nothing."""
    if database.is_empty_file():
        _create(database)
        return
    found = _read_version(database)
    if found == schema.HEAD:
        return
    if found is None:
        _create(database)
        return
    if found not in schema.KNOWN:
        raise UserError(
            f"The database {database.name} was written by a newer silu (schema {found}). "
            "Nothing was changed.",
            code="newer_database",
            setting="SILU_HOME",
            fix="Update silu, or choose another data folder.",
        )
    backup = _back_up(database, backups, found)
    try:
        _migrate(database)
    except Exception as error:
        kept = f" A copy is at {backup}." if backup else ""
        raise UserError(
            f"The database {database.name} could not be brought from schema {found} to "
            f"{schema.HEAD} ({type(error).__name__}). It was left as it was.{kept}",
            code="migration_failed",
            setting="SILU_HOME",
        ) from error


def _read_version(database: "Database") -> str | None:
    """The schema's revision, `None` for a database without tables. Reads only."""
    if database.path is not None:
        return _read_sqlite_version(database)
    with database.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        if "alembic_version" in tables:
            return connection.execute(sa.select(_VERSION)).scalar()
        if "sessions" in tables or "messages" in tables:
            raise _not_ours(database)
        return None


def _read_sqlite_version(database: "Database") -> str | None:
    path = Path(database.name).absolute()
    # Even a reader leaves files beside a database in WAL mode, unless it is told that nobody
    # writes; where a log is already there it may hold the newest revision, and is read.
    log = path.with_name(f"{path.name}-wal")
    uri = f"{path.as_uri()}?{'mode=ro' if log.exists() else 'immutable=1'}"
    with closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
        tables = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if "alembic_version" in tables:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return row[0] if row else None
        if tables:
            raise _not_ours(database)
        return None


def _not_ours(database: "Database") -> UserError:
    return UserError(
        f"The database {database.name} belongs to another program. Nothing was changed.",
        code="not_a_database",
        setting="SILU_HOME",
        fix="Choose another data folder or database.",
    )


def _create(database: "Database") -> None:
    """All tables at once, in one transaction, stamped with the newest revision."""
    if database.path is not None:
        _make_private(database.path)
    with closing(database.connect()) as connection:
        if database.is_sqlite:
            # Readers and the one writer work side by side only in this mode; the file keeps it.
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql(database.begin())
        try:
            if not database.is_sqlite:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7150)")
            schema.metadata.create_all(connection)
            search.create(connection)
            _VERSION.metadata.create_all(connection)
            if connection.execute(sa.select(_VERSION)).first() is None:
                connection.execute(sa.insert(_VERSION), {"version_num": schema.HEAD})
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            with suppress(DBAPIError):
                connection.exec_driver_sql("ROLLBACK")
            raise


def _make_private(path: Path) -> None:
    path.touch(mode=0o600, exist_ok=True)


def _back_up(database: "Database", backups: Path, revision: str) -> Path | None:
    """A copy of the file beside it; a PostgreSQL migration is one transaction instead."""
    if database.path is None:
        return None
    backups.mkdir(parents=True, exist_ok=True, mode=0o700)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    target = backups / f"{database.path.name}.{revision}.{stamp}"
    _make_private(target)
    with (
        closing(sqlite3.connect(database.path, timeout=5)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
    return target


def _migrate(database: "Database") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with closing(database.connect()) as connection:
        config.attributes["connection"] = connection
        connection.exec_driver_sql(database.begin())
        try:
            command.upgrade(config, "head")
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            with suppress(DBAPIError):
                connection.exec_driver_sql("ROLLBACK")
            raise
