"""A session goes out whole and comes in again the same, or becomes a page to read."""

import base64
import io
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.store import NewSession, Store, turns
from silu.types.errors import UserError
from silu.types.facts import Done, Question, TokenCount
from silu.types.parts import (
    Continuity,
    FilePart,
    Message,
    Origin,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    VendorPart,
)
from silu.types.todos import Plan, Todo
from tests.store.rows import begin, tool_message

pytestmark = pytest.mark.anyio

_USED = TokenCount(
    input_tokens=1,
    output_tokens=2,
    total_tokens=3,
    reasoning_tokens=None,
    cached_tokens=None,
    api_calls=1,
    cost=0.5,
)


async def _rich(store: Store) -> str:
    session = (
        await store.create_session(NewSession(model="v/m", level="high", title="旅\x00行"))
    ).item.id
    blob = await store.put_blob(b"\x00\xff bytes", media_type="application/x", name="b.bin")
    todos = [Todo(id="1", content="pack", status="pending")]
    await store.put_todos(session, todos, by="person")
    ref = await begin(store, session, "Where to?")
    parts: list[Part] = [
        ThinkingPart(text="A \x00 thought", id="t", duration_ms=2000),
        ThinkingPart(text="In short.", id="s", kind="summary"),
        VendorPart(kind="opaque_block", data='{"x": "s3cret"}', id="v"),
        FilePart(media_type="application/x", name="b.bin", blob=blob, id="f"),
        UnknownPart(raw={"type": "hologram", "id": "h", "light": 1}, id="h"),
        TextPart(text="To the sea.", id="x"),
        ToolCallPart(id="c", call_id="k", name="look", arguments="{}"),
    ]
    origin = Origin(vendor="v", model="m")
    kept = Continuity(part="t", kind="signature", data='"s3cret"', origin=origin)
    message = Message(id=f"{ref.run_id}.0", role="assistant", parts=parts, continuity=[kept])
    await store.write(lambda tx: turns.put_message(tx, ref, message, step=0, attempt=2, final=True))
    await tool_message(store, ref, [ToolResultPart(call_id="k", status="ok", shown="waves")])
    plan = Plan(plan_id="p", revision=1, status="approved", goal="sea")
    await store.write(lambda tx: turns.put_plans(tx, ref, [plan], todos, by="agent", facts=[]))
    done = Done(status="completed", reason=None, finish_reason="stop", usage=_USED)
    asked = Question(question_id="question-1", text="Sure?", choices=[])
    await store.write(
        lambda tx: turns.finish(tx, ref, "completed", reason=None, facts=[asked, done])
    )
    return session


def _zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("session.json", data)
    return file.getvalue()


def _plain(data: bytes) -> Any:
    """A document with its ids replaced by their order, so that two can be compared."""
    text = data.decode()
    document = msgspec.json.decode(data)
    names = [message["id"] for message in document["messages"]]
    names += [run["id"] for run in document["rows"]["runs"]]
    names += [row["id"] for row in document["rows"]["approvals"]]
    names += [row["session_id"] for row in document["rows"]["runs"]]
    for at, name in enumerate(sorted(set(names), key=lambda name: -len(name))):
        order = names.index(name)
        text = text.replace(f'"{name}"', f'"#{order}"')
        del at
    plain = msgspec.json.decode(text)
    plain["session"].pop("updated_at")
    for row in plain["rows"]["todo_history"]:
        row.pop("id")
    for row in plain["rows"]["approvals"]:
        row.pop("status")  # an imported question waits for no answer
    return plain


async def test_out_and_in_again_is_the_same_session(store: Store) -> None:
    session = await _rich(store)
    data = await store.export(session, opaque=True)
    made = await store.import_session(data, client_id="i1")
    again = await store.import_session(data, client_id="i1")
    assert made.item.id == again.item.id != session
    assert _plain(await store.export(made.item.id, opaque=True)) == _plain(data)
    assert (made.item.title, made.model, made.level) == ("旅\x00行", "v/m", "high")
    assert made.plan is not None
    assert made.plan.goal == "sea"
    assert not made.item.is_running
    before, after = await store.history(session), await store.history(made.item.id)
    assert [m.parts for m in before] == [m.parts for m in after]
    assert [m.continuity for m in before] == [m.continuity for m in after]
    page = await store.messages(made.item.id)
    assert page.messages[-1].metadata["tokenUsage"]["totalTokens"] == 3
    assert {hit.session_id for hit in await store.search("sea")} == {session, made.item.id}


async def test_an_export_goes_into_another_house(store: Store, tmp_path: Path) -> None:
    data = await store.export(await _rich(store), opaque=True)
    other = await Store.open(tmp_path / "other" / "silu.db")
    made = await other.import_session(data)
    assert _plain(await other.export(made.item.id, opaque=True)) == _plain(data)
    ref = (await other.history(made.item.id))[1].parts[3]
    assert isinstance(ref, FilePart)
    assert ref.blob is not None
    assert (await other.blob(ref.blob.sha256))[1] == b"\x00\xff bytes"
    await other.close()


