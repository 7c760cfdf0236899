"""Live fan-out: whoever joins, leaves and comes back ends with the exact text, once."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silu.engine import Done, Hub, TurnPorts
from silu.engine.hub_client import HubClient
from silu.engine.outbox import Outbox
from silu.types import facts as f
from silu.types.errors import UserError
from silu.types.frames import AckFrame, ErrorFrame
from silu.types.todos import Todo
from tests.engine.turns import Step, finish, run_start, simple_turn
from tests.engine.viewer import Viewer
from tests.engine.workspace import House, frames_of

pytestmark = pytest.mark.anyio

_pieces = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5), max_size=30
)


class Gate:
    """Lets a turn's stream go on piece by piece."""

    def __init__(self) -> None:
        self.open = asyncio.Event()


def talk(thought: list[str], words: list[str]) -> Callable[[TurnPorts], Awaitable[Done]]:
    async def turn(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        ports.events.fact(run_start(state.user_message_id))
        step = Step(ports, 0, 1)
        await step.think(thought)
        await step.say(words)
        await step.end()
        return await finish(ports)

    return turn


@settings(max_examples=25, deadline=None)
@given(
    thought=_pieces,
    words=_pieces,
    moves=st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(["drop", "forget", "again"])), max_size=8
    ),
)
async def test_reconnecting_at_any_moment_gives_the_exact_text_once(
    thought: list[str], words: list[str], moves: list[tuple[int, str]]
) -> None:
    folder = Path(mkdtemp(prefix="silu-hub-"))
    house = House(folder)
    await house.open()
    try:
        house.turn = talk(thought, words)
        session = await house.session()
        sent = await house.engine.send(session, "Hello")
        viewer = Viewer(house.hub.client(), session)
        await viewer.join()
        for wait, move in moves:
            for _ in range(wait):
                await asyncio.sleep(0)
            if move != "drop":
                await viewer.read_what_is_there()
            if move == "again":
                await viewer.join()
                continue
            viewer.client.close()
            if move == "forget":
                viewer = Viewer(house.hub.client(), session)
            viewer.client = house.hub.client()
            await viewer.join()
        if not any(fact["type"] == "done" for fact in viewer.facts):
            await viewer.read_until("done")
        await house.engine.wait(sent.run_id)
        shown = [text for text in viewer.texts.values() if text]
        assert shown == [text for text in ("".join(thought), "".join(words)) if text]
        viewer.client.close()
    finally:
        await house.close()
        shutil.rmtree(folder)


async def test_all_clients_of_a_session_get_the_same_frames_encoded_once(house: House) -> None:
    house.turn = simple_turn
    session = await house.session()
    clients = [house.hub.client() for _ in range(3)]
    for client in clients:
        await client.subscribe(session)
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    first, second, third = [await client.take() for client in clients]
    assert len(first) > 6
    assert all(a is b is c for a, b, c in zip(first, second, third, strict=True))
    for client in clients:
        client.close()
        assert await client.take() == []


async def test_deltas_of_one_tick_are_joined_after_the_first(house: House) -> None:
    house.turn = talk([], ["a"] * 200)
    session = await house.session()
    client = house.hub.client()
    await client.subscribe(session)
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    deltas = [frame for frame in frames_of(await client.take()) if frame["type"] == "content_delta"]
    assert "".join(frame["data"]["text"] for frame in deltas) == "a" * 200
    assert deltas[0]["data"]["text"] == "a"
    assert len(deltas) < 20
    client.close()


async def test_someone_who_joins_in_mid_thought_sees_all_of_it_and_goes_on(house: House) -> None:
    go = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)

        async def slowly() -> Done:
            await step.think(["first ", "half "])
            await step.say(["one "] * 3, pause=0.01)
            await step.end()
            return await finish(ports)

        ports.events.delta(
            f.DeltaData(
                message_id=step.message.id,
                block_id="early",
                attempt=1,
                kind="thinking",
                offset=0,
                text="before its start fact",
            )
        )
        await go.wait()
        return await slowly()

    house.turn = turn
    session = await house.session()
    await house.engine.send(session, "Hello")
    await asyncio.sleep(0.05)
    viewer = Viewer(house.hub.client(), session)
    await viewer.join()
    await viewer.read_what_is_there()
    assert viewer.texts == {"early": "before its start fact"}
    assert house.hub.running().keys() == {session}
    go.set()
    await viewer.read_until("done")
    assert list(viewer.texts.values())[1:] == ["first half ", "one one one "]
    viewer.client.close()


