"""What was said and what was thought is found, in Chinese and in English, on both databases."""

import asyncio
import time

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from silu.store import NewSession, Store, schema, turns, words
from silu.store import store as store_module
from silu.store.search import Filter
from silu.store.sql import Tx
from silu.types import facts as f
from silu.types.parts import TextPart, ThinkingPart
from tests.store.rows import answer, begin, finish, turn

pytestmark = pytest.mark.anyio


def _due(tx: Tx) -> int:
    """How many messages are still to be indexed."""
    count = sa.select(sa.func.count()).select_from(schema.search_due)
    return tx.execute(count).scalar_one()


async def _talks(store: Store) -> tuple[str, str]:
    english = (await store.create_session(NewSession(title="english"))).item.id
    await turn(
        store,
        english,
        "How do bridges stand?",
        [
            ThinkingPart(text="The keystone carries the arch.", id="t"),
            TextPart(text="A bridge stands because its arch pushes outwards.", id="x"),
        ],
    )
    chinese = (await store.create_session(NewSession(title="中文"))).item.id
    await turn(
        store,
        chinese,
        "桥为什么不会倒?",
        [
            ThinkingPart(text="拱桥的思路:先想一想力的方向。", id="t"),
            TextPart(text="拱把重量传到两岸。Python 3 也能算。", id="x"),
        ],
    )
    return english, chinese


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("bridge", ["user", "assistant"]),
        ("BRIDGES stand", ["user"]),
        ("keystone arch", ["thought"]),
        ("arch", ["assistant", "thought"]),
        ("拱桥", ["thought"]),
        ("思路", ["thought"]),
        ("重量传到", ["assistant"]),
        ("桥", ["user", "thought"]),
        ("岸", ["assistant"]),
        ("两岸 python", ["assistant"]),
        ("python 3", ["assistant"]),
        ("重量两岸", []),
        ("nowhere", []),
        ('"; DROP TABLE x --', []),
        ("' OR 1=1", []),
        ("arch AND NOT", []),
        ("?!", []),
        ("", []),
    ],
)
async def test_words_are_found_where_they_were_said(
    store: Store, query: str, found: list[str]
) -> None:
    await _talks(store)
    hits = await store.search(query)
    told = ["thought" if hit.scope == "thought" else hit.role for hit in hits]
    assert sorted(told) == sorted(found)


async def test_a_hit_shows_the_place_and_marks_the_words(store: Store) -> None:
    _, chinese = await _talks(store)
    (hit,) = await store.search("思路", Filter(scope="thought"))
    assert (hit.session_id, hit.title, hit.role) == (chinese, "中文", "assistant")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["思路"]
    long = "padding " * 50 + "Needle" + " padding" * 50
    session = (await store.create_session(NewSession())).item.id
    await turn(store, session, long, [TextPart(text="x", id="x")])
    (hit,) = await store.search("needle")
    assert len(hit.snippet) < 140
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    ((start, end),) = hit.marks
    assert hit.snippet[start:end] == "Needle"


async def test_filters_narrow_what_is_found(store: Store) -> None:
    english, chinese = await _talks(store)
    assert len(await store.search("arch", Filter(scope="answer"))) == 1
    assert await store.search("arch", Filter(session_id=chinese)) == []
    assert len(await store.search("arch", Filter(session_id=english))) == 2
    assert len(await store.search("arch", Filter(limit=1))) == 1
    now = int(time.time() * 1000)
    assert await store.search("arch", Filter(since=now + 60_000)) == []
    assert len(await store.search("arch", Filter(until=now + 60_000))) == 2
    assert await store.search("arch", Filter(model="v/m")) == []
    await store.trash(english)
    assert await store.search("arch") == []


async def test_a_message_that_branches_share_is_told_once(store: Store) -> None:
    english, _ = await _talks(store)
    await store.fork(english)
    assert len(await store.search("keystone")) == 1


async def test_what_is_deleted_or_replaced_is_not_found(store: Store) -> None:
    english, _ = await _talks(store)
    await store.purge(english)
    assert await store.search("keystone") == []
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    await answer(store, ref, [TextPart(text="firstversion", id="x")])
    await answer(store, ref, [TextPart(text="secondversion", id="x")])
    await finish(store, ref)
    assert await store.search("firstversion") == []
    assert len(await store.search("secondversion")) == 1


async def test_deleted_words_leave_the_index_itself(tmp_path) -> None:
    path = tmp_path / "silu.db"
    store = await Store.open(path)
    session = (await store.create_session(NewSession())).item.id
    for n in range(10):
        await turn(store, session, f"q{n}", [TextPart(text="staatsgeheimnis", id="x")])
    assert len(await store.search("staatsgeheimnis")) == 10
    await store.purge(session)
    await store.close()
    assert b"staatsgeheimnis" not in path.read_bytes()


async def test_messages_from_before_the_index_are_found_after_a_while(place, tmp_path) -> None:
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    await _talks(store)

    def older(tx) -> None:
        tx.conn.exec_driver_sql("DELETE FROM search_text")
        tx.execute(schema.search_rows.delete())
        tx.execute(schema.search_due.delete())
        tx.execute(schema.settings.delete())

    await store.write(older)
    assert await store.search("keystone") == []
    await store.close()
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    assert store._filling is not None
    await store._filling
    assert len(await store.search("keystone")) == 1
    assert len(await store.search("拱桥")) == 1
    await store.close()


async def test_a_turn_is_indexed_some_time_after_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_INDEX_AFTER", 0.02)
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    await answer(store, ref, [TextPart(text="lighthouse", id="x")])
    done = f.Done(
        status="completed", reason=None, finish_reason="stop", usage=f.TokenCount.nothing()
    )
    await store.write(lambda tx: turns.finish(tx, ref, "completed", reason=None, facts=[done]))
    async with asyncio.timeout(5):
        while await store.read(_due):  # noqa: ASYNC110 - the index tells nobody
            await asyncio.sleep(0.01)
    assert len(await store.search("lighthouse")) == 1


@given(text=st.text(max_size=200), query=st.text(max_size=20))
def test_any_text_and_any_query_can_be_cut_into_words(text: str, query: str) -> None:
    words.tokens(text)
    words.postgres_vector(text)
    asked = words.terms(query)
    words.sqlite_query(asked)
    words.postgres_query(asked)
    shown, marks = words.snippet(text, query)
    assert all(0 <= start <= end <= len(shown) for start, end in marks)


@pytest.mark.parametrize(
    "query", ["a'b", 'a"b', "a\\b", "思'考", "a:*b", "a & b", "(a", "ﬁx", "İ", "ß"]
)
async def test_no_query_breaks_a_database(store: Store, query: str) -> None:
    await _talks(store)
    await store.search(query)


async def test_a_giant_message_is_kept_whole_and_found_by_its_beginning(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    giant = "".join(f"w{n} 字{n} " for n in range(200_000))
    await turn(store, session, "q", [TextPart(text="beginning " + giant + " veryend", id="x")])
    (kept,) = (await store.history(session))[-1].parts
    assert isinstance(kept, TextPart)
    assert kept.text.endswith("veryend")
    assert len(await store.search("beginning")) == 1
    assert await store.search("veryend") == []