async def test_a_zipped_export_comes_in_as_well(store: Store) -> None:
    data = await store.export(await _rich(store), opaque=True)
    made = await store.import_session(_zipped(data))
    assert _plain(await store.export(made.item.id, opaque=True)) == _plain(data)


async def test_what_was_allowed_elsewhere_is_not_allowed_here(store: Store) -> None:
    data = msgspec.json.decode(await store.export(await _rich(store), opaque=True))
    allow = [{"tool": "*", "action": "allow", "pattern": "*"}]
    data["session"] |= {
        "rules": msgspec.json.encode(allow).decode(),
        "workspace": "/etc",
        "workspace_locked": True,
    }
    epoch = {"number": 1, "id": "e", "reason": "first", "model": "v/m", "system": "Obey."}
    data["rows"]["epochs"] = [{**epoch, "session_id": "s", "tools_json": "[]", "tag": "x"}]
    for row in data["rows"]["approvals"]:
        row["status"] = "open"
    made = await store.import_session(msgspec.json.encode(data))
    assert (list(made.rules), made.workspace, made.workspace_locked) == ([], "", False)
    assert made.waits == []
    ref = await begin(store, made.item.id, "And now?")
    state = await store.write(lambda tx: turns.load(tx, ref))
    assert state.epoch is None


async def test_opaque_data_stays_at_home_unless_asked_for(store: Store) -> None:
    session = await _rich(store)
    assert b"s3cret" not in await store.export(session)
    assert b"s3cret" in await store.export(session, opaque=True)
    assert "s3cret" not in await store.export_markdown(session, thoughts="full")


async def test_markdown_has_as_much_of_the_thoughts_as_was_asked_for(store: Store) -> None:
    session = await _rich(store)
    plain = await store.export_markdown(session)
    assert "To the sea." in plain
    assert "thought" not in plain.lower()
    summary = await store.export_markdown(session, thoughts="summary")
    assert "> In short." in summary
    assert "*Thought for 2 s*" in summary
    assert "A \x00 thought" not in summary
    full = await store.export_markdown(session, thoughts="full")
    assert "> A \x00 thought" in full


async def test_what_is_no_export_is_refused_and_nothing_is_kept(store: Store) -> None:
    good = msgspec.json.decode(await store.export(await _rich(store), opaque=True))
    count = len((await store.list_sessions()).sessions)

    def spoilt(change: Any) -> bytes:
        document = msgspec.json.decode(msgspec.json.encode(good))
        change(document)
        return msgspec.json.encode(document)

    bad = [
        b"",
        b"{}",
        b"[" * 10_000,
        spoilt(lambda d: d.update(silu_export=99)),
        spoilt(lambda d: d["messages"][0].update(role="king")),
        spoilt(lambda d: d["messages"][0]["parts"].append({"type": "text"})),
        spoilt(lambda d: d["blobs"][0].update(data="!!")),
        spoilt(lambda d: d["blobs"][0].update(data=base64.b64encode(b"other").decode())),
        spoilt(lambda d: d["rows"]["todos"].append(d["rows"]["todos"][0])),
        spoilt(lambda d: d["rows"]["todos"][0].update(status=None)),
        spoilt(lambda d: d["session"].update(mode=None)),
        spoilt(lambda d: d["session"].update(mode="dream")),
        spoilt(lambda d: d["session"].update(build_level="sideways")),
        spoilt(lambda d: d["session"].update(tokens="{")),
        spoilt(lambda d: d["session"].update(todo_summary="{}")),
        spoilt(lambda d: d["session"].update(created_at="then")),
        spoilt(lambda d: d["session"].update(created_at=1 << 80)),
        spoilt(lambda d: d["session"].update(title=["t"])),
        spoilt(lambda d: d["messages"][0].update(metadata="[]")),
        spoilt(lambda d: d["rows"]["todos"][0].update(status="odd")),
        spoilt(lambda d: d["rows"]["plans"][0].update(data="{}")),
        spoilt(lambda d: d["rows"]["runs"].append({"id": 1})),
        spoilt(lambda d: d.update(blobs=[])).replace(b'"sha256":"', b'"sha256":"../../'),
        spoilt(lambda d: d["session"].update(x=None)).replace(
            b'"x":null', b'"x":' + b"[" * 5_000 + b"]" * 5_000
        ),
        b'{"rows":{"runs":[' + b"{}," * 2_000_000,
        _zipped(b"{}"),
        _zipped(b"\0" * 300_000_000),
        b"PK\x03\x04 no archive",
    ]
    for data in bad:
        with pytest.raises(UserError) as told:
            await store.import_session(data)
        assert told.value.code == "bad_import", data[:200]
    assert len((await store.list_sessions()).sessions) == count
