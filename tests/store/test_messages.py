"""Messages come back as they were, in their order and to the last character."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silu.store import NewSession, StaleRunError, Store, codec, messages, runs, turns
from silu.store.api import CallRow, EpochRow
from silu.types.errors import UserError
from silu.types.parts import (
    BlobRef,
    Citation,
    Continuity,
    FilePart,
    ImagePart,
    NoticePart,
    Origin,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    VendorPart,
    text_of,
    thinking_of,
)
from tests.store.rows import answer, begin, finish, tool_message, turn

pytestmark = pytest.mark.anyio

_text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x00\x10\n思🙂"))
_id = st.text("abc123", min_size=1, max_size=6)
_part: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=_text, id=_id, citations=st.lists(st.builds(Citation, title=_text))),
    st.builds(
        ThinkingPart,
        text=_text,
        id=_id,
        kind=st.sampled_from(["full", "summary", "tagged", "redacted"]),
        started_at=st.none() | st.integers(0, 2**45),
        duration_ms=st.none() | st.integers(0, 2**31),
        tokens=st.none() | st.integers(0, 2**31),
    ),
    st.builds(ToolCallPart, call_id=_text, name=_text, arguments=_text, id=_id),
    st.builds(ToolResultPart, call_id=_text, status=st.just("ok"), shown=_text, id=_id),
    st.builds(ServerToolPart, name=_text, data=_text, id=_id),
    st.builds(NoticePart, kind=_text, text=_text, id=_id),
    st.builds(VendorPart, kind=_text, data=_text, id=_id),
    st.builds(
        UnknownPart,
        raw=st.fixed_dictionaries({"type": st.just("hologram"), "id": _id, "light": _text}),
    ).map(lambda part: UnknownPart(raw=part.raw, id=part.raw["id"])),
)


@given(parts=st.lists(_part, max_size=8))
def test_any_parts_come_back_exactly_and_thoughts_stand_in_their_column(parts: list[Part]) -> None:
    columns = codec.pack(parts, [])
    assert codec.unpack_parts(columns.parts, columns.thinking_content) == parts
    assert "\x00" not in columns.parts + (columns.thinking_content or "")
    thoughts = [part for part in parts if isinstance(part, ThinkingPart)]
    if thoughts:
        from silu.types.parts import Message

        kept = codec.unescape(columns.thinking_content or "")
        assert kept == thinking_of(Message(role="assistant", parts=parts))
    else:
        assert columns.thinking_content is None


@given(text=_text)
def test_escaping_gives_back_every_text_and_leaves_no_nul(text: str) -> None:
    assert "\x00" not in codec.escape(text)
    assert codec.unescape(codec.escape(text)) == text


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(parts=st.lists(_part, max_size=6, unique_by=lambda part: part.id))
async def test_both_databases_give_back_what_they_were_given(
    store: Store, parts: list[Part]
) -> None:
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    message = await answer(store, ref, parts)
    found = await store.history(session)
    assert found[-1].parts == parts
    assert found[-1].id == message.id
    page = await store.messages(session)
    assert page.messages[-1].id == message.id
    await finish(store, ref)


async def test_continuity_is_kept_beside_the_parts_and_never_reaches_a_page(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    origin = Origin(vendor="v", endpoint="e", account="a", dialect="d", model="m", field="f")
    kept = Continuity(part="t", kind="signature", data='"s3cret\\u0000=="', origin=origin)
    message = await answer(
        store, ref, [ThinkingPart(text="hm", id="t"), TextPart(text="x", id="y")]
    )
    message.continuity = [kept]
    await store.write(lambda tx: turns.put_message(tx, ref, message, step=0, attempt=1, final=True))
    await store.write(lambda tx: turns.mark_refused(tx, ref, message.id, "t", "https://e"))
    found = (await store.history(session))[-1]
    assert found.continuity == [msgspec.structs.replace(kept, refused_by=["https://e"])]
    page = msgspec.json.encode(await store.messages(session))
    assert b"s3cret" not in page
    with pytest.raises(UserError) as told:
        await store.write(lambda tx: turns.mark_refused(tx, ref, "m_none", None, "e"))
    assert told.value.code == "unknown_message"


async def test_a_long_history_comes_in_pages_without_gap_or_repeat(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    for n in range(12):
        ref = await begin(store, session, f"q{n}")
        call = ToolCallPart(id="c", call_id=f"call{n}", name="t", arguments="{}")
        await answer(store, ref, [call])
        for part in range(3):
            result = ToolResultPart(call_id=f"call{n}", status="ok", shown=f"r{n}.{part}")
            await tool_message(store, ref, [result], step=part)
        await answer(store, ref, [TextPart(text=f"a{n}", id="x")], step=1)
        await finish(store, ref)
    seen: list[str] = []
    before: str | None = None
    pages = 0
    while True:
        page = await store.messages(session, before=before, limit=4)
        seen = [m.content for m in page.messages] + seen
        for message in page.messages:
            for segment in message.segments:
                assert segment.status == "ok" or segment.type != "tool"
        pages += 1
        before = page.before
        if before is None:
            break
    assert seen == [word for n in range(12) for word in (f"q{n}", "", f"a{n}")]
    assert pages > 5
    with pytest.raises(UserError) as told:
        await store.messages(session, before="yesterday")
    assert told.value.code == "bad_argument"


async def test_a_fork_shares_messages_by_reference_and_goes_its_own_way(store: Store) -> None:
    session = (await store.create_session(NewSession(model="v/m", title="trunk"))).item.id
    await turn(store, session, "one", [TextPart(text="first", id="a")])
    second = await turn(store, session, "two", [TextPart(text="second", id="b")])
    fork = await store.fork(session, f"{second.run_id}.0", client_id="f1")
    again = await store.fork(session, f"{second.run_id}.0", client_id="f1")
    assert fork.item.id == again.item.id
    assert (fork.kind, fork.item.parent_id, fork.forked_at) == (
        "branch",
        session,
        f"{second.run_id}.0",
    )
    assert (fork.model, fork.item.title) == ("v/m", "trunk")
    shared = [m.id for m in (await store.messages(session)).messages]
    assert [m.id for m in (await store.messages(fork.item.id)).messages] == shared
    await turn(store, fork.item.id, "three", [TextPart(text="third", id="c")])
    assert [m.content for m in (await store.messages(session)).messages] == [
        "one",
        "first",
        "two",
        "second",
    ]
    assert [m.content for m in (await store.messages(fork.item.id)).messages][-2:] == [
        "three",
        "third",
    ]
    await store.purge(session)
    assert len((await store.messages(fork.item.id)).messages) == 6
    assert (await store.session(fork.item.id)).item.parent_id is None


async def test_a_fork_at_a_call_takes_its_results_along(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    called = await answer(store, ref, [ToolCallPart(id="c", call_id="k", name="t", arguments="{}")])
    await tool_message(store, ref, [ToolResultPart(call_id="k", status="ok", shown="r")])
    await answer(store, ref, [TextPart(text="end", id="x")], step=1)
    fork = await store.fork(session, called.id)
    assert [m.role for m in await store.history(fork.item.id)] == ["user", "assistant", "tool"]
    with pytest.raises(UserError) as told:
        await store.fork(session, "m_elsewhere")
    assert told.value.code == "unknown_message"


async def test_deleting_takes_everything_that_nobody_shares(store: Store, tmp_path) -> None:
    session = (await store.create_session(NewSession(title="secret-title"))).item.id
    child = (
        await store.create_session(NewSession(kind="child", parent_id=session, title="secret-kid"))
    ).item.id
    own = await store.put_blob(b"secret-blob-own", media_type="text/plain", name="a.txt")
    both = await store.put_blob(b"blob-of-both", media_type="image/png")
    other = (await store.create_session(NewSession())).item.id
    await turn(store, other, "x", [ImagePart(media_type="image/png", blob=both, id="i")])
    parts: list[Part] = [
        FilePart(media_type="text/plain", name="a.txt", blob=own, id="f"),
        ImagePart(media_type="image/png", blob=both, id="i"),
        ThinkingPart(text="secret-thought", id="t"),
        TextPart(text="secret-answer", id="x"),
    ]
    ref = await begin(store, session, "secret-question")
    await answer(store, ref, parts)
    record = CallRow(
        attempt=1,
        model="m",
        body="secret-body" * 50,
        record={},
        started_at=1,
        tokens={"input_tokens": 1},
        cost=None,
    )
    await store.write(lambda tx: turns.end_step(tx, ref, 0, call=record))
    await turn(store, child, "secret-child", [TextPart(text="x", id="z")])
    assert (await store.blob(own.sha256))[1] == b"secret-blob-own"
    await store.purge(session)
    for gone in (session, child):
        with pytest.raises(UserError):
            await store.session(gone)
    with pytest.raises(UserError) as told:
        await store.blob(own.sha256)
    assert told.value.code == "unknown_blob"
    assert (await store.blob(both.sha256))[1] == b"blob-of-both"
    assert await store.facts(session, 0) == []
    names = [path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert names == [both.sha256[2:]]
    with pytest.raises(StaleRunError):
        await answer(store, ref, [TextPart(text="late", id="l")], step=1)


async def test_deleted_words_are_not_in_the_files_any_more(tmp_path) -> None:
    path = tmp_path / "silu.db"
    store = await Store.open(path)
    session = (await store.create_session(NewSession())).item.id
    for n in range(20):
        await turn(store, session, f"geheim{n} " * 100, [TextPart(text="geheim " * 500, id="x")])
    await store.purge(session)
    for file in tmp_path.glob("silu.db*"):
        assert b"geheim" not in file.read_bytes(), file.name
    await store.close()


async def test_a_blob_that_no_message_came_to_use_goes_after_a_day(tmp_path, place) -> None:
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    ref = await store.put_blob(b"left over", media_type="text/plain")
    fresh = await store.put_blob(b"fresh", media_type="text/plain")

    def age(tx) -> None:
        from silu.store import schema

        tx.execute(
            schema.blobs.update()
            .where(schema.blobs.c.sha256 == ref.sha256)
            .values(created_at=tx.now - 25 * 3600 * 1000)
        )

    await store.write(age)
    await store.close()
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    with pytest.raises(UserError):
        await store.blob(ref.sha256)
    assert (await store.blob(fresh.sha256))[0] == BlobRef(
        sha256=fresh.sha256, size=5, media_type="text/plain"
    )
    await store.close()


async def test_a_stale_attempt_writes_nothing(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    old = await begin(store, session)
    new = await store.write(lambda tx: runs.take_up(tx, old.run_id))
    assert new is not None
    assert new.fence > old.fence
    with pytest.raises(StaleRunError):
        await answer(store, old, [TextPart(text="ghost", id="g")])
    await answer(store, new, [TextPart(text="living", id="l")])
    assert [m.content for m in (await store.messages(session)).messages] == ["Hello", "living"]


async def test_how_a_compacted_history_is_sent_comes_back_with_the_turn(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    await turn(store, session, "old", [TextPart(text="old answer", id="a")])
    ref = await begin(store, session, "new")
    epochs = [
        EpochRow(
            id=f"e{number}",
            number=number,
            reason=reason,
            model="m",
            system="You are\x00…",
            tools_json="[]",
            tag="silu",
            first_message=None,
        )
        for number, reason in ((1, "first"), (2, "compaction"), (3, "model"))
    ]
    for epoch, compacted in zip(epochs, (None, '{"summary": 1}', None), strict=True):
        await store.write(
            lambda tx, e=epoch, c=compacted: turns.start_epoch(tx, ref, e, compacted=c)
        )
    state = await store.write(lambda tx: turns.load(tx, ref))
    assert [text_of(m) for m in state.history] == ["old", "old answer", "new"]
    assert state.epoch == epochs[-1]
    assert state.compacted == '{"summary": 1}'


async def test_calls_are_kept_for_the_inspector_with_their_bodies(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    await answer(store, ref, [TextPart(text="x", id="x")])
    record = {
        "model": "v/m",
        "resolution": {"requested": "high", "source": "turn", "effective": "high"},
        "url": "https://e/v1",
        "headers": {"authorization": "***"},
        "dropped": [],
        "usage": {"input_tokens": 7, "output_tokens": 3},
        "finish_reason": "stop",
        "raw_finish": "stop",
        "error": None,
        "first_byte_ms": 1,
        "first_thinking_ms": 2,
        "first_text_ms": 3,
        "duration_ms": 4,
        "cost": 0.25,
    }
    for attempt in (1, 2):
        row = CallRow(
            attempt=attempt,
            model="v/m",
            body='{"messages": "思"}' * 100,
            record=record,
            started_at=attempt,
            tokens={"input_tokens": 7, "output_tokens": 3},
            cost=0.25,
        )
        await store.write(lambda tx, one=row: turns.end_step(tx, ref, 0, call=one))
    first, second = await store.calls(session, run_id=ref.run_id)
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.body == '{"messages": "思"}' * 100
    assert first.resolution.effective == "high"
    assert first.message_id == f"{ref.run_id}.0"
    assert await store.calls(session, run_id="r_other") == []
    spent = await store.write(lambda tx: turns.spent(tx, ref.run_id))
    assert spent is not None
    assert (spent.input_tokens, spent.total_tokens, spent.api_calls, spent.cost) == (14, 20, 2, 0.5)
    assert spent.reasoning_tokens is None


async def test_a_message_that_is_not_there_has_no_place(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    assert await store.read(lambda tx: messages.read(tx, "m_none")) is None
    assert await store.read(lambda tx: messages.position(tx, session, "m_none")) is None
