"""Runs a step's tool calls: checked, allowed, journaled, in parallel, each with one result."""

import asyncio
import hashlib
import time
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from silu.agent.admission import (
    DeniedError,
    admit,
    context_of,
    guarded,
    may_run,
    prepared,
    still_allowed,
)
from silu.agent.ports import WaitsError
from silu.agent.steps import CUT, Cut
from silu.agent.turn import Turn
from silu.tools.base import Args, Tool, ToolOutput
from silu.tools.results import EMPTY, Shown, show
from silu.types import facts
from silu.types.errors import ToolError
from silu.types.parts import Message, Part, ResultStatus, ToolCallPart, ToolResultPart

CARD_CHARS = 2_000
"""How much of a result the card shows; the whole is behind its reference."""

NOT_RUN = "not run: the model's reply was cut off before this tool could run"
UNKNOWN = "interrupted: silu was stopped while this ran, and what it did is unknown"


@dataclass(slots=True)
class Round:
    """The calls of one step and their results so far."""

    calls: Sequence[ToolCallPart]
    message_id: str
    results: dict[int, ToolResultPart] = field(default_factory=dict[int, ToolResultPart])
    running: set[int] = field(default_factory=set[int])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    first_change: asyncio.Lock = field(default_factory=asyncio.Lock)

    def wait_id(self, at: int) -> str:
        """The id under which a call waits for a person: the same after a restart."""
        return f"{self.message_id}.{at}"

    def approval_id(self, at: int, prepared: ToolCallPart) -> str:
        """The id under which a call is asked about. Arguments that a hook put in are part of it:
        the hook is asked again after a restart, and a word on some is none on others."""
        if prepared is self.calls[at]:
            return self.wait_id(at)
        digest = hashlib.sha256(prepared.arguments.encode()).hexdigest()
        return f"{self.wait_id(at)}.{digest[:12]}"

    def message(self) -> Message:
        parts: list[Part] = [self.results[at] for at in sorted(self.results)]
        return Message(role="tool", parts=parts, id=self.message_id)


