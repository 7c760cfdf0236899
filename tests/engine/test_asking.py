"""What a person is asked, answers, allows for later, and wants at once."""

import asyncio

import msgspec
import pytest

from silu.agent.approvals import Approval
from silu.agent.ports import AnswersNow, Approves, Compacted, Compacts, Epoch, KeepsPlans
from silu.engine import Done, Parked, TurnPorts
from silu.types import facts as f
from silu.types.parts import Message, TextPart
from silu.types.policy import Rule
from silu.types.todos import Plan, Todo
from tests.engine.turns import finish
from tests.engine.workspace import House

pytestmark = pytest.mark.anyio

_REQUEST = f.ApprovalRequest(
    approval_id="r.0t.0", call_id="c", name="write_file", arguments="{}", suggested_patterns=["a"]
)
_RULE = Rule(tool="write_file", action="allow", pattern="src/*")


async def test_an_approval_parks_the_run_and_comes_with_its_next_attempt(house: House) -> None:
    seen: list[Approval | None] = []

    async def turn(ports: TurnPorts) -> Done | Parked:
        assert isinstance(ports.runs, Approves)
        known = ports.runs.answered(_REQUEST.approval_id)
        if known is None:
            ports.events.fact(_REQUEST)
            known = await ports.runs.approval(_REQUEST)
        seen.append(known)
        if known is None:
            return Parked(_REQUEST.approval_id)
        await ports.runs.add_rule(_RULE, known.scope)
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    sent = await house.engine.send(session, "Write.")
    await house.until_runs(session, ["parked"])
    said = Approval(decision="allow", scope="session", pattern="src/*", reason="fine")
    await house.close()
    await house.open()
    await house.engine.approve(session, _REQUEST.approval_id, said, client_id="a")
    await house.engine.wait(sent.run_id)
    assert seen == [None, said]
    types = [fact.type for fact in await house.store.facts(session, 0)]
    assert types.index("approval_request") < types.index("wait_resolved") < types.index("done")


async def test_rules_hold_for_their_session_or_for_good(house: House) -> None:
    seen: list[list[Rule]] = []
    scope = "session"

    async def turn(ports: TurnPorts) -> Done:
        assert isinstance(ports.runs, Approves)
        seen.append(list(ports.runs.rules()))
        if len(seen) < 3:
            await ports.runs.add_rule(
                msgspec.structs.replace(_RULE, pattern=scope),
                "session" if scope == "session" else "always",
            )
        return await finish(ports)

    house.turn = turn
    one, other = await house.session(), await house.session()
    for session in (one, one, other):
        sent = await house.engine.send(session, "Go.")
        await house.engine.wait(sent.run_id)
        scope = "always"
    sent = await house.engine.send(one, "Go.")
    await house.engine.wait(sent.run_id)
    patterns = [[rule.pattern for rule in rules] for rules in seen]
    assert patterns == [[], ["session"], ["always"], ["always", "session"]]


async def test_an_answer_can_be_wanted_at_once(house: House) -> None:
    async def turn(ports: TurnPorts) -> Done:
        assert isinstance(ports.runs, AnswersNow)
        assert not ports.runs.take_answer_now()
        await ports.runs.wait_answer_now()
        assert ports.runs.take_answer_now()
        assert not ports.runs.take_answer_now()
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    assert not await house.engine.answer_now(session)
    sent = await house.engine.send(session, "Think long.")
    await asyncio.sleep(0.02)
    assert await house.engine.answer_now(session, client_id="n")
    async with asyncio.timeout(5):
        await house.engine.wait(sent.run_id)
    assert b'"completed"' in bytes((await house.store.facts(session, 0))[-1].data)


async def test_plans_and_compactions_come_back_with_the_next_turn(house: House) -> None:
    plans = [
        Plan(plan_id="p", revision=1, status="superseded", goal="a"),
        Plan(plan_id="p", revision=2, status="approved", goal="b"),
        Plan(plan_id="q", revision=3, status="completed", goal="c"),
    ]
    todos = [Todo(id="1", content="x", status="pending", plan_revision=2)]
    epoch = Epoch(
        id="e",
        number=1,
        reason="compaction",
        model="m",
        system="s",
        tools_json="[]",
        tag="t",
        first_message=None,
    )
    summary = Message(id="sum", role="user", parts=[TextPart(text="so far")])
    shorter = Compacted(summary=summary, kept_from="m", pruned_before=None, sealed="m")
    seen: list[object] = []

    async def turn(ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        assert isinstance(ports.journal, KeepsPlans)
        assert isinstance(ports.journal, Compacts)
        seen.append((state.plans, state.plan, state.todos, state.compacted, state.epoch))
        await ports.journal.put_plans(plans, todos, by="agent", facts=[])
        await ports.journal.compact(epoch, shorter)
        return await finish(ports)

    house.turn = turn
    session = await house.session()
    for _ in range(2):
        sent = await house.engine.send(session, "Plan.")
        await house.engine.wait(sent.run_id)
    assert seen == [([], None, [], None, None), (plans, plans[1], todos, shorter, epoch)]
    assert (await house.store.session(session)).plan == plans[1]
