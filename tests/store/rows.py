"""Runs and messages written the way a turn writes them, without an engine."""

from silu.store import RunRef, Store, runs, turns
from silu.store.api import NewRun
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.parts import Message, Part, TextPart


async def begin(store: Store, session_id: str, text: str = "Hello") -> RunRef:
    """A run of that session that has begun."""
    new = NewRun(id=new_id("r"), message_id=new_id("m"), parts=[TextPart(text=text, id="q")])

    def work(tx: Tx) -> RunRef:
        runs.submit(tx, session_id, new)
        ref = runs.take_next(tx, session_id)
        assert ref is not None
        return ref

    return await store.write(work)


async def answer(store: Store, ref: RunRef, parts: list[Part], *, step: int = 0) -> Message:
    message = Message(id=f"{ref.run_id}.{step}", role="assistant", parts=parts)
    await store.write(
        lambda tx: turns.put_message(tx, ref, message, step=step, attempt=1, final=True)
    )
    return message


async def tool_message(store: Store, ref: RunRef, parts: list[Part], *, step: int = 0) -> Message:
    message = Message(id=f"{ref.run_id}.{step}t", role="tool", parts=parts)
    await store.write(lambda tx: turns.tool_finished(tx, ref, message, step=step))
    return message


async def finish(store: Store, ref: RunRef) -> None:
    await store.write(lambda tx: turns.finish(tx, ref, "completed", reason=None, facts=[]))


async def turn(store: Store, session_id: str, text: str, parts: list[Part]) -> RunRef:
    """One whole turn: the person's text and an answer of these parts."""
    ref = await begin(store, session_id, text)
    await answer(store, ref, parts)
    await finish(store, ref)
    return ref
