"""The person at the terminal: what a run wants to do is shown, and they say yes or no.

Without a terminal nobody can be asked: calls that need approval are refused with that reason, so
that the model and the one who reads its answer know.
"""

import asyncio
import sys
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from silu.types.errors import UserError
from silu.types.policy import Rule

Frame = dict[str, Any]
Command = Callable[[str, Frame], Awaitable[Frame]]

NOBODY = "Nobody can be asked here; `--allow TOOL` lets such calls run."

_KEYS = "[y]es  [n]o  [s]ession: do not ask again here  [a]lways: never ask again"


def rules(words: list[str]) -> list[Rule]:
    """`--allow` as rules: a tool's name, or `tool:pattern` for what it is called with."""
    made: list[Rule] = []
    for word in words:
        tool, _, pattern = word.partition(":")
        if not tool.strip():
            raise UserError(
                f"--allow {word!r} names no tool.", code="bad_argument", setting="--allow"
            )
        made.append(Rule(tool=tool.strip(), pattern=pattern or "*", action="allow"))
    return made


class Person:
    """Answers what a run waits for. `command` sends a command for the run's session."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._asks = sys.stdin.isatty() and sys.stderr.isatty()

    async def take(self, frame: Frame) -> None:
        """Answer the frame, where it is one that waits."""
        match frame["type"]:
            case "approval_request":
                await self._approve(frame["data"])
            case "question":
                await self._reply(frame["data"])
            case _:
                return

    async def _approve(self, request: Frame) -> None:
        if not self._asks:
            await self._decide(request, "deny", reason=NOBODY)
            return
        _write(request.get("diff") or request["arguments"])
        while True:
            match (await self._line(f"{request['name']}? {_KEYS} ")).strip().lower():
                case "y" | "yes":
                    await self._decide(request, "allow")
                case "s" | "session":
                    await self._decide(request, "allow", scope="session")
                case "a" | "always":
                    await self._decide(request, "allow", scope="always")
                case "n" | "no":
                    reason = (await self._line("Why? (may stay empty) ")).strip()
                    await self._decide(request, "deny", reason=reason or None)
                case _:
                    continue
            return

    async def _decide(
        self, request: Frame, decision: str, *, scope: str = "once", reason: str | None = None
    ) -> None:
        data = {"approval_id": request["approval_id"], "decision": decision, "scope": scope}
        await self._say("approve", {**data, "reason": reason})

    async def _reply(self, question: Frame) -> None:
        choices: list[str] = question["choices"]
        answer = NOBODY
        if self._asks:
            _write(question["text"])
            for number, choice in enumerate(choices, 1):
                _write(f"  {number}  {choice}")
            answer = ""
            while not answer:
                answer = (await self._line("> ")).strip()
            if answer.isdecimal() and 0 < int(answer) <= len(choices):
                answer = choices[int(answer) - 1]
        await self._say(
            "answer_question", {"question_id": question["question_id"], "answer": answer}
        )

    async def _say(self, kind: str, data: Frame) -> None:
        try:
            await self._command(kind, {"client_id": uuid.uuid4().hex, **data})
        except UserError as error:
            if error.code != "unknown_wait":
                raise
            _write("It was answered elsewhere.")

    async def _line(self, prompt: str) -> str:
        """A line of the terminal; waiting for it blocks nothing and can be cancelled."""
        sys.stderr.write(prompt)
        sys.stderr.flush()
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_reader(sys.stdin, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(sys.stdin)
        line = sys.stdin.readline()
        if not line:
            self._asks = False
            return "n\n"
        return line


def _write(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
