"""What is sent is soon durable, and one session's trouble is its own."""

import asyncio
import threading

import pytest

from silu.engine import Done, TurnPorts
from silu.engine.flusher import Flusher
from silu.store import deltas
from silu.types import facts as f
from tests.engine.turns import Step, finish, simple_turn
from tests.engine.workspace import House

pytestmark = pytest.mark.anyio


def _delta(block: str, offset: int, text: str) -> f.DeltaData:
    return f.DeltaData(
        message_id="m", block_id=block, attempt=1, kind="content", offset=offset, text=text
    )


async def test_text_is_durable_a_moment_after_it_was_sent(house: House) -> None:
    hold = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        for n in range(100):
            ports.events.delta(_delta("b", n, "x"))
        await hold.wait()
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await asyncio.sleep(0.3)
    rows = await house.store.read(lambda tx: deltas.of_run(tx, session, sent.run_id))
    assert deltas.joined("", rows) == "x" * 100
    assert len(rows) == 1
    hold.set()
    await house.engine.wait(sent.run_id)
    assert await house.store.read(lambda tx: deltas.of_run(tx, session, sent.run_id)) == []


async def test_text_that_cannot_be_kept_fails_its_own_run_only(house: House) -> None:
    """A lone surrogate is no text: no database and no socket takes it."""
    hold = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        if state.session.titled:
            ports.events.delta(_delta("b", 0, "\ud800"))
        else:
            ports.events.delta(_delta("b", 0, "fine"))
        await hold.wait()
        return await simple_turn(ports)

    house.turn = turn
    bad = await house.session(title="bad")
    good = await house.session()
    first = await house.engine.send(bad, "Hello")
    second = await house.engine.send(good, "Hello")
    async with asyncio.timeout(5):
        await house.engine.wait(first.run_id)
    hold.set()
    await house.engine.wait(second.run_id)
    assert b'"failed"' in bytes((await house.store.facts(bad, 0))[-1].data)
    assert b'"completed"' in bytes((await house.store.facts(good, 0))[-1].data)


async def test_a_turn_that_is_ahead_of_the_database_waits_for_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    flusher = Flusher(house.store, house.hub, every=0.01, behind=0.1)
    monkeypatch.setattr(house.engine._driver, "_flusher", flusher)
    gate = threading.Event()
    waited: list[bool] = []

    async def turn(ports: TurnPorts) -> Done:
        block = house.store.write(lambda _tx: gate.wait(30))
        ports.events.delta(_delta("b", 0, "x"))
        async with asyncio.timeout(20):
            while not ports.events.behind():  # noqa: ASYNC110 - nobody tells that time has passed
                await asyncio.sleep(0.01)
        catching = asyncio.ensure_future(ports.events.caught_up())
        await asyncio.sleep(0.05)
        waited.append(not catching.done())
        gate.set()
        await catching
        waited.append(not ports.events.behind())
        await block
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    assert waited == [True, True]


async def test_many_sessions_at_once_keep_every_word(house: House) -> None:
    words = [f"{n} " for n in range(60)]

    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.think(words, pause=0.002)
        await step.say(words, pause=0.002)
        await step.end()
        return await finish(ports)

    house.turn = turn
    sessions = [await house.session() for _ in range(30)]
    sent = [await house.engine.send(session, "Hello") for session in sessions]
    for one in sent:
        await house.engine.wait(one.run_id)
    for session in sessions:
        answer = (await house.store.messages(session)).messages[-1]
        assert answer.content == answer.thinking_content == "".join(words)
