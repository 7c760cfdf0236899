"""Statements and the transaction they run in.

`Sql` is a Core statement compiled once a dialect and run on the raw driver: for appends, the
live tail and the first page, where SQLAlchemy's own cost would show. All else goes through
`Tx.execute`.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
        self._compiled: dict[str, _Compiled] = {}

    def on(self, dialect: sa.Dialect) -> "_Compiled":
        found = self._compiled.get(dialect.name)
        if found is None:
            found = self._compiled[dialect.name] = _Compiled(self.statement, dialect)
        return found


class _Compiled:
    """The text for one dialect; what is done to values on their way in; the values of
    parameters that the statement brought along."""

    __slots__ = ("_constants", "_processors", "text")

    def __init__(self, statement: sa.ClauseElement, dialect: sa.Dialect) -> None:
        named: Any = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
        made: Any = statement.compile(dialect=named)
        params: dict[str, Any] = made.params or {}
        self.text = str(made)
        self._constants = {name: v for name, v in params.items() if v is not None}
        self._processors: list[tuple[str, Callable[[Any], Any]]] = []
        for name, bind in made.binds.items():
            process = bind.type.dialect_impl(named).bind_processor(named)
            if process is not None and not isinstance(bind.type, sa.Boolean | sa.Float):
                self._processors.append((name, process))

    def values(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._constants and not self._processors:
            return params
        values = {**self._constants, **params}
        for name, process in self._processors:
            values[name] = process(values[name])
        return values


@cache
def _upsert(table: sa.Table, names: tuple[str, ...], keep: tuple[str, ...], dialect: str) -> Sql:
    keys = [column.name for column in table.primary_key.columns]
    changed = [name for name in names if name not in keys and name not in keep]
    make = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = make(table).values({name: sa.bindparam(name) for name in names})
    if not changed:
        return Sql(statement.on_conflict_do_nothing(index_elements=keys))
    new = {name: statement.excluded[name] for name in changed}
    return Sql(statement.on_conflict_do_update(index_elements=keys, set_=new))


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
        """Run on the raw driver; the cursor's rows are plain tuples as the driver gives them."""
        compiled = sql.on(self.dialect)
        return self.raw.execute(compiled.text, compiled.values(params))

    def many(self, sql: Sql, rows: Sequence[Mapping[str, Any]]) -> None:
        compiled = sql.on(self.dialect)
        values = [compiled.values(row) for row in rows]
        if isinstance(self.raw, sqlite3.Connection):
            self.raw.executemany(compiled.text, values)
            return
        with self.raw.cursor() as cursor:
            cursor.executemany(compiled.text, values)

    def insert_new(self, table: sa.Table, values: Mapping[str, Any]) -> bool:
        """Insert unless the primary key is there; True when it was not."""
        names = tuple(values)
        done = self.run(_upsert(table, names, names, self.dialect.name), values)
        return done.rowcount == 1

    def upsert(
        self, table: sa.Table, values: Mapping[str, Any], *, keep: tuple[str, ...] = ()
    ) -> None:
        """Insert, or replace by primary key every given column but those in `keep`."""
        self.run(_upsert(table, tuple(values), keep, self.dialect.name), values)