async def test_a_block_known_in_part_gets_only_its_rest(house: House) -> None:
    house.turn = simple_turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    await asyncio.sleep(0.05)
    page = await house.store.messages(session)
    thinking = page.messages[-1].segments[0].id
    client = house.hub.client()
    await client.subscribe(session, since=page.head, blocks={thinking: 4, "unknown": 3})
    (delta,) = frames_of(await client.take())
    assert delta["type"] == "thinking_delta"
    assert delta["run_id"] == sent.run_id
    assert (delta["data"]["offset"], delta["data"]["text"]) == (4, "me see… 思考")
    client.close()


async def test_where_the_log_no_longer_reaches_back_a_snapshot_comes(house: House) -> None:
    go = asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.think(["done thinking"])
        await step.say(["so far"])
        await step.call("c1", "look", '{"a": 1}')
        ports.events.fact(
            f.ThinkingStart(
                message_id=step.message.id,
                block_id="live",
                attempt=1,
                kind="full",
                started_at=77,
            )
        )
        ports.events.delta(
            f.DeltaData(
                message_id=step.message.id,
                block_id="live",
                attempt=1,
                kind="thinking",
                offset=0,
                text="still going",
            )
        )
        await go.wait()
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    await house.store.put_todos(session, [Todo(id="1", content="x", status="pending")], by="person")
    sent = await house.engine.send(session, "Hello")
    await house.engine.send(session, "next")
    await asyncio.sleep(0.1)
    await house.store.prune_facts(session, keep=2)
    client = house.hub.client()
    await client.subscribe(session, since=1)
    (frame,) = frames_of(await client.take())
    assert frame["type"] == "snapshot"
    assert frame["run_id"] == sent.run_id
    data = frame["data"]
    assert [(b["kind"], b["text"], b["done"]) for b in data["blocks"]] == [
        ("thinking", "done thinking", True),
        ("content", "so far", True),
        ("tool_call", '{"a": 1}', True),
        ("thinking", "still going", False),
    ]
    assert data["blocks"][3]["started_at"] == 77
    assert data["blocks"][2]["name"] == "look"
    assert [todo["id"] for todo in data["todos"]] == ["1"]
    assert [item["text"] for item in data["queue"]] == ["next"]
    assert data["is_running"] is True
    assert data["n"] == (await house.store.session(session)).item.head
    client.close()
    go.set()


async def test_a_client_ahead_of_the_log_gets_a_snapshot(house: House) -> None:
    session = await house.session()
    client = house.hub.client()
    await client.subscribe(session, since=99)
    (frame,) = frames_of(await client.take())
    assert (frame["type"], frame["data"]["n"]) == ("snapshot", 0)
    client.close()


async def test_a_slow_client_gets_a_snapshot_instead_of_a_growing_queue(house: House) -> None:
    house.turn = talk(["x" * 100] * 3, ["y" * 100] * 400)
    session = await house.session()
    quick = Viewer(house.hub.client(), session)
    slow = Viewer(HubClient(house.hub, Outbox(most_frames=3)), session)
    await quick.join()
    await slow.join()
    sent = await house.engine.send(session, "Hello")
    await quick.read_until("done")
    await house.engine.wait(sent.run_id)
    assert quick.snapshots == 0
    async with asyncio.timeout(5):
        while not slow.snapshots:
            for out in await slow.client.take():
                slow.apply(msgspec.json.decode(out.data))
    await house.store.rename(session, "after")
    await slow.read_until("session_update")
    assert slow.n == quick.n + 1
    quick.client.close()
    slow.client.close()


async def test_a_slow_client_in_mid_stream_sees_the_whole_text_in_the_end(house: House) -> None:
    words = [f"{n} " for n in range(300)]

    async def turn(ports: TurnPorts) -> Done:
        step = Step(ports, 0, 1)
        await step.say(words, pause=0.002)
        await step.end()
        await asyncio.sleep(0.2)
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    slow = Viewer(HubClient(house.hub, Outbox(most_frames=2)), session)
    await slow.join()
    await house.engine.send(session, "Hello")
    async with asyncio.timeout(20):
        while not any(fact["type"] == "done" for fact in slow.facts):
            for out in await slow.client.take():
                slow.apply(msgspec.json.decode(out.data))
            await asyncio.sleep(0.1)
    assert slow.snapshots > 0
    assert list(slow.texts.values()) == ["".join(words)]
    slow.client.close()


