"""Making room: old tool results first, then a summary in place of old messages.

The stored history stays whole for people and for search; only what is sent becomes shorter, and
with it a new epoch begins. What is needed next stays as it was: the current request, the newest
messages, todos and the approved plan. A summary that fails or gains nothing changes nothing.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from silu.agent.accounting import estimate_tokens
from silu.agent.context import Context, new_epoch
from silu.agent.epochs import read_anew
from silu.agent.plan import approved_text
from silu.agent.ports import Compacted, Compacts
from silu.agent.recording import Outcome, call_record
from silu.agent.turn import Turn
from silu.providers.call import cost_of
from silu.types import facts
from silu.types.assembly import wall_ms
from silu.types.calls import CallEnd, CallRequest, CallStart
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import (
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    encode_parts,
    text_of,
)

KEEP_SHARE = 0.2
"""How much of the window the newest messages may take that stay as they are."""
MIN_GAIN = 0.2
"""A compaction that frees a smaller share of what was used is not made."""
MAX_FAILURES = 2
PERSON = "person"
"""The reason of a compaction that was asked for."""

_REQUEST_SHARE = 0.25
"""How much of the window the current request may take in a summary, at three characters a token."""
_RESULT_CHARS = 1_200
_PROMPT = Path(__file__).parent / "prompts" / "summary.md"


@dataclass(slots=True)
class Room:
    """What a run knows of its compactions. `fresh` is false until a call has measured again."""

    fresh: bool = True
    failures: int = 0
    useless: bool = False


async def make_room(turn: Turn, room: Room) -> None:
    """Compact before the next call when the window is nearly used up, by the real numbers."""
    window = turn.window()
    if window is None or not isinstance(turn.journal, Compacts):
        return
    if not room.fresh or room.useless or room.failures >= MAX_FAILURES:
        return
    if projected(turn) >= turn.settings.compact_at * window:
        await compact(turn, room, reason="window", window=window)


async def on_demand(turn: Turn, room: Room) -> None:
    """The person wants it: a summary of all but the newest messages, however full it is."""
    if isinstance(turn.journal, Compacts) and turn.context.messages:
        await compact(turn, room, reason=PERSON, window=turn.window() or projected(turn))


def take_over(turn: Turn) -> None:
    """Begin with what the session's last call measured, where its epoch goes on: that call saw
    all before the newest answer."""
    measured, epoch = turn.state.measured, turn.state.epoch
    if measured is None or epoch is None or turn.context.epoch.id != epoch.id:
        return
    messages = turn.context.messages
    answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
    if answers:
        after = sum(size(message) for message in messages[answers[-1] :])
        estimate = turn.context.size() - after
        turn.meter.take_over(measured, seen=answers[-1], estimate=estimate)


def projected(turn: Turn) -> int:
    """Tokens the next request will take: the last measured input and what came after it."""
    meter, messages = turn.meter, turn.context.messages
    if meter.context.used_tokens is None or meter.seen > len(messages):
        # As it would be sent: what a compaction took out does not count.
        return round(turn.context.size() * meter.ratio)
    added = sum(size(message) for message in messages[meter.seen :])
    return meter.context.used_tokens + round(added * meter.ratio)


def size(message: Message) -> int:
    """About how many tokens a message takes."""
    return estimate_tokens(encode_parts(message.parts))


async def compact(turn: Turn, room: Room, *, reason: str, window: int) -> bool:
    """One compaction; True when what is sent has become shorter."""
    turn.events.fact(facts.CompactionStart(reason=reason))
    before = projected(turn)
    share = min(window, before) if reason == PERSON else window
    at = _boundary(turn.context.messages, round(KEEP_SHARE * share / turn.meter.ratio))
    shorter = _pruned(turn, at)
    goal = min(turn.settings.compact_at * window, before) * (1 - MIN_GAIN)
    if (reason == PERSON or _after(turn, shorter) > goal) and at > 0:
        summary = await _summary(turn, at, window=window)
        if summary is None:
            room.failures += 1
            _tell(turn, "failed", before, None)
            return False
        shorter = _summarised(turn, at, summary)
    after = _after(turn, shorter)
    if after > before * (1 - MIN_GAIN):
        # What is left is system text, tools and the current request: trying again cannot help.
        room.useless = True
        _tell(turn, "gained_nothing", before, after)
        text = (
            f"The context cannot be made shorter: about {after} of {window} tokens are the system "
            "text, the tools and the newest messages."
        )
        turn.events.fact(facts.Notice(kind="context_full", text=text))
        return False
    await _apply(turn, shorter, before=before, after=after)
    room.fresh = False
    return True


# ---------------------------------------------------------------------------- what is kept


def _boundary(messages: Sequence[Message], budget: int) -> int:
    """Where the messages begin that stay: the newest that fit, and never within an exchange."""
    at = len(messages)
    used = 0
    for index in range(len(messages) - 1, -1, -1):
        used += size(messages[index])
        if used > budget and at < len(messages):
            break
        if messages[index].role in {"user", "assistant"}:
            at = index
    return at if at < len(messages) else max(0, len(messages) - 1)


def _pruned(turn: Turn, at: int) -> Compacted:
    old = turn.context.compacted
    messages = turn.context.messages
    return Compacted(
        summary=old.summary if old else None,
        kept_from=messages[0].id if messages else None,
        pruned_before=messages[at].id if at < len(messages) else None,
        sealed=messages[-1].id,
    )


def _summarised(turn: Turn, at: int, summary: Message) -> Compacted:
    messages = turn.context.messages
    return Compacted(
        summary=summary, kept_from=messages[at].id, pruned_before=None, sealed=messages[-1].id
    )


def _after(turn: Turn, shorter: Compacted) -> int:
    trial = Context(turn.context.epoch, turn.context.kept_messages(shorter), shorter)
    return round(trial.size() * turn.meter.ratio)


# ----------------------------------------------------------------------------- the summary


async def _summary(turn: Turn, at: int, *, window: int) -> Message | None:
    """The message that stands for all before `at`, or `None` when no summary could be had."""
    model = turn.settings.helper_model or turn.context.epoch.model
    known = turn.capability(model)
    room = min(window, known.context_window or window) if known else window
    transcript = _transcript(turn, at, limit=round(0.5 * room / turn.meter.ratio) * 3)
    request = CallRequest(
        model=model,
        messages=[
            Message(role="system", parts=[TextPart(text=_PROMPT.read_text(encoding="utf-8"))]),
            Message(role="user", parts=[TextPart(text=transcript)]),
        ],
        level=Level.OFF,
        level_source="turn",
    )
    try:
        text = await _unless_cancelled(turn, _asked(turn, request))
    except UserError:
        # No key or no such model: the call that comes next fails with the same word.
        return None
    if not text:
        return None
    return Message(
        role="user",
        parts=[TextPart(text=_with_state(turn, at, text, window=window), id=turn.new_id())],
        id=f"{turn.context.epoch.id}.{turn.context.epoch.number + 1}.summary",
    )


async def _unless_cancelled(turn: Turn, work: Coroutine[Any, Any, str]) -> str:
    """What the work gives; "" at once when the person stops the run."""
    asking = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(turn.runs.wait_cancelled())
    try:
        await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else ""
    finally:
        for task in (asking, stopping):
            task.cancel()
        await asyncio.wait({asking, stopping})


async def _asked(turn: Turn, request: CallRequest) -> str:
    """The text of a helper call; its tokens count for the run, not for the context."""
    start: CallStart | None = None
    sent_at = wall_ms()
    async with aclosing(turn.client.stream(request)) as events:
        async for event in events:
            match event:
                case CallStart():
                    start, sent_at = event, wall_ms()
                case CallEnd():
                    assert start is not None
                    return await _heard(turn, start, event, sent_at)
                case _:
                    pass
    return ""


async def _heard(turn: Turn, start: CallStart, end: CallEnd, sent_at: int) -> str:
    """The text of a helper call that is over, once it is on record; "" when it failed."""
    known = turn.capability(start.model)
    cost = cost_of(end.usage, known.prices if known else None) if end.cost is None else end.cost
    turn.meter.add(end.usage, cost)
    turn.attempt += end.attempt
    error = end.failure.message if end.failure else None
    outcome = Outcome(
        usage=end.usage,
        finish=end.finish,
        error=error,
        cost=cost,
        end=end,
        dropped=start.dropped,
    )
    record = call_record(start, outcome, attempt=turn.attempt, sent_at=sent_at, purpose="summary")
    await turn.journal.end_step(turn.step, call=record, facts=[turn.meter.update()])
    complete = error is None and end.finish is not None and end.finish.reason == "stop"
    return text_of(end.message).strip() if complete else ""


def _with_state(turn: Turn, at: int, summary: str, *, window: int) -> str:
    """The summary, the current request in its own words, then todos and plan from the store."""
    pieces = [f"The conversation so far was too long to go on with. Its notes:\n\n{summary}"]
    asked = next(
        (m for m in turn.context.messages[:at] if m.id == turn.state.user_message_id), None
    )
    if asked is not None and (words := text_of(asked).strip()):
        told = _request(words, limit=round(_REQUEST_SHARE * window) * 3)
        pieces.append(f"The person's current request, in their words:\n\n{told}")
    if (todos := turn.todos.format_for_injection()) is not None:
        pieces.append(todos)
    if (plan := turn.plans.newest("approved")) is not None:
        pieces.append(approved_text(plan))
    return "\n\n".join(pieces)


def _request(words: str, *, limit: int) -> str:
    """The request whole, or its beginning and end around a note of what is missing."""
    if len(words) <= limit:
        return words
    half = limit // 2
    left_out = len(words) - 2 * half
    return f"{words[:half]}\n[{left_out} characters of it are left out here]\n{words[-half:]}"


def _transcript(turn: Turn, at: int, *, limit: int) -> str:
    """What is summarised, without any thinking; the oldest goes first when it is too long."""
    compacted = turn.context.compacted
    pieces = [text_of(compacted.summary)] if compacted and compacted.summary else []
    pieces += [piece for message in turn.context.messages[:at] for piece in _said(message)]
    text = "\n\n".join(pieces)
    return text if len(text) <= limit else f"[the beginning is left out]\n{text[-limit:]}"


def _said(message: Message) -> list[str]:
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text=text) if text.strip():
                pieces.append(f"{message.role}: {text}")
            case ToolCallPart():
                pieces.append(f"call {part.name}: {part.arguments[:_RESULT_CHARS]}")
            case ToolResultPart():
                shown = part.shown[:_RESULT_CHARS]
                pieces.append(f"result of {part.name} ({part.status}): {shown}")
            case _:
                pass
    return pieces


# ------------------------------------------------------------------------------- the change


async def _apply(turn: Turn, shorter: Compacted, *, before: int, after: int) -> None:
    assert isinstance(turn.journal, Compacts)
    epoch = new_epoch(
        msgspec.structs.replace(turn.state, epoch=turn.context.epoch),
        await read_anew(turn.tools, turn.settings),
        reason="compaction",
        new_id=turn.new_id,
    )
    epoch.first_message = shorter.kept_from
    done = facts.CompactionDone(
        status="done",
        before_tokens=before,
        after_tokens=after,
        message_id=shorter.summary.id if shorter.summary else None,
    )
    turn.meter.guess(after, window=turn.window())
    await turn.journal.compact(epoch, shorter, facts=[done, turn.meter.update()])
    turn.context = Context(epoch, turn.context.kept_messages(shorter), shorter)
    turn.meter.seen = len(turn.context.messages)


def _tell(turn: Turn, status: str, before: int, after: int | None) -> None:
    turn.events.fact(
        msgspec.convert(
            {
                "status": status,
                "before_tokens": before,
                "after_tokens": after,
                "message_id": None,
            },
            facts.CompactionDone,
        )
    )
