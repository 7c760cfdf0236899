"""Thinking that clients do not send back is found again, and only where it belongs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from silu.gateway.recall import Recall
from silu.gateway.stops import StopFilter
from silu.store import Store, recalled, schema
from silu.store.ids import now_ms
from silu.store.sql import Tx
from silu.types.events import BlockEnd, BlockStart, StreamEvent, TextDelta
from silu.types.parts import (
    Continuity,
    Message,
    Origin,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)


def user(text: str) -> Message:
    return Message(role="user", parts=[TextPart(text=text)])


def thought(text: str, *, args: str = "") -> Message:
    """An answer as we keep it: sealed thinking, text, perhaps a call."""
    parts = [ThinkingPart(text="hidden " * 20, id="t"), TextPart(text=text, id="x")]
    if args:
        call = ToolCallPart(call_id="c1", name="weather", arguments=args)
        return Message(role="assistant", parts=[*parts, call], continuity=[sealed()])
    return Message(role="assistant", parts=[*parts], continuity=[sealed()])


def sealed() -> Continuity:
    return Continuity(kind="signature", data='"s"', origin=Origin(vendor="v"), part="t")


def plain(text: str, *, args: str = "") -> Message:
    """What a client sends of it: no thinking, white space and JSON written anew."""
    parts: list[TextPart | ToolCallPart] = [TextPart(text=f" {text}\n")]
    if args:
        parts.append(ToolCallPart(call_id="c1", name="weather", arguments=args))
    return Message(role="assistant", parts=[*parts])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "silu.db")
    yield opened
    await opened.close()


@pytest.mark.anyio
async def test_an_answer_comes_back_whole_where_it_was_given(store: Store) -> None:
    asked = [Message(role="system", parts=[]), user("Umbrella?")]
    answer = thought("I look.", args='{"place": "Kyoto"}')
    await Recall(store).keep("me", asked, answer)
    sent = [*asked, plain("I look.", args='{"place":"Kyoto"}'), user("So?")]
    back = await Recall(store).restored("me", sent)
    assert (back[2].parts, back[2].continuity) == (answer.parts, answer.continuity)
    assert [m.role for m in back] == ["system", "user", "assistant", "user"]


@pytest.mark.anyio
async def test_the_same_words_after_another_question_or_of_another_client_are_not_taken_for_it(
    store: Store,
) -> None:
    recall = Recall(store)
    await recall.keep("me", [user("A?")], thought("Yes."))
    assert (await recall.restored("me", [user("A?"), plain("Yes.")]))[1].continuity
    for who, question in (("me", "B?"), ("other", "A?")):
        assert (await recall.restored(who, [user(question), plain("Yes.")]))[1].continuity == []


@pytest.mark.anyio
async def test_thoughts_of_unknown_origin_are_left_out(store: Store) -> None:
    back = await Recall(store).restored("me", [user("A?"), thought("Yes.")])
    assert [type(part) for part in back[1].parts] == [TextPart]
    assert back[1].continuity == []


@pytest.mark.anyio
async def test_the_least_used_answer_goes_first_when_there_are_too_many(store: Store) -> None:
    async def keep(name: str, at: int, *, most: int = 1 << 30) -> None:
        def work(tx: Tx) -> None:
            tx.now = at
            recalled.keep(tx, name, thought(name), most=most)

        await store.write(work)

    day = 24 * 3600 * 1000
    for number, name in enumerate("abc"):
        await keep(name, number * day)
    size = sa.select(sa.func.sum(schema.recalled.c.size))
    room = int(await store.read(lambda tx: tx.execute(size).scalar_one()))
    assert set(await store.kept_answers(["a", "c"])) == {"a", "c"}
    await keep("d", now_ms(), most=room)
    assert set(await store.kept_answers(["a", "b", "c", "d"])) == {"a", "c", "d"}
    await keep("e", now_ms() + recalled.KEEP_MS + day)
    assert set(await store.kept_answers(["a", "b", "c", "d", "e"])) == {"e"}


@pytest.mark.anyio
async def test_an_answer_without_thinking_needs_no_place(store: Store) -> None:
    await Recall(store).keep("me", [user("A?")], plain("Yes."))
    back = await Recall(store).restored("me", [user("A?"), plain("Yes.")])
    assert back[1].parts == [TextPart(text=" Yes.\n")]
    count = sa.select(sa.func.count()).select_from(schema.recalled)
    assert await store.read(lambda tx: tx.execute(count).scalar_one()) == 0


# --------------------------------------------------------------------------------- stops


def cut(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    """What goes out of a text that comes in pieces."""
    stop = StopFilter(stops)
    out: list[StreamEvent] = [*stop.feed(BlockStart(0, "text"))]
    for piece in pieces:
        out += stop.feed(TextDelta(0, piece))
    out += stop.feed(BlockEnd(0))
    return "".join(event.text for event in out if isinstance(event, TextDelta)), stop.hit


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_text_ends_before_the_first_stop_however_it_is_cut(size: int) -> None:
    text = "one STO two STOP three END"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert cut(["END", "STOP"], pieces) == ("one STO two ", True)
    assert cut(["nowhere"], pieces) == (text, False)
    assert cut([], pieces) == (text, False)
    assert cut(["ENDE"], pieces) == (text, False)
