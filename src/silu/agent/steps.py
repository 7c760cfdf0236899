"""One step's model call: stream events become deltas, facts and the step's message.

Everything shown is told at once; each closed block and the finished message go through the
journal. An attempt that fails and is made again starts over under a higher attempt number.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

import msgspec

from silu.agent import telling
from silu.agent.blocks import Block, finished_message
from silu.agent.recording import Outcome, call_record
from silu.agent.turn import Turn, resolution_pair
from silu.providers.call import cost_of
from silu.types import calls, facts
from silu.types import events as ev
from silu.types.assembly import wall_ms
from silu.types.errors import Failure
from silu.types.parts import Message, TextPart, ToolCallPart
from silu.types.usage import Usage, merge

_LOOK_EVERY = 64
"""Deltas between two looks at whether the journal keeps up."""

_TEXT = (ev.TextDelta, ev.ThinkingDelta)
_NO_END = Failure(
    kind="stream_cut", message="The model's answer ended without its end.", retryable=True
)
_BROKEN = Failure(kind="unknown", message="silu failed while it read the answer.")


Cut = Literal["person", "time_limit", "parked"]

CUT: dict[Cut, str] = {
    "person": "stopped by the person",
    "time_limit": "stopped at the run's time limit",
    "parked": "waits for the person",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """`message` is the step's message as kept; `failure` or `cut` say why it is incomplete."""

    message: Message
    finish: ev.Finish | None
    failure: Failure | None = None
    cut: Cut | None = None

    @property
    def calls(self) -> list[ToolCallPart]:
        return [part for part in self.message.parts if isinstance(part, ToolCallPart)]

    @property
    def has_text(self) -> bool:
        return any(isinstance(p, TextPart) and p.text.strip() for p in self.message.parts)


