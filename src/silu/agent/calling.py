"""A step's model call under watch: the person, the clock and too much thinking can end it."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Literal

from silu.agent.accounting import estimate_tokens
from silu.agent.ports import AnswersNow, EndsThinking, Stale
from silu.agent.steps import Step, StepResult
from silu.agent.tool_exec import NOT_RUN, answer_all
from silu.agent.turn import Turn
from silu.types import facts
from silu.types.agents import ThinkingLimit
from silu.types.errors import UserError

Why = Literal["person", "time_limit", "answer_now", "thinking_limit"]

_LOOK = 0.25
"""Seconds between two looks at how much was thought."""

_TOLD: dict[Why, str] = {
    "answer_now": "put down: the person wanted the answer now",
    "thinking_limit": "put down: the thinking limit was reached",
}


async def call_model(turn: Turn) -> StepResult:
    """Run the step's model call to its end, or to where it is stopped.

    When the answer is wanted now the vendor is told to end the thought; where it cannot, the call
    is put down and made again at the lowest level. The thought so far stays for people.
    """
    step = Step(turn)
    while True:
        try:
            ended = await _watched(turn, step)
        except (Stale, UserError):
            raise
        except Exception:
            left = await step.broken()
            if left.calls:
                await answer_all(turn, left.calls, NOT_RUN)
            raise
        if isinstance(ended, StepResult):
            return ended
        if ended in {"person", "time_limit"}:
            return await step.interrupted("person" if ended == "person" else "time_limit")
        _tell(turn, ended)
        step = Step(turn, await step.put_down(_TOLD[ended]))


async def _watched(turn: Turn, step: Step) -> StepResult | Why:
    """The call's result, or why it was stopped before it ended."""
    stream = asyncio.ensure_future(step.run())
    watches: dict[asyncio.Future[None], Why] = {
        asyncio.ensure_future(watch): why for why, watch in _watches(turn, step).items()
    }
    try:
        while True:
            waiting = {stream, *watches}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if stream.done():
                return stream.result()
            for watch in [watch for watch in watches if watch.done()]:
                why = watches.pop(watch)
                if why == "answer_now":
                    _taken(turn)
                if why in _TOLD and (turn.hurried or not step.only_thought):
                    continue
                if why in _TOLD and await _ended_there(turn, step):
                    _tell(turn, why)
                    continue
                if await _stopped(stream, step):
                    return why
                return stream.result()
    finally:
        for task in (stream, *watches):
            task.cancel()
        await asyncio.gather(stream, *watches, return_exceptions=True)


def _tell(turn: Turn, why: Why) -> None:
    turn.hurried = True
    text = "The thinking was ended; the answer follows."
    turn.events.fact(facts.Notice(kind=why, text=text))


async def _ended_there(turn: Turn, step: Step) -> bool:
    """Let the vendor end the thought by its own way, where it has one: nothing is sent twice."""
    if step.start is None or not isinstance(turn.client, EndsThinking):
        return False
    return await turn.client.end_thinking(step.start.model, step.response_id)


async def _stopped(stream: "asyncio.Future[StepResult]", step: Step) -> bool:
    """Stop reading; False when the answer was complete and only had to be written down."""
    if not step.ending:
        stream.cancel()
    await asyncio.wait({stream})
    return stream.cancelled()


def _watches(turn: Turn, step: Step) -> dict[Why, Coroutine[Any, Any, None]]:
    watches: dict[Why, Coroutine[Any, Any, None]] = {"person": turn.runs.wait_cancelled()}
    if turn.ends_at is not None:
        watches["time_limit"] = asyncio.sleep(max(0.0, turn.ends_at - time.monotonic()))
    if turn.hurried:
        return watches
    if isinstance(turn.runs, AnswersNow):
        watches["answer_now"] = turn.runs.wait_answer_now()
    limit = turn.thinking_limit()
    if limit != ThinkingLimit():
        watches["thinking_limit"] = _thought_enough(step, limit)
    return watches


def _taken(turn: Turn) -> None:
    if isinstance(turn.runs, AnswersNow):
        turn.runs.take_answer_now()


async def _thought_enough(step: Step, limit: ThinkingLimit) -> None:
    """Return when one call's thinking has used up its seconds or its tokens."""
    began = time.monotonic()
    while True:
        used = time.monotonic() - began
        if limit.seconds is not None and used >= limit.seconds:
            return
        if limit.tokens is not None:
            thought = step.thought()
            if thought and estimate_tokens(thought.encode()) >= limit.tokens:
                return
        await asyncio.sleep(_LOOK)