async def run_calls(
    turn: Turn, calls: Sequence[ToolCallPart], done: Message | None = None
) -> Cut | None:
    """Run all calls at once; tells what stopped them, `None` when nothing did.

    Every call has a result afterwards, but those that wait for a person (`parked`). `done` is a
    `tool` message of this step that an earlier attempt began.
    """
    work = Round(calls, turn.message_id("t"))
    _take_over(work, done)
    waiting = [at for at in range(len(calls)) if at not in work.results]
    every = asyncio.ensure_future(_all(_one(turn, work, at) for at in waiting))
    stop = asyncio.ensure_future(turn.runs.wait_cancelled())
    left = None if turn.ends_at is None else max(0.0, turn.ends_at - time.monotonic())
    cut: Cut | None = None
    try:
        await asyncio.wait({every, stop}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if every.done():
            every.result()
        else:
            cut = "person" if stop.done() else "time_limit"
            turn.stopped.set()
    finally:
        for task in (every, stop):
            task.cancel()
        await asyncio.gather(every, stop, return_exceptions=True)
    if cut is None and turn.parked_on is not None:
        return "parked"
    if cut is not None:
        await _give_up(turn, work, CUT[cut])
    turn.context.add(work.message())
    return cut


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run to the end or the first error; never leave one running behind."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def answer_all(turn: Turn, calls: Sequence[ToolCallPart], why: str) -> None:
    """Give every call of a cut message a result that says why it did not run."""
    work = Round(calls, turn.message_id("t"))
    for at, call in enumerate(calls):
        work.results[at] = _result(turn, call, status="interrupted", text=why)
    await _tell(turn, work, list(work.results.values()))
    turn.context.add(work.message())


def _take_over(work: Round, done: Message | None) -> None:
    if done is None:
        return
    work.message_id = done.id
    have = [part for part in done.parts if isinstance(part, ToolResultPart)]
    for at, call in enumerate(work.calls):
        mate = next((part for part in have if part.call_id == call.call_id), None)
        if mate is not None:
            have.remove(mate)
            work.results[at] = mate


async def _one(turn: Turn, work: Round, at: int) -> None:
    call = work.calls[at]
    began = time.monotonic()
    try:
        tool, args = admit(turn, call)
        if tool.prepare is not None:
            call, args = await prepared(turn, call, tool, args, wait_id=work.wait_id(at))
        approval_id = work.approval_id(at, call)
        if not await may_run(turn, call, tool, args, approval_id=approval_id):
            turn.parked_on = approval_id
            return
        admitted = turn.mode()
        await _begin(turn, work, at, tool, args)
        still_allowed(turn, tool, args, admitted=admitted)
        result = await _run(turn, work, at, tool, args)
    except ToolError as error:
        result = _result(turn, call, status=_status_of(error), text=str(error))
    except WaitsError as waiting:
        turn.parked_on = waiting.wait_id
        return
    result.duration_ms = round((time.monotonic() - began) * 1000)
    work.results[at] = result
    await _tell(turn, work, [result])


def _status_of(error: ToolError) -> ResultStatus:
    return "denied" if isinstance(error, DeniedError) else "error"


async def _begin(turn: Turn, work: Round, at: int, tool: Tool, args: Args) -> None:
    """What is durable before a call acts: the workspace as it was, and that it is about to."""
    await _checkpoint(turn, work, tool, args)
    work.running.add(at)
    await turn.journal.tool_started(work.calls[at].call_id)


async def _run(turn: Turn, work: Round, at: int, tool: Tool, args: Args) -> ToolResultPart:
    call = work.calls[at]
    try:
        with guarded(tool):
            output = await tool.run(args, context_of(turn, call, wait_id=work.wait_id(at)))
    except ToolError as error:
        output = ToolOutput(text=str(error), ok=False)
    return await _shown(turn, call, output)


async def _checkpoint(turn: Turn, work: Round, tool: Tool, args: Args) -> None:
    """Keep the workspace as it is before the run's first call that may change it."""
    checkpoints = turn.settings.checkpoints
    if checkpoints is None or not tool.effects & {"write", "execute"}:
        return
    if tool.proves_read_only is not None and tool.proves_read_only(args):
        return
    async with work.first_change:
        workspace = turn.state.session.workspace
        await asyncio.to_thread(checkpoints.begin, turn.state.run_id, workspace)


async def _shown(turn: Turn, call: ToolCallPart, output: ToolOutput) -> ToolResultPart:
    pictures = [
        f"[a picture, {picture.media_type}: the person sees it, you do not]"
        for picture in output.pictures
    ]
    text = "\n".join([output.text, *pictures] if output.text else pictures)
    result = _result(turn, call, status="ok" if output.ok else "error", text=text)
    shown = (
        Shown(text=text or EMPTY, truncated=False)
        if output.whole
        else show(text, part_id=result.id, limit=turn.settings.result_chars)
    )
    result.shown = shown.text
    if shown.truncated:
        result.full = await turn.blobs.put(
            text.encode(), media_type=output.media_type, name=f"{call.name}.txt"
        )
    for picture in output.pictures:
        ref = await turn.blobs.put(picture.data, media_type=picture.media_type, name=call.name)
        result.pictures.append(ref)
    return result


def _result(turn: Turn, call: ToolCallPart, *, status: ResultStatus, text: str) -> ToolResultPart:
    return ToolResultPart(
        id=turn.new_id(), call_id=call.call_id, name=call.name, status=status, shown=text
    )


async def _tell(turn: Turn, work: Round, results: list[ToolResultPart]) -> None:
    # One at a time: a message with fewer results must not land after one with more.
    async with work.lock:
        told = [_fact(work.message_id, result) for result in results]
        await turn.journal.tool_finished(work.message(), step=turn.step, facts=told)


def _fact(message_id: str, result: ToolResultPart) -> facts.FactData:
    return facts.ToolResult(
        call_id=result.call_id,
        message_id=message_id,
        name=result.name or "",
        status=result.status,
        summary=result.shown[:CARD_CHARS],
        result_ref=result.full.sha256 if result.full else None,
        truncated=result.full is not None or len(result.shown) > CARD_CHARS,
        duration_ms=result.duration_ms,
        pictures=[picture.sha256 for picture in result.pictures],
    )


async def _give_up(turn: Turn, work: Round, why: str) -> None:
    """The run was stopped: calls without a result get one that says so."""
    given: list[ToolResultPart] = []
    for at, call in enumerate(work.calls):
        if at in work.results:
            continue
        tool = turn.tools.get(call.name)
        harmless = at not in work.running or tool is None or tool.idempotent
        text = why if harmless else f"{why} while it ran; what it had done so far stands"
        work.results[at] = _result(turn, call, status="interrupted", text=text)
        given.append(work.results[at])
    if given:
        await _tell(turn, work, given)


async def resume_calls(turn: Turn) -> Cut | None:
    """Give the open calls of the last finished step their results after a restart.

    Calls that had not begun run now, idempotent ones run again; of the others the model is told
    that their outcome is unknown. Tells what stopped them.
    """
    asked, done = _unanswered(turn)
    if asked is None:
        return None
    calls = [part for part in asked.parts if isinstance(part, ToolCallPart)]
    begun = Round(calls, turn.message_id("t"))
    _take_over(begun, done)
    lost: list[ToolResultPart] = []
    for at, call in enumerate(calls):
        if at not in begun.results and _is_lost(turn, call):
            begun.results[at] = _result(turn, call, status="unknown", text=UNKNOWN)
            lost.append(begun.results[at])
    if lost:
        await _tell(turn, begun, lost)
    if done is not None:
        turn.context.drop_last()
    return await run_calls(turn, calls, begun.message())


def _unanswered(turn: Turn) -> tuple[Message | None, Message | None]:
    """The assistant message whose calls lack results, and the `tool` message begun for it."""
    messages = turn.context.messages
    done = messages[-1] if messages and messages[-1].role == "tool" else None
    asked = messages[-2] if done is not None and len(messages) > 1 else messages[-1]
    if asked.role != "assistant" or asked.interrupted:
        return None, None
    calls = [part.call_id for part in asked.parts if isinstance(part, ToolCallPart)]
    have = [p.call_id for p in done.parts if isinstance(p, ToolResultPart)] if done else []
    return (asked, done) if len(have) < len(calls) else (None, None)


def _is_lost(turn: Turn, call: ToolCallPart) -> bool:
    if turn.state.open_calls.get(call.call_id, "started") == "proposed":
        return False
    tool = turn.tools.get(call.name)
    return tool is None or not tool.idempotent