class Step:
    """The blocks of the current attempt and the record of its call.

    `carried` are thoughts of an attempt that was put down for its answer: they stay in the
    message, for people; without continuity no vendor is sent them.
    """

    def __init__(self, turn: Turn, carried: Sequence[Block] = ()) -> None:
        self.turn = turn
        self.carried = list(carried)
        self.message_id = turn.message_id()
        self.base = turn.attempt
        self.blocks: dict[int, Block] = {}
        self.start: calls.CallStart | None = None
        self.end: calls.CallEnd | None = None
        self.usage = Usage()
        self.finish: ev.Finish | None = None
        self.failure: Failure | None = None
        self.first: dict[str, int] = {}
        self.dropped: list[calls.Dropped] = []
        self.sent_at = wall_ms()
        self.ending = False
        self.response_id = ""
        self.known_messages = len(turn.context.messages)
        self._until_look = _LOOK_EVERY

    # -------------------------------------------------------------------- the stream

    @property
    def only_thought(self) -> bool:
        """Nothing of the answer, and no call, has been shown yet."""
        return not {"content", "tool_call"} & self.first.keys()

    def thought(self) -> str:
        """The thinking shown so far."""
        return "".join("".join(b.pieces) for b in self._ordered() if b.kind == "thinking")

    async def run(self) -> StepResult:
        """Read the call to its end."""
        turn = self.turn
        stream = turn.client.stream(turn.context.request(turn.asking()))
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, _TEXT):
                    self._text(event)
                elif isinstance(event, ev.ToolCallDelta):
                    self._arguments(event)
                elif not isinstance(event, ev.Keepalive):
                    await self._other(event)
                self._until_look -= 1
                if self._until_look == 0:
                    await self._keep_pace()
        self.ending = True
        return await self._finished()

    async def _keep_pace(self) -> None:
        self._until_look = _LOOK_EVERY
        if self.turn.events.behind():
            await self.turn.events.caught_up()

    def _text(self, event: ev.TextDelta | ev.ThinkingDelta) -> None:
        if event.text:
            block = self.blocks[event.index]
            self._show(block, block.delta_kind, event.text)

    def _arguments(self, event: ev.ToolCallDelta) -> None:
        block = self.blocks[event.index]
        block.call_id = block.call_id or event.id
        block.name = block.name or event.name
        if block.name and not block.announced:
            self._announce_call(block)
        if event.args_delta:
            self._show(block, "tool_call", event.args_delta)

    def _show(self, block: Block, kind: facts.DeltaKind, text: str) -> None:
        if kind not in self.first:
            self.first[kind] = wall_ms() - self.sent_at
        self.turn.events.delta(
            facts.DeltaData(
                message_id=self.message_id,
                block_id=block.id,
                attempt=self.turn.attempt,
                kind=kind,
                offset=block.length,
                text=text,
            )
        )
        block.length += len(text)
        block.pieces.append(text)

    async def _other(self, event: calls.CallEvent) -> None:
        match event:
            case ev.BlockStart():
                self._open(event)
            case ev.BlockEnd():
                await self._close(self.blocks[event.index])
            case ev.BlockData():
                block = self.blocks[event.index]
                block.name, block.data = event.name, event.data
                block.call_id = event.call_id or ""
                if block.raw_kind == "server_tool" and event.name:
                    self.turn.events.fact(telling.own_tool_notice(event))
            case ev.Reroute():
                block = self.blocks[event.index]
                block.reroute(event.kind)
                self._announce(block)
            case ev.UsageReport():
                self.usage = merge(self.usage, event.usage)
            case ev.Finish():
                self.finish = event
            case ev.VendorFailure():
                self.failure = event.failure
            case _:
                await self._call_event(event)

    async def _call_event(self, event: calls.CallEvent) -> None:
        match event:
            case calls.CallStart():
                await self._begin(event)
            case calls.CallEnd():
                self.end = event
            case ev.Served():
                self.response_id = event.response_id or self.response_id
            case calls.Dropped():
                self.dropped.append(event)
            case calls.Refused():
                await self._refused(event)
            case calls.CallWait():
                self.turn.events.fact(telling.wait_notice(event))
            case calls.LearnedFact():
                self.turn.events.fact(telling.learned_notice(event))
            case _:
                # Citations and continuity are in the client's message.
                pass

    # -------------------------------------------------------------------- attempts

    async def _begin(self, start: calls.CallStart) -> None:
        if self.start is not None:
            await self._record(error=self.failure.message if self.failure else "tried again")
        self.start = start
        self.sent_at = wall_ms()
        self.blocks, self.first, self.dropped = {}, {}, list(start.dropped)
        self.usage, self.finish, self.failure = Usage(), None, None
        self.response_id = ""
        self.turn.attempt = self.base + start.attempt
        self._show_carried()
        pair = resolution_pair(start.resolution)
        if self.turn.announced is not None and pair != self.turn.announced:
            self.turn.events.fact(facts.LevelUpdate(level=telling.level_state(start.resolution)))
        self.turn.announced = pair

    def _show_carried(self) -> None:
        """A higher attempt clears the screen: what stays is shown again."""
        for at, block in enumerate(self.carried):
            text = "".join(block.pieces)
            block.id = f"{self.message_id}.{self.turn.attempt}.c{at}"
            block.length, block.pieces = 0, []
            self._announce(block)
            if text:
                self._show(block, "thinking", text)
            done = telling.block_done(block, self.message_id, self.turn.attempt, interrupted=True)
            if done is not None:
                self.turn.events.fact(done)
        self.first = {}

    async def put_down(self, error: str) -> list[Block]:
        """Give this attempt up for another one at the same step; gives back its thoughts."""
        self._close_all()
        await self._record(error=error)
        return [*self.carried, *(b for b in self._ordered() if b.kind == "thinking")]

    async def _refused(self, event: calls.Refused) -> None:
        for message in self.turn.context.messages:
            if message.id == event.message_id:
                for kept in message.continuity:
                    if event.part in {None, kept.part} and event.endpoint not in kept.refused_by:
                        kept.refused_by = [*kept.refused_by, event.endpoint]
        await self.turn.journal.mark_refused(event.message_id, event.part, event.endpoint)

    async def _record(self, *, error: str | None) -> None:
        """Write down the attempt that is over, and tell what it used."""
        start, turn = self.start, self.turn
        if start is None:
            return
        end = self.end
        cost = end.cost if end is not None else None
        if cost is None:
            known = turn.capability(start.model)
            cost = cost_of(self.usage, known.prices if known else None)
        turn.meter.add(self.usage, cost)
        if error is None or self.usage.input_tokens is not None:
            turn.meter.fill(self.usage, window=turn.window(), sent_bytes=start.request.body)
            turn.meter.correct(self.usage, start.request.body)
            turn.meter.seen = self.known_messages
        outcome = Outcome(
            usage=self.usage,
            finish=self.finish,
            error=error,
            cost=cost,
            end=end,
            first=self.first,
            dropped=self.dropped,
        )
        record = call_record(start, outcome, attempt=turn.attempt, sent_at=self.sent_at)
        self.start = None
        await turn.journal.end_step(turn.step, call=record, facts=[turn.meter.update()])

    # -------------------------------------------------------------------- blocks

    def _open(self, start: ev.BlockStart) -> None:
        # A vendor that is silent at first is thinking: its thought counts from the request.
        first = not self.blocks and start.kind == "thinking"
        block_id = f"{self.message_id}.{self.turn.attempt}.{start.index}"
        block = Block(block_id, start, self.sent_at if first else wall_ms())
        self.blocks[start.index] = block
        self._announce(block)

    def _announce(self, block: Block) -> None:
        told = telling.block_start(block, self.message_id, self.turn.attempt)
        if told is not None:
            self.turn.events.fact(told)

    def _announce_call(self, block: Block) -> None:
        block.announced = True
        tool = self.turn.tools.get(block.name)
        effect = sorted(tool.effects) if tool else []
        self.turn.events.fact(
            telling.call_start(block, self.message_id, self.turn.attempt, effect=effect)
        )

    async def _close(self, block: Block) -> None:
        block.ended_at = wall_ms()
        done = telling.block_done(block, self.message_id, self.turn.attempt)
        if done is not None:
            await self._put(self._partial(), final=False, told=[done])

    # -------------------------------------------------------------------- endings

    def _ordered(self) -> list[Block]:
        return [self.blocks[index] for index in sorted(self.blocks)]

    def _partial(self) -> Message:
        blocks = [*self.carried, *self._ordered()]
        parts = [block.part() for block in blocks]
        return Message(role="assistant", parts=parts, id=self.message_id, interrupted=True)

    async def _put(self, message: Message, *, final: bool, told: list[facts.FactData]) -> None:
        await self.turn.journal.put_message(
            message, step=self.turn.step, attempt=self.turn.attempt, final=final, facts=told
        )

    def _close_all(self) -> list[facts.FactData]:
        told: list[facts.FactData] = []
        for block in self._ordered():
            if block.ended_at is None:
                block.ended_at = wall_ms()
                done = telling.block_done(
                    block, self.message_id, self.turn.attempt, interrupted=True
                )
                told += [] if done is None else [done]
        return told

    async def _finished(self) -> StepResult:
        end = self.end
        failure = _NO_END if end is None else end.failure
        told = self._close_all()
        if end is None:
            message = self._partial()
        else:
            self.finish = end.finish or self.finish
            self.usage = merge(end.usage, self.usage)
            message = finished_message(
                end.message,
                self._ordered(),
                message_id=self.message_id,
                reasoning_tokens=self.usage.reasoning_tokens,
            )
            message.parts[:0] = [block.part() for block in self.carried]
        return await self._ended(message, told, failure=failure)

    async def broken(self) -> StepResult:
        """Something on our side failed: what was shown is kept, marked as cut."""
        return await self._ended(self._partial(), self._close_all(), failure=_BROKEN)

    async def interrupted(self, cut: Cut) -> StepResult:
        """The call was stopped: what was shown is kept, marked as cut."""
        told = self._close_all()
        return await self._ended(self._partial(), told, failure=None, cut=cut)

    async def _ended(
        self,
        message: Message,
        told: list[facts.FactData],
        *,
        failure: Failure | None,
        cut: Cut | None = None,
    ) -> StepResult:
        if failure is not None or cut is not None:
            message = msgspec.structs.replace(message, interrupted=True)
        if message.parts:
            await self._put(message, final=True, told=told)
            self.turn.context.add(message)
        stopped = None if cut is None else CUT[cut]
        await self._record(error=failure.message if failure else stopped)
        return StepResult(message=message, finish=self.finish, failure=failure, cut=cut)
