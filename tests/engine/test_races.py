"""What people do in the very moment in which a run changes its state: none of it is lost."""

import asyncio

import pytest

from silu.engine import Done, Hub, Parked, TurnPorts
from silu.engine.hub_client import HubClient
from silu.store import Session, plans
from silu.types import facts as f
from silu.types.facts import Mode
from silu.types.frames import AckFrame
from silu.types.levels import Level, LevelChoice
from silu.types.todos import Plan, PlanStep
from tests.engine.turns import finish, simple_turn
from tests.engine.workspace import House, frames_of, until

pytestmark = pytest.mark.anyio

_QUESTION = f.Question(question_id="q1", text="Which?", choices=[])
_LEVEL = f.LevelState(requested="low", effective="low", source="session", notes=[])


class Asking:
    """A turn that asks, is parked on the answer, and notes what it finds at each attempt."""

    def __init__(self) -> None:
        self.modes: list[Mode] = []
        self.levels: list[LevelChoice | None] = []

    async def __call__(self, ports: TurnPorts) -> Done | Parked:
        state = await ports.journal.load()
        self.modes.append(ports.runs.mode())
        self.levels.append(state.turn_level)
        if len(self.modes) > 1:
            return await finish(ports)
        ports.events.fact(_QUESTION)
        return Parked(_QUESTION.question_id)


async def parked(house: House, *, mode: Mode, level: Level | None = None) -> tuple[str, str]:
    session = await house.session(mode="build" if mode == "plan" else "plan")
    sent = await house.engine.send(session, "Go", mode=mode, level=level)
    await house.until_runs(session, ["parked"])
    return session, sent.run_id


async def answered(house: House, session: str, run: str) -> None:
    await house.engine.answer_question(session, "q1", "this")
    await house.engine.wait(run)


async def test_a_switch_to_plan_mode_holds_for_a_run_that_was_sent_in_build_mode(
    house: House,
) -> None:
    house.turn = turn = Asking()
    session, run = await parked(house, mode="build")
    await house.engine.set_mode(session, "plan")
    await answered(house, session, run)
    assert turn.modes == ["build", "plan"]


async def test_an_approved_plan_ends_plan_mode_for_a_run_that_was_sent_in_it(house: House) -> None:
    house.turn = turn = Asking()
    session, run = await parked(house, mode="plan")
    draft = Plan(
        plan_id="p", revision=1, status="draft", goal="g", steps=[PlanStep(id="1", text="s")]
    )
    await house.store.write(lambda tx: plans.put_plan(tx, session, draft))
    await house.engine.approve_plan(session, "p", 1)
    await answered(house, session, run)
    assert turn.modes == ["plan", "build"]


async def test_a_level_chosen_during_a_run_outlives_its_own(house: House) -> None:
    house.turn = turn = Asking()
    session, run = await parked(house, mode="plan", level=Level.MAX)
    await house.engine.set_level(session, Level.LOW, _LEVEL)
    await answered(house, session, run)
    assert turn.levels == [Level.MAX, None]


async def test_a_stop_while_a_run_is_being_parked_ends_it(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done | Parked:
        ports.events.fact(_QUESTION)
        await ports.runs.wait_cancelled()
        return Parked(_QUESTION.question_id)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Go")
    await until(lambda: session in house.hub.running())
    assert await house.engine.cancel(session)
    assert await house.engine.list(session) == []
    async with asyncio.timeout(1):
        await house.engine.wait(sent.run_id)


async def test_all_who_wait_for_a_run_hear_of_its_end(house: House) -> None:
    written, go = asyncio.Event(), asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        done = await finish(ports)
        written.set()
        await go.wait()
        return done

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Go")
    first = asyncio.create_task(house.engine.wait(sent.run_id))
    await written.wait()
    await house.engine.wait(sent.run_id)
    go.set()
    async with asyncio.timeout(1):
        await first


async def test_words_that_came_too_late_to_steer_are_the_next_message(house: House) -> None:
    last_look, go = asyncio.Event(), asyncio.Event()

    async def turn(ports: TurnPorts) -> Done:
        assert ports.runs.take_steering() == []
        last_look.set()
        await go.wait()
        return await simple_turn(ports)

    house.turn = turn
    session = await house.session()
    await house.engine.send(session, "Go")
    await last_look.wait()
    assert await house.engine.steer(session, "and mind")
    assert await house.engine.steer(session, "the step")
    house.turn = simple_turn
    go.set()

    await house.until_runs(session, [])
    messages = (await house.store.messages(session)).messages
    assert [m.content for m in messages if m.role == "user"] == ["Go", "and mind\n\nthe step"]
    assert [m.role for m in messages] == ["user", "assistant", "user", "assistant"]


# ----------------------------------------------------------------------------- clients


async def deltas_of_a_turn(house: House, client: HubClient, session: str) -> list[str]:
    house.turn = simple_turn
    sent = await house.engine.send(session, "Go")
    await house.engine.wait(sent.run_id)
    client.push(AckFrame(frame_id="end"))
    frames = frames_of(await client.take())
    return [frame["data"]["text"] for frame in frames if frame["type"] == "content_delta"]


async def test_a_client_that_follows_twice_at_once_gets_every_frame_once(house: House) -> None:
    session = await house.session()
    client = house.hub.client()
    await asyncio.gather(client.subscribe(session), client.subscribe(session))
    assert "".join(await deltas_of_a_turn(house, client, session)) == "Here you are."
    client.close()


async def test_a_client_that_leaves_while_it_joins_follows_nothing(house: House) -> None:
    session = await house.session()
    client = house.hub.client()
    joining = asyncio.create_task(client.subscribe(session))
    await asyncio.sleep(0)
    client.unsubscribe(session)
    await joining
    assert await deltas_of_a_turn(house, client, session) == []
    client.close()


async def test_one_client_that_joins_takes_no_fact_from_another(house: House) -> None:
    slow, go = asyncio.Event(), asyncio.Event()

    async def level_of(_session: Session) -> None:
        if not slow.is_set():
            slow.set()
            await go.wait()

    hub = Hub(house.store, level_of=level_of)
    session = await house.session()
    first, second = hub.client(), hub.client()
    joining = asyncio.create_task(first.subscribe(session, since=99))
    await slow.wait()
    await second.subscribe(session, since=99)
    await house.engine.set_mode(session, "plan")
    go.set()
    await joining
    for client in (first, second):
        kinds = [frame["type"] for frame in frames_of(await client.take())]
        assert kinds == ["snapshot", "mode_update"]
        client.close()