async def test_the_sidebar_is_told_of_what_changes(house: House) -> None:
    house.turn = simple_turn
    session = await house.session(title="one")
    client = house.hub.client()
    await client.subscribe_list()
    (first,) = frames_of(await client.take())
    assert [item["title"] for item in first["data"]] == ["one"]
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    seen: list[dict[str, object]] = []
    async with asyncio.timeout(5):
        while not seen or seen[-1]["isRunning"]:
            for frame in frames_of(await client.take()):
                seen += frame["data"]
    assert seen[-1]["lastMessage"] == "Here you are."
    assert seen[-1]["unread"] is True
    n = (await house.store.list_sessions()).n
    await house.store.trash(session)
    (gone,) = frames_of(await client.take())
    assert gone["gone"] == [session]
    client.unsubscribe_list()
    later = house.hub.client()
    await later.subscribe_list(since=n)
    (missed,) = frames_of(await later.take())
    assert missed["data"] == []
    assert missed["gone"] == [session]
    client.close()
    later.close()


async def test_a_sidebar_that_fell_behind_is_sent_what_it_missed(house: House) -> None:
    client = HubClient(house.hub, Outbox(most_frames=1))
    await client.subscribe_list()
    await client.take()
    sessions = []
    for name in "abc":
        sessions.append(await house.session(title=name))
        await asyncio.sleep(0.1)
    titles: set[str] = set()
    async with asyncio.timeout(5):
        while len(titles) < 3:
            for frame in frames_of(await client.take()):
                titles |= {item["title"] for item in frame["data"]}
    client.close()


async def test_own_frames_keep_their_place_and_survive_a_full_queue(house: House) -> None:
    session = await house.session()
    client = HubClient(house.hub, Outbox(most_frames=1))
    await client.subscribe(session)
    client.push(AckFrame(frame_id="f1"))
    for name in "abcd":
        await house.store.rename(session, name)
    client.push(AckFrame(frame_id="f2"))
    frames = frames_of(await client.take())
    assert [frame["frame_id"] for frame in frames if frame["type"] == "ack"] == ["f1", "f2"]
    client.close()


async def test_an_unknown_session_is_refused_and_leaves_nothing_behind(house: House) -> None:
    client = house.hub.client()
    with pytest.raises(UserError) as told:
        await client.subscribe("s_none")
    assert told.value.code == "unknown_session"
    client.unsubscribe("s_none")
    client.close()


async def test_after_unsubscribing_nothing_more_comes(house: House) -> None:
    session = await house.session()
    client = house.hub.client()
    await client.subscribe(session)
    client.unsubscribe(session)
    await house.store.rename(session, "x")
    client.push(AckFrame(frame_id="f"))
    assert [frame["type"] for frame in frames_of(await client.take())] == ["ack"]
    client.close()


async def test_following_anew_sends_nothing_twice(house: House) -> None:
    session = await house.session()
    client = house.hub.client()
    await client.subscribe(session)
    await house.store.rename(session, "a")
    await client.subscribe(session, since=0)
    await house.store.rename(session, "b")
    assert [frame["n"] for frame in frames_of(await client.take())] == [1, 2]
    client.close()


async def test_trouble_with_the_database_is_told_to_everyone(house: House) -> None:
    client = house.hub.client()
    for callback in house.store._troubles:
        callback("full")
        callback(None)
    (frame,) = [msgspec.json.decode(out.data, type=ErrorFrame) for out in await client.take()]
    assert frame.data.code == "disk_full"
    assert frame.data.retryable
    client.close()


async def test_a_snapshot_tells_the_level_when_somebody_knows_it(house: House) -> None:
    level = f.LevelState(requested="high", effective="low", source="session", notes=["moved"])

    async def level_of(_session: object) -> f.LevelState:
        return level

    hub = Hub(house.store, level_of=level_of)
    session = await house.session()
    client = hub.client()
    await client.subscribe(session, since=5)
    (frame,) = frames_of(await client.take())
    assert frame["data"]["level"] == msgspec.to_builtins(level)
    client.close()


async def test_a_piece_that_does_not_fit_is_the_turns_fault(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        ports.events.delta(
            f.DeltaData(
                message_id="m", block_id="b", attempt=1, kind="content", offset=5, text="gap"
            )
        )
        return Done()

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Hello")
    await house.engine.wait(sent.run_id)
    last = (await house.store.facts(session, 0))[-1]
    assert msgspec.json.decode(last.data)["status"] == "failed"
