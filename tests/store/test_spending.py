"""Sums over model calls: by day, model, session and run; what was not told stays unknown."""

from datetime import UTC, datetime

import pytest

from silu.store import NewSession, RunRef, Store, turns
from silu.store.api import CallRow
from silu.store.spending import Wanted
from silu.types.spending import Grouping, UsageReport
from tests.store.rows import begin, finish

pytestmark = pytest.mark.anyio


async def call(
    store: Store,
    ref: RunRef,
    *,
    model: str,
    tokens: tuple[int | None, int | None],
    cost: float | None,
    attempt: int = 1,
) -> None:
    told = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    rest = dict.fromkeys(("reasoning_tokens", "cache_read_tokens", "cache_write_tokens"))
    row = CallRow(
        attempt=attempt,
        model=model,
        body="{}",
        record={},
        started_at=1,
        tokens={**told, **rest},
        cost=cost,
    )
    await store.write(lambda tx: turns.end_step(tx, ref, 0, call=row))


async def two_sessions(store: Store) -> list[str]:
    ids: list[str] = []
    for model, cost in (("a/big", 0.5), ("b/small", None)):
        session = await store.create_session(NewSession())
        ref = await begin(store, session.item.id)
        await call(store, ref, model=model, tokens=(100, 10), cost=cost)
        await call(store, ref, model=model, tokens=(None, None), cost=None, attempt=2)
        await finish(store, ref)
        ids.append(session.item.id)
    return ids


def sums(report: UsageReport) -> list[tuple[str, int, int | None, float | None, int, int]]:
    return [(r.key, r.calls, r.input_tokens, r.cost, r.untold, r.unpriced) for r in report.rows]


async def test_calls_add_up_by_model_with_interrupted_ones_counted(store: Store) -> None:
    await two_sessions(store)
    report = await store.usage(Wanted(by="model"))
    assert sums(report) == [("a/big", 2, 100, 0.5, 1, 1), ("b/small", 2, 100, None, 1, 2)]
    total = report.total
    assert (total.calls, total.input_tokens, total.output_tokens) == (4, 200, 20)
    assert (total.cost, total.reasoning_tokens) == (0.5, None)


@pytest.mark.parametrize("by", ["session", "run"])
async def test_calls_add_up_by_session_and_run(store: Store, by: Grouping) -> None:
    ids = await two_sessions(store)
    rows = (await store.usage(Wanted(by=by))).rows
    assert [row.calls for row in rows] == [2, 2]
    assert by == "run" or [row.key for row in rows] == ids
    one = await store.usage(Wanted(by=by, session_id=ids[1]))
    assert (len(one.rows), one.total.calls) == (1, 2)


async def test_days_begin_where_the_person_is(store: Store) -> None:
    await two_sessions(store)
    today = datetime.now(UTC).date()
    here = (await store.usage(Wanted())).rows[0].key
    east = (await store.usage(Wanted(minutes_east=14 * 60))).rows[0].key
    west = (await store.usage(Wanted(minutes_east=-12 * 60))).rows[0].key
    assert here == today.isoformat()
    assert west < east


async def test_a_span_without_calls_is_empty_and_unknown(store: Store) -> None:
    await two_sessions(store)
    report = await store.usage(Wanted(by="model", until=1))
    assert report.rows == []
    assert (report.total.calls, report.total.input_tokens, report.total.cost) == (0, None, None)
