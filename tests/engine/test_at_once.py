"""What comes live goes to a connection at once, where it takes it, and in the same order."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from silu.engine import Done, TurnPorts
from silu.engine.api import Out
from tests.engine.turns import Step, finish, run_start
from tests.engine.viewer import Viewer
from tests.engine.workspace import House

pytestmark = pytest.mark.anyio

WORDS = [f"{n} " for n in range(200)]


async def talking(ports: TurnPorts) -> Done:
    state = await ports.journal.load()
    ports.events.fact(run_start(state.user_message_id))
    step = Step(ports, 0, 1)
    await step.think(["hm"])
    await step.say(WORDS, pause=0.001)
    await step.end()
    return await finish(ports)


class Page:
    """A connection that takes what it is given while `open`; the rest its reader takes."""

    def __init__(self, house: House, session: str) -> None:
        self.client = house.hub.client()
        self.client.at_once = self.write
        self.viewer = Viewer(self.client, session)
        self.open = True
        self.written = 0
        self.read = 0
        self.ended = asyncio.Event()

    def write(self, outs: Sequence[Out]) -> bool:
        if not self.open:
            return False
        self.written += len(outs)
        self._apply(outs)
        return True

    async def reading(self) -> None:
        while outs := await self.client.take():
            self.read += len(outs)
            self._apply(outs)

    def _apply(self, outs: Sequence[Out]) -> None:
        for out in outs:
            frame = msgspec.json.decode(out.data)
            self.viewer.apply(frame)
            if frame["type"] == "done":
                self.ended.set()


async def test_a_page_that_reads_is_given_frames_at_once_and_none_twice(house: House) -> None:
    house.turn = talking
    session = await house.session()
    page = Page(house, session)
    await page.viewer.join()
    reader = asyncio.create_task(page.reading())
    await house.engine.send(session, "Hello")
    async with asyncio.timeout(20):
        await page.ended.wait()
    page.client.close()
    await reader
    assert "".join(WORDS) in page.viewer.texts.values()
    assert page.viewer.snapshots == page.viewer.repeated == 0
    assert page.written > page.read


async def test_a_page_that_stops_reading_now_and_then_gets_all_in_order(house: House) -> None:
    house.turn = talking
    session = await house.session()
    moody, quick = Page(house, session), Page(house, session)
    pages = [moody, quick]
    for page in pages:
        await page.viewer.join()
    readers = [asyncio.create_task(page.reading()) for page in pages]
    await house.engine.send(session, "Hello")
    async with asyncio.timeout(20):
        while not moody.ended.is_set():
            moody.open = not moody.open
            await asyncio.sleep(0.003)
        await quick.ended.wait()
    for page in pages:
        page.client.close()
    await asyncio.gather(*readers)
    assert moody.written and moody.read
    assert moody.viewer.texts == quick.viewer.texts
    assert moody.viewer.facts == quick.viewer.facts
    assert moody.viewer.repeated == 0


async def test_a_page_that_closes_in_the_midst_disturbs_no_other(house: House) -> None:
    house.turn = talking
    session = await house.session()
    leaving, staying = Page(house, session), Page(house, session)

    def leave(outs: Sequence[Out]) -> bool:
        leaving.client.close()
        return False

    for page in (leaving, staying):
        await page.viewer.join()
    readers = [asyncio.create_task(page.reading()) for page in (leaving, staying)]
    await house.engine.send(session, "Hello")
    await asyncio.sleep(0.05)
    leaving.client.at_once = leave
    async with asyncio.timeout(20):
        await staying.ended.wait()
    staying.client.close()
    await asyncio.gather(*readers)
    assert "".join(WORDS) in staying.viewer.texts.values()
