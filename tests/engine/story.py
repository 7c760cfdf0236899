"""A turn whose every word is known beforehand, and that can be taken up after any crash."""

import asyncio
import os
import random
from pathlib import Path

from silu.engine import Done, TurnPorts
from silu.types import facts as f
from silu.types.parts import Message, ToolResultPart
from tests.engine.turns import Step, done, run_start

STEPS = 3
_WORDS = ["think ", "思考", "so ", "然后 ", "\x00odd\x10 ", "🙂 ", "line\n", "and "]


def pieces(step: int, kind: str, count: int = 14) -> list[str]:
    """What a block of a step says, piece by piece: the same in every attempt."""
    dice = random.Random(f"{step}-{kind}")
    return [dice.choice(_WORDS) for _ in range(count)]


def text(step: int, kind: str) -> str:
    return "".join(pieces(step, kind))


class Story:
    """`folder/tools` gets a line for each time a tool begins and each time it ends."""

    def __init__(self, folder: Path, *, pause: float = 0.003) -> None:
        self._log = folder / "tools"
        self._pause = pause

    async def __call__(self, ports: TurnPorts) -> Done:
        state = await ports.journal.load()
        if state.steps_done == 0 and state.attempt == 0:
            ports.events.fact(run_start(state.user_message_id))
        if state.steps_done:
            await self._tools(ports, state.steps_done - 1, dict(state.open_calls))
        for number in range(state.steps_done, STEPS):
            attempt = state.attempt + 1 if number == state.steps_done else 1
            await self._step(ports, number, attempt)
        last = Step(ports, STEPS, state.attempt + 1 if state.steps_done >= STEPS else 1)
        if state.steps_done <= STEPS:
            await last.say(pieces(STEPS, "content"), pause=self._pause)
            await last.end()
        await ports.journal.finish("completed", reason=None, facts=[done()])
        return Done()

    async def _step(self, ports: TurnPorts, number: int, attempt: int) -> None:
        step = Step(ports, number, attempt)
        await step.think(pieces(number, "thinking"), pause=self._pause)
        await step.say(pieces(number, "content"), pause=self._pause)
        await step.call(f"c{number}", "work", "{}")
        await step.end()
        await self._tools(ports, number, {f"c{number}": "proposed"})

    async def _tools(self, ports: TurnPorts, number: int, calls: dict[str, str]) -> None:
        for call_id, status in calls.items():
            result = await self._tool(ports, call_id, status)
            message = Message(id=f"{ports.run_id}.{number}t", role="tool", parts=[result])
            fact = f.ToolResult(
                call_id=call_id,
                message_id=message.id,
                name="work",
                status=result.status,
                summary=result.shown,
                result_ref=None,
                truncated=False,
                duration_ms=1,
            )
            await ports.journal.tool_finished(message, step=number, facts=[fact])

    async def _tool(self, ports: TurnPorts, call_id: str, status: str) -> ToolResultPart:
        name = f"{ports.run_id} {call_id}"
        if status == "started":
            return ToolResultPart(call_id=call_id, status="unknown", shown="outcome unknown")
        await ports.journal.tool_started(call_id)
        self._note(f"begin {name}")
        await asyncio.sleep(self._pause)
        self._note(f"end {name}")
        return ToolResultPart(call_id=call_id, status="ok", shown=f"did {call_id}")

    def _note(self, line: str) -> None:
        with self._log.open("a") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
