"""What people say to a running turn: satisfies `Runs`, `AnswersNow`, `Approves`,
`AnswersQuestions`, `RunsChildren` and `TellsEdits` of `agent.ports`."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import msgspec

from silu.agent.approvals import Approval
from silu.agent.ports import ChildEnd, ChildWish, Edits
from silu.store.api import Asked
from silu.types.facts import ApprovalRequest, Mode, Question
from silu.types.levels import LevelChoice
from silu.types.policy import Rule, Scope


class Children(Protocol):
    """The sub-agents of a run."""

    depth: int

    async def child(self, wish: ChildWish) -> ChildEnd | None: ...


KeepRule = Callable[[Rule, Scope], Coroutine[Any, Any, None]]


class RunControl:
    """Lives as long as one attempt at a run. Steering is durable before it stands here; a
    person's answer comes with the next attempt, for a run that asks is parked."""

    def __init__(
        self,
        mode: Mode,
        *,
        steering: list[tuple[int, str]],
        asked: Asked,
        keep_rule: KeepRule,
        children: Children,
    ) -> None:
        self._mode: Mode = mode
        self._level: LevelChoice | None = None
        self._steering = steering
        self._heard = {number for number, _ in steering}
        self._taken = 0
        self._cancelled = asyncio.Event()
        self._hurry = asyncio.Event()
        self._answers = {
            wait_id: msgspec.convert(answer, Approval)
            for wait_id, answer in asked.answers.items()
            if "decision" in answer
        }
        self._said = {
            wait_id: str(answer["answer"])
            for wait_id, answer in asked.answers.items()
            if "answer" in answer
        }
        self._edits: Edits | None = None
        self._rules = list(asked.rules)
        self._keep_rule = keep_rule
        self._children = children

    # ------------------------------------------------------------- what people do

    def set_level(self, level: LevelChoice) -> None:
        self._level = level

    def set_mode(self, mode: Mode) -> None:
        self._mode = mode

    def steer(self, number: int, text: str) -> None:
        # A run that was taken up meanwhile has read it from the store already.
        if number not in self._heard:
            self._heard.add(number)
            self._steering.append((number, text))

    def edited(self, edits: Edits) -> None:
        """Todos and plans after a person changed them; plans told before stay told."""
        if edits.plans is None and self._edits is not None:
            edits = msgspec.structs.replace(edits, plans=self._edits.plans)
        self._edits = edits

    def cancel(self) -> None:
        self._cancelled.set()

    def answer_now(self) -> None:
        self._hurry.set()

    # ------------------------------------------------------------- what the turn reads

    def level(self) -> LevelChoice | None:
        return self._level

    def mode(self) -> Mode:
        return self._mode

    def take_steering(self) -> list[str]:
        said, self._steering = self._steering, []
        if said:
            self._taken = said[-1][0]
        return [text for _, text in said]

    def taken(self) -> int:
        """The newest steering the turn has taken; the next write makes that durable."""
        return self._taken

    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    async def wait_cancelled(self) -> None:
        await self._cancelled.wait()

    def take_answer_now(self) -> bool:
        wanted = self._hurry.is_set()
        self._hurry.clear()
        return wanted

    async def wait_answer_now(self) -> None:
        await self._hurry.wait()

    def rules(self) -> Sequence[Rule]:
        return self._rules

    def answered(self, approval_id: str) -> Approval | None:
        return self._answers.get(approval_id)

    async def approval(self, request: ApprovalRequest) -> Approval | None:
        return self._answers.get(request.approval_id)

    def attended(self) -> bool:
        # A question outlives every client: somebody comes back to it.
        return True

    def answer_to(self, question_id: str) -> str | None:
        return self._said.get(question_id)

    async def answer(self, question: Question) -> str | None:
        return self._said.get(question.question_id)

    def take_edits(self) -> Edits | None:
        edits, self._edits = self._edits, None
        return edits

    def depth(self) -> int:
        return self._children.depth

    async def child(self, wish: ChildWish) -> ChildEnd | None:
        return await self._children.child(wish)

    async def add_rule(self, rule: Rule, scope: Scope) -> None:
        self._rules.append(rule)
        await self._keep_rule(rule, scope)
