"""Small real turns that write through the ports, as the agent's loop does."""

import asyncio
from collections.abc import Sequence

from silu.agent.ports import CallRecord
from silu.engine import Done, TurnPorts
from silu.types import facts as f
from silu.types.capabilities import Resolution
from silu.types.parts import (
    Continuity,
    Message,
    Origin,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from silu.types.usage import Usage


class Step:
    """One step's message, streamed block by block."""

    def __init__(self, ports: TurnPorts, step: int, attempt: int) -> None:
        self.ports = ports
        self.step = step
        self.attempt = attempt
        self.message = Message(id=f"{ports.run_id}.{step}", role="assistant", parts=[])

    def block_id(self) -> str:
        return f"{self.message.id}.{self.attempt}.{len(self.message.parts)}"

    async def think(self, pieces: Sequence[str], *, pause: float = 0.0) -> None:
        block = self.block_id()
        self.ports.events.fact(
            f.ThinkingStart(
                message_id=self.message.id,
                block_id=block,
                attempt=self.attempt,
                kind="full",
                started_at=1,
            )
        )
        text = await self._stream(block, "thinking", pieces, pause)
        self.message.parts.append(ThinkingPart(id=block, text=text, started_at=1, duration_ms=5))
        await self.put(
            f.ThinkingDone(
                message_id=self.message.id,
                block_id=block,
                attempt=self.attempt,
                kind="full",
                duration_ms=5,
                tokens=None,
                length=len(text),
            )
        )

    async def say(self, pieces: Sequence[str], *, pause: float = 0.0) -> None:
        block = self.block_id()
        self.ports.events.fact(
            f.ContentStart(message_id=self.message.id, block_id=block, attempt=self.attempt)
        )
        text = await self._stream(block, "content", pieces, pause)
        self.message.parts.append(TextPart(id=block, text=text))
        await self.put(
            f.ContentDone(
                message_id=self.message.id,
                block_id=block,
                attempt=self.attempt,
                length=len(text),
            )
        )

    async def call(self, call_id: str, name: str, arguments: str) -> None:
        block = self.block_id()
        self.ports.events.fact(
            f.ToolCallStart(
                call_id=call_id,
                message_id=self.message.id,
                block_id=block,
                attempt=self.attempt,
                name=name,
                effect=["read"],
            )
        )
        await self._stream(block, "tool_call", [arguments], 0)
        self.message.parts.append(
            ToolCallPart(id=block, call_id=call_id, name=name, arguments=arguments)
        )
        await self.put(
            f.ToolCallDone(
                call_id=call_id,
                message_id=self.message.id,
                block_id=block,
                attempt=self.attempt,
                name=name,
                arguments=arguments,
                length=len(arguments),
            )
        )

    async def put(self, *facts: f.FactData, final: bool = False) -> None:
        await self.ports.journal.put_message(
            self.message, step=self.step, attempt=self.attempt, final=final, facts=facts
        )

    async def end(self) -> None:
        origin = Origin(vendor="demo", model="m")
        self.message.continuity = [
            Continuity(part=part.id, kind="signature", data='"s\\u0000g"', origin=origin)
            for part in self.message.parts
            if isinstance(part, ThinkingPart)
        ]
        await self.put(final=True)

    async def _stream(
        self, block: str, kind: f.DeltaKind, pieces: Sequence[str], pause: float
    ) -> str:
        offset = 0
        for piece in pieces:
            self.ports.events.delta(
                f.DeltaData(
                    message_id=self.message.id,
                    block_id=block,
                    attempt=self.attempt,
                    kind=kind,
                    offset=offset,
                    text=piece,
                )
            )
            offset += len(piece)
            await asyncio.sleep(pause)
            if self.ports.events.behind():
                await self.ports.events.caught_up()
        return "".join(pieces)


def run_start(user_message_id: str | None) -> f.RunStart:
    level = f.LevelState(requested="high", effective="high", source="session", notes=[])
    return f.RunStart(model="demo/m", level=level, mode="build", user_message_id=user_message_id)


def done(status: f.RunStatus = "completed") -> f.Done:
    return f.Done(status=status, reason=None, finish_reason="stop", usage=f.TokenCount.nothing())


async def finish(ports: TurnPorts) -> Done:
    await ports.journal.finish("completed", reason=None, facts=[done()])
    return Done()


def results(step: Step, *call_ids: str) -> Message:
    parts: list[Part] = [
        ToolResultPart(id=f"res.{call_id}", call_id=call_id, status="ok", shown=f"did {call_id}")
        for call_id in call_ids
    ]
    return Message(id=f"{step.message.id}t", role="tool", parts=parts)


async def simple_turn(ports: TurnPorts) -> Done:
    """Thinks, answers, ends."""
    state = await ports.journal.load()
    ports.events.fact(run_start(state.user_message_id))
    step = Step(ports, state.steps_done, state.attempt + 1)
    await step.think(["Let me ", "see… ", "思考"])
    await step.say(["Here ", "you are."])
    await step.end()
    return await finish(ports)


def call_record(*, attempt: int, model: str) -> CallRecord:
    """A model call that was asked for `max` and made at `high`."""
    return CallRecord(
        attempt=attempt,
        model=model,
        resolution=Resolution(requested="max", source="turn", effective="high"),
        url="http://vendor/v1",
        headers={},
        body="{}",
        dropped=[],
        usage=Usage(),
        finish_reason="stop",
        raw_finish=None,
        error=None,
        started_at=1000,
        first_byte_ms=1,
        first_thinking_ms=None,
        first_text_ms=2,
        duration_ms=250,
        cost=None,
    )
