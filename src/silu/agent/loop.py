"""One turn: model → tools → model, until the model is done, a limit is reached or it is stopped."""

import asyncio
import logging
import time
from typing import cast

import msgspec

from silu.agent import telling
from silu.agent.accounting import Meter
from silu.agent.calling import call_model
from silu.agent.compaction import Room, compact, make_room, on_demand, projected, take_over
from silu.agent.control import Control
from silu.agent.endings import Nudge, after_answer, nudge_message
from silu.agent.epochs import new_id, open_context, tell_reading
from silu.agent.ports import (
    Blobs,
    Compacts,
    Events,
    Journal,
    ModelClient,
    Runs,
    Stale,
)
from silu.agent.repeats import Repeats
from silu.agent.riding import add, add_words, tell_model
from silu.agent.settings import Parked, RunOutcome, TurnSettings
from silu.agent.skills import close
from silu.agent.steps import CUT, Cut, StepResult
from silu.agent.titles import title_of
from silu.agent.todo import touched_ids
from silu.agent.tool_exec import NOT_RUN, answer_all, resume_calls, run_calls
from silu.agent.turn import Turn, resolution_pair
from silu.tools.toolbox import ToolBox
from silu.types import facts
from silu.types.capabilities import LevelSource, Resolution
from silu.types.errors import UserError, VendorError, place_of
from silu.types.events import Finish
from silu.types.facts import DoneReason, ErrorInfo
from silu.types.levels import Level
from silu.types.parts import ToolCallPart

log = logging.getLogger(__name__)


async def run_turn(
    *,
    journal: Journal,
    events: Events,
    runs: Runs,
    blobs: Blobs,
    client: ModelClient,
    tools: ToolBox,
    settings: TurnSettings,
) -> RunOutcome | Parked:
    """Run one turn to its end, from wherever the journal says it is.

    The `done` fact is written before this returns, unless the run is `Parked`. Raises `Stale`
    when a newer attempt has begun, and `CancelledError` when the process stops: the run can then
    be taken up again.
    """
    state = await journal.load()
    control = Control(journal, runs, events, state, skills=settings.skills)
    box = tools.plus(control.tools())
    turn = Turn(
        journal=journal,
        events=events,
        runs=runs,
        blobs=blobs,
        client=client,
        tools=box,
        settings=settings,
        state=state,
        context=await open_context(journal, state, box, settings),
        refresh=control.refresh,
        todos=control.todos,
        plans=control.plans,
        skills=control.skills,
        meter=Meter(state.spent),
        new_id=new_id,
        step=state.steps_done,
        attempt=state.attempt,
    )
    take_over(turn)
    error: ErrorInfo | None = None
    turn.todos.touched = touched_ids(turn.context.since(state.user_message_id))
    try:
        await _begin(turn)
        outcome = await (_steps(turn) if state.user_message_id else _only_room(turn))
    except (UserError, VendorError) as problem:
        outcome, error = _failed_by(problem)
    except Stale:
        raise
    except Exception as problem:
        log.error(  # noqa: TRY400 - a trace ends in the error's text, which may be a person's
            "run %s failed: %s", state.run_id, place_of(problem)
        )
        outcome = RunOutcome(status="failed")
        text = f"silu failed ({type(problem).__name__}); the log names the place."
        error = ErrorInfo(kind="internal", message=text)
    if isinstance(outcome, Parked):
        return outcome
    return await _finish(turn, outcome, error)


# --------------------------------------------------------------------------------- start


async def _begin(turn: Turn) -> None:
    state = turn.state
    fresh = state.steps_done == 0 and state.attempt == 0
    if fresh:
        _announce(turn)
        await _name_session(turn)
        await tell_reading(turn)


def _announce(turn: Turn) -> None:
    asking = turn.asking()
    level, source = asking.level, asking.level_source
    model = turn.context.epoch.model
    try:
        resolution = turn.client.resolve(
            model,
            level,
            source=cast("LevelSource", source),
            max_tokens=asking.max_tokens,
        )
    except UserError:
        # The call that follows fails with this error; the run still has to begin before it ends.
        word = level.value if isinstance(level, Level) else level
        resolution = Resolution(
            requested=word, source=cast("LevelSource", source), effective="unset"
        )
    turn.announced = resolution_pair(resolution)
    turn.events.fact(
        facts.RunStart(
            model=model,
            level=telling.level_state(resolution),
            mode=turn.mode(),
            user_message_id=turn.state.user_message_id,
        )
    )


async def _name_session(turn: Turn) -> None:
    asked = [message for message in turn.context.messages if message.role == "user"]
    if turn.state.session.titled or len(asked) != 1:
        return
    if title := title_of(asked[0]):
        await turn.journal.set_title(title)


# --------------------------------------------------------------------------------- loop


async def _steps(turn: Turn) -> RunOutcome | Parked:
    if (seconds := turn.settings.limits.seconds) is not None:
        turn.ends_at = time.monotonic() + seconds
    repeats, room = Repeats(turn.settings.limits), Room()
    if (over := await _take_up(turn, repeats)) is not None:
        return over
    while True:
        if turn.runs.cancelled():
            return RunOutcome(status="cancelled", reason="person", finish_reason=turn.last_finish)
        if (limit := _limit_reached(turn)) is not None:
            return RunOutcome(status="incomplete", reason=limit, finish_reason=turn.last_finish)
        turn.refresh()
        await make_room(turn, room)
        await tell_model(turn, repeats)
        result = await call_model(turn)
        if await _made_room(turn, room, result):
            continue
        room.fresh = True
        turn.last_finish = result.finish.reason if result.finish else None
        outcome = await _after_step(turn, result, repeats)
        if outcome is not None:
            return outcome
        turn.step += 1
        turn.attempt = 0


