"""Statements and the transaction they run in.

`Sql` is a Core statement compiled once a dialect and run on the raw driver: for appends, the
live tail and the first page, where SQLAlchemy's own cost would show. All else goes through
`Tx.execute`.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from silu.store.ids import now_ms
from silu.types.frames import FactFrame

Row = tuple[Any, ...]


class Sql:
    """A statement for the raw driver; its parameters are named."""

    __slots__ = ("_compiled", "statement")

    def __init__(self, statement: sa.ClauseElement) -> None:
        self.statement = statement
        self._compiled: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def compiled(self, dialect: sa.Dialect) -> tuple[str, Mapping[str, Any]]:
        """The text, and the values of parameters the statement itself brought along."""
        found = self._compiled.get(dialect.name)
        if found is None:
            named: sa.Dialect = (
                sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
            )
            made = self.statement.compile(dialect=named)
            constants = {name: v for name, v in (made.params or {}).items() if v is not None}
            found = self._compiled[dialect.name] = (str(made), constants)
        return found


class Tx:
    """One job's view of a transaction: what it writes, and what is to happen once it is durable.

    `facts` were numbered in it, `touched` are sessions whose line in the sidebar changed,
    `after_commit` runs on the writer's thread (removing a file, say).
    """

    __slots__ = ("after_commit", "conn", "dialect", "facts", "now", "raw", "touched")

    def __init__(self, conn: sa.Connection) -> None:
        self.conn = conn
        self.dialect = conn.dialect
        self.raw: Any = conn.connection.dbapi_connection
        self.facts: list[FactFrame] = []
        self.touched: set[str] = set()
        self.after_commit: list[Callable[[], None]] = []
        self.now = now_ms()

    @property
    def is_sqlite(self) -> bool:
        return self.dialect.name == "sqlite"

    def execute(
        self, statement: sa.Executable, params: Mapping[str, Any] | None = None
    ) -> sa.CursorResult[Any]:
        return self.conn.execute(statement, params or {})

    def insert_rows(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.conn.execute(sa.insert(table), list(rows))

    def run(self, sql: Sql, params: Mapping[str, Any]) -> Any:
        """Run on the raw driver; the cursor's rows are plain tuples."""
        text, constants = sql.compiled(self.dialect)
        return self.raw.execute(text, {**constants, **params} if constants else params)

    def many(self, sql: Sql, rows: Sequence[Mapping[str, Any]]) -> None:
        text, constants = sql.compiled(self.dialect)
        if constants:
            rows = [{**constants, **row} for row in rows]
        if isinstance(self.raw, sqlite3.Connection):
            self.raw.executemany(text, rows)
            return
        with self.raw.cursor() as cursor:
            cursor.executemany(text, rows)

    def upsert(
        self, table: sa.Table, values: Mapping[str, Any], *, keep: Sequence[str] = ()
    ) -> None:
        """Insert, or replace by primary key every given column but those in `keep`."""
        keys = [column.name for column in table.primary_key.columns]
        changed = [name for name in values if name not in keys and name not in keep]
        make = sqlite.insert if self.is_sqlite else postgresql.insert
        statement = make(table)
        statement = (
            statement.on_conflict_do_update(
                index_elements=keys, set_={name: statement.excluded[name] for name in changed}
            )
            if changed
            else statement.on_conflict_do_nothing(index_elements=keys)
        )
        self.conn.execute(statement, dict(values))
