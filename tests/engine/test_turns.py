"""A turn from the person's message to the last fact, as clients and the store see it."""

import asyncio

import pytest

from silu.engine import Done, TurnPorts
from tests.engine.turns import Step, finish, results, run_start, simple_turn
from tests.engine.viewer import Viewer
from tests.engine.workspace import House

pytestmark = pytest.mark.anyio


async def test_a_turn_reaches_the_client_and_is_kept_in_order(house: House) -> None:
    house.turn = simple_turn
    session = await house.session(model="demo/m")
    client = house.hub.client()
    viewer = Viewer(client, session)
    await viewer.join()
    sent = await house.engine.send(session, "Hello", client_id="c1")
    assert not sent.queued
    await viewer.read_until("done")
    await house.engine.wait(sent.run_id)
    page = await house.store.messages(session)
    user, answer = page.messages
    assert user.content == "Hello"
    assert user.thinking_content is None
    assert user.id == sent.message_id
    assert answer.thinking_content == "Let me see… 思考"
    assert answer.content == "Here you are."
    assert [segment.type for segment in answer.segments] == ["thinking", "text"]
    assert answer.metadata["status"] == "completed"
    assert list(viewer.texts.values()) == ["Let me see… 思考", "Here you are."]
    assert page.head == viewer.n
    kinds = [fact["type"] for fact in viewer.facts]
    assert kinds == [
        "message_added",
        "run_start",
        "thinking_start",
        "thinking_done",
        "content_start",
        "content_done",
        "done",
    ]
    item = (await house.store.list_sessions()).sessions[0]
    assert item.last_message == "Here you are."
    assert item.unread
    assert not item.is_running
    await house.store.mark_read(session)
    assert not (await house.store.session(session)).item.unread
    client.close()


async def test_the_same_send_again_starts_no_second_turn(house: House) -> None:
    house.turn = simple_turn
    session = await house.session()
    first = await house.engine.send(session, "Hello", client_id="c1")
    second = await house.engine.send(session, "Hello", client_id="c1")
    assert first.run_id == second.run_id
    await house.engine.wait(first.run_id)
    await house.close()
    await house.open()
    third = await house.engine.send(session, "Hello", client_id="c1")
    assert third.run_id == first.run_id
    assert not third.queued
    assert len((await house.store.messages(session)).messages) == 2


async def test_a_second_send_waits_for_the_first_and_can_be_edited(house: House) -> None:
    go = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        await go.wait()
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    first = await house.engine.send(session, "one")
    second = await house.engine.send(session, "two")
    third = await house.engine.send(session, "three")
    assert (first.queued, second.queued, third.queued) == (False, True, True)
    queue = (await house.store.session(session)).queue
    assert [item.text for item in queue] == ["two", "three"]
    await house.engine.queue_edit(session, second.message_id, text="zwei")
    await house.engine.queue_edit(session, third.message_id, remove=True)
    go.set()
    await house.engine.wait(second.run_id)
    page = await house.store.messages(session)
    assert [m.content for m in page.messages if m.role == "user"] == ["one", "zwei"]
    assert [run.status for run in await house.engine.list()] == []


async def test_cancel_ends_a_turn_within_a_second_and_keeps_what_it_had(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        ports.events.fact(run_start(state.user_message_id))
        step = Step(ports, 0, 1)
        await step.think(["deep "] * 3)
        await step.say(["word "] * 1000, pause=0.01)
        return Done()

    house.turn = turn
    session = await house.session()
    client = house.hub.client()
    viewer = Viewer(client, session)
    await viewer.join()
    sent = await house.engine.send(session, "Hello")
    await viewer.read_until("content_start")
    await asyncio.sleep(0.2)
    begun = asyncio.get_running_loop().time()
    assert await house.engine.cancel(session, client_id="x1")
    # Left alone it would take ten seconds.
    assert asyncio.get_running_loop().time() - begun < 4
    ended = await viewer.read_until("done")
    assert ended["data"]["status"] == "cancelled"
    assert ended["data"]["reason"] == "person"
    answer = (await house.store.messages(session)).messages[-1]
    assert answer.thinking_content == "deep deep deep "
    assert answer.content.startswith("word word word ")
    assert answer.metadata["interrupted"] is True
    assert answer.segments[-1].interrupted
    shown = [text for text in viewer.texts.values() if text.startswith("word")]
    assert shown == [answer.content]
    assert not await house.engine.cancel(session, client_id="x2")
    later = await house.engine.send(session, "again")
    assert await house.engine.cancel(session, client_id="x1")
    assert (await house.engine.list(session))[0].run_id == later.run_id
    assert sent.run_id != later.run_id
    await house.engine.cancel(session)
    client.close()


async def test_a_turn_that_fails_ends_with_an_error_and_the_session_goes_on(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.think(["half a thought"])
        raise RuntimeError("secret words")

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    last = (await house.store.facts(session, 0))[-1]
    assert last.type == "done"
    assert b"failed" in bytes(last.data)
    assert b"secret" not in bytes(last.data)
    house.turn = simple_turn
    again = await house.engine.send(session, "Hello")
    await house.engine.wait(again.run_id)
    assert (await house.store.messages(session)).messages[-1].content == "Here you are."


async def test_a_tool_result_stands_in_the_segment_of_its_call(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.call("c1", "read_file", '{"path": "a"}')
        await step.end()
        await ports.journal.tool_started("c1")
        await ports.journal.tool_finished(results(step, "c1"), step=0)
        last = Step(ports, 1, 1)
        await last.say(["done"])
        await last.end()
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    messages = (await house.store.messages(session)).messages
    assert [m.role for m in messages] == ["user", "assistant", "assistant"]
    segment = messages[1].segments[0]
    assert (segment.type, segment.name, segment.arguments) == ("tool", "read_file", '{"path": "a"}')
    assert (segment.status, segment.summary) == ("ok", "did c1")
    assert (await house.store.session(session)).workspace_locked