async def _only_room(turn: Turn) -> RunOutcome:
    """A run without words of the person: it makes the context shorter, and that is all."""
    await on_demand(turn, Room())
    return RunOutcome(status="cancelled" if turn.runs.cancelled() else "completed")


async def _made_room(turn: Turn, room: Room, result: StepResult) -> bool:
    """After a vendor said that the context is too long: True when the call can be made again."""
    failure = result.failure
    if failure is None or failure.kind != "context_overflow" or result.message.parts:
        return False
    if not room.fresh or not isinstance(turn.journal, Compacts):
        return False
    window = turn.window() or projected(turn)
    return await compact(turn, room, reason="overflow", window=window)


async def _take_up(turn: Turn, repeats: Repeats) -> RunOutcome | Parked | None:
    """After a restart: finish what the last finished step led to. Nothing to do in a new run."""
    if turn.step == 0:
        return None
    turn.step -= 1
    last = turn.context.messages[-1]
    if last.role == "assistant" and not any(isinstance(p, ToolCallPart) for p in last.parts):
        finish = Finish(reason="stop", raw=None)
        over = await _after_step(turn, StepResult(message=last, finish=finish), repeats)
    else:
        over = _cut_short(await resume_calls(turn), turn)
    turn.step += 1
    return over


async def _after_step(
    turn: Turn, result: StepResult, repeats: Repeats
) -> RunOutcome | Parked | None:
    """What the step led to; `None` when the loop goes on."""
    if result.cut is not None or result.failure is not None:
        return await _cut(turn, result)
    if result.calls:
        if (over := _cut_short(await run_calls(turn, result.calls), turn)) is not None:
            return over
        turn.empty_answers = 0
        if repeats.over(result.calls, turn.context.messages[-1]):
            return RunOutcome(
                status="incomplete", reason="repeated_call", finish_reason=turn.last_finish
            )
        return None
    if said := turn.runs.take_steering():
        await add_words(turn, said)
        return None
    verdict = after_answer(turn, result)
    if isinstance(verdict, Nudge):
        await add(turn, nudge_message(turn, verdict))
        return None
    return None if verdict == "again" else verdict


async def _cut(turn: Turn, result: StepResult) -> RunOutcome | Parked:
    """A stopped or failed call: what arrived is kept, its tool calls are answered."""
    if result.calls:
        await answer_all(turn, result.calls, NOT_RUN if result.cut is None else CUT[result.cut])
    if (over := _cut_short(result.cut, turn)) is not None:
        return over
    assert result.failure is not None
    raise VendorError(result.failure)


def _cut_short(cut: Cut | None, turn: Turn) -> RunOutcome | Parked | None:
    if cut is None:
        return None
    if cut == "parked":
        assert turn.parked_on is not None
        return Parked(wait_id=turn.parked_on)
    status = "cancelled" if cut == "person" else "incomplete"
    return RunOutcome(status=status, reason=cut, finish_reason=turn.last_finish)


def _limit_reached(turn: Turn) -> DoneReason | None:
    limits, spent = turn.settings.limits, turn.meter.spent
    checks: tuple[tuple[bool, DoneReason], ...] = (
        (limits.steps is not None and turn.step >= limits.steps, "step_limit"),
        (turn.ends_at is not None and time.monotonic() >= turn.ends_at, "time_limit"),
        (limits.tokens is not None and (spent.total_tokens or 0) >= limits.tokens, "token_limit"),
        (limits.cost is not None and (spent.cost or 0.0) >= limits.cost, "cost_limit"),
    )
    return next((reason for reached, reason in checks if reached), None)


# --------------------------------------------------------------------------------- end


def _failed_by(problem: UserError | VendorError) -> tuple[RunOutcome, ErrorInfo]:
    if isinstance(problem, UserError):
        error = ErrorInfo(
            kind="user", code=problem.code, message=str(problem), setting=problem.setting or None
        )
        return RunOutcome(status="failed"), error
    failure = problem.failure
    cut = failure.kind == "stream_cut"
    outcome = RunOutcome(
        status="incomplete" if cut else "failed",
        reason="stream_cut" if cut else "vendor_error",
        finish_reason="error",
    )
    return outcome, ErrorInfo.of(failure)


async def _finish(turn: Turn, outcome: RunOutcome, error: ErrorInfo | None) -> RunOutcome:
    if turn.settings.checkpoints is not None:
        await asyncio.to_thread(turn.settings.checkpoints.end, turn.state.run_id)
    done = facts.Done(
        status=outcome.status,
        reason=outcome.reason,
        finish_reason=outcome.finish_reason,
        usage=turn.meter.spent,
    )
    told: list[facts.FactData] = []
    if turn.skills is not None:
        told = close(turn.skills.records, well=outcome.status == "completed")
        done.skill_executions = msgspec.to_builtins(turn.skills.records)
    if error is not None:
        done.error = error
    await turn.journal.finish(outcome.status, reason=outcome.reason, facts=[*told, done])
    return outcome
