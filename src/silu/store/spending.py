"""Sums over the model calls that were made, interrupted ones among them."""

from datetime import date, timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from silu.store import children, schema
from silu.store.sql import Tx
from silu.types.spending import Grouping, Spent, UsageReport

_u = schema.usage

_DAY_MS = 24 * 3600 * 1000


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls, and how they are put together. `session_id`: of a session and its sub-agents;
    `since` and `until` are milliseconds since 1970, `until` not included; `minutes_east` of
    Greenwich is where days begin."""

    by: Grouping = "day"
    session_id: str | None = None
    since: int | None = None
    until: int | None = None
    minutes_east: int = 0


def report(tx: Tx, wanted: Wanted) -> UsageReport:
    where = _where(tx, wanted)
    key: Any = {
        "day": (_u.c.ts + wanted.minutes_east * 60_000) // _DAY_MS,
        "model": _u.c.model,
        "session": _u.c.session_id,
        "run": _u.c.run_id,
    }[wanted.by]
    found = tx.execute(sa.select(key, *_SUMS).where(*where).group_by(key))
    rows = [_spent(_name(wanted.by, row[0]), row[1:]) for row in found]
    total = tx.execute(sa.select(*_SUMS).where(*where)).one()
    if wanted.by == "day":
        rows.sort(key=lambda row: row.key, reverse=True)
    else:
        rows.sort(key=_weight, reverse=True)
    return UsageReport(by=wanted.by, rows=rows, total=_spent("total", total))


_NUMBERS = (
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)

_SUMS: tuple[Any, ...] = (
    sa.func.count(),
    *(sa.func.sum(_u.c[name]) for name in _NUMBERS),
    # `count` of a column leaves nulls out.
    sa.func.count() - sa.func.count(sa.func.coalesce(_u.c.input_tokens, _u.c.output_tokens)),
    sa.func.sum(_u.c.cost),
    sa.func.count() - sa.func.count(_u.c.cost),
)


def _where(tx: Tx, wanted: Wanted) -> list[Any]:
    where: list[Any] = []
    if wanted.session_id is not None:
        where.append(_u.c.session_id.in_(children.family(tx, wanted.session_id)))
    if wanted.since is not None:
        where.append(_u.c.ts >= wanted.since)
    if wanted.until is not None:
        where.append(_u.c.ts < wanted.until)
    return where


def _spent(key: str, row: Any) -> Spent:
    calls, *numbers, untold, cost, unpriced = row
    # PostgreSQL sums bigint columns to numeric.
    sums = [None if number is None else int(number) for number in numbers]
    return Spent(
        key=key,
        calls=calls,
        **dict(zip(_NUMBERS, sums, strict=True)),
        untold=untold,
        cost=cost,
        unpriced=unpriced,
    )


def _weight(row: Spent) -> tuple[float, int]:
    return row.cost or 0.0, (row.input_tokens or 0) + (row.output_tokens or 0)


def _name(by: Grouping, key: Any) -> str:
    if by != "day":
        return str(key)
    return (date(1970, 1, 1) + timedelta(days=int(key))).isoformat()
