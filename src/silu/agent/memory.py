"""The turn's ports in memory: for the library, where nothing outlives the process."""

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from silu.agent.approvals import Approval
from silu.agent.plan import Plans
from silu.agent.ports import (
    CallRecord,
    ChildEnd,
    ChildWish,
    Compacted,
    Epoch,
    SessionState,
    TurnState,
)
from silu.types.facts import (
    ApprovalRequest,
    ContextUse,
    DeltaData,
    Done,
    DoneReason,
    FactData,
    Mode,
    Question,
    RunStatus,
    TokenCount,
    TokenUpdate,
    WaitResolved,
)
from silu.types.levels import LevelChoice
from silu.types.parts import BlobRef, Message, Part, TextPart, ToolCallPart, ToolResultPart
from silu.types.policy import Rule, Scope
from silu.types.todos import Plan, Todo

Told = FactData | DeltaData
Sink = Callable[[Told], None]


def _name(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"


class MemoryBlobs:
    """Blobs by their sha256."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    async def put(self, data: bytes, *, media_type: str, name: str | None = None) -> BlobRef:
        sha256 = hashlib.sha256(data).hexdigest()
        self._data[sha256] = data
        return BlobRef(sha256=sha256, size=len(data), media_type=media_type, name=name)

    async def get(self, ref: BlobRef) -> bytes:
        return self._data[ref.sha256]


class MemorySession:
    """A session: its settings, messages, todos, epochs, and the calls that were made."""

    def __init__(
        self,
        model: str,
        *,
        workspace: Path,
        mode: Mode = "build",
        level: LevelChoice = "default",
        language: str = "en",
    ) -> None:
        self.id = _name("s")
        self.model = model
        self.workspace = workspace
        self.mode: Mode = mode
        self.level: LevelChoice = level
        self.language = language
        self.max_tokens: int | None = None
        self.temperature: float | None = None
        self.top_p: float | None = None
        self.title = ""
        self.messages: dict[str, Message] = {}
        self.todos: list[Todo] = []
        self.plans: list[Plan] = []
        self.epochs: list[Epoch] = []
        self.compacted: Compacted | None = None
        self.calls: list[CallRecord] = []
        self.measured: ContextUse | None = None
        self.blobs = MemoryBlobs()
        self.rules: list[Rule] = []

    def ask(self, text: str, parts: Iterable[Part] = ()) -> Message:
        """Add the person's next message."""
        own = TextPart(text=text, id=_name("p"))
        message = Message(role="user", parts=[own, *parts], id=_name("m"))
        self.messages[message.id] = message
        return message

    def approve_plan(self, plan_id: str, revision: int) -> Plan:
        """The person's approval: the plan comes into force and the session goes to build mode."""
        plans = Plans(self.plans, self.todos)
        plan = plans.approve(plan_id, revision)
        self.todos = plans.todos
        self.mode = "build"
        return plan

    def state(self) -> SessionState:
        return SessionState(
            id=self.id,
            model=self.model,
            mode=self.mode,
            level=self.level,
            level_source="model" if self.level == "default" else "session",
            workspace=self.workspace,
            language=self.language,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            titled=bool(self.title),
        )


Spawn = Callable[[ChildWish, int], Awaitable[ChildEnd]]

_TOO_DEEP = 1_000
"""Where nobody runs sub-agents none may begin."""


class MemoryRun:
    """One run of a session: journal, live events and the person's words to it, in one.

    `sink` is called with every fact and delta, in order, at once. A run that was put down (its
    task cancelled) can be taken up again: `load` tells where it was. With `park` a run does not
    wait for a person but ends as `Parked`. `attended`: somebody answers the model's questions.
    `spawn` runs a sub-agent, `depth` deep, to its end; without it there are none.
    """

    def __init__(
        self,
        session: MemorySession,
        asked: Message,
        *,
        sink: Sink | None = None,
        level: LevelChoice | None = None,
        park: bool = False,
        attended: bool = False,
        spawn: Spawn | None = None,
        depth: int = 0,
    ) -> None:
        self.session = session
        self.id = _name("run")
        self.outcome: RunStatus | None = None
        self.reason: DoneReason | None = None
        self.facts: list[FactData] = []
        self._asked = asked
        self._sink = sink
        self._turn_level: LevelChoice | None = level
        self._set_level: LevelChoice | None = None
        self._steering: list[str] = []
        self._cancel = asyncio.Event()
        self._hurry = asyncio.Event()
        self._approvals: dict[str, Approval] = {}
        self._answers: dict[str, str] = {}
        self._answered = asyncio.Event()
        self._park = park
        self._attended = attended
        self._spawn = spawn
        self._depth = depth
        self._children: dict[str, ChildEnd] = {}
        self._steps_done = 0
        self._attempt = 0
        self._calls: dict[str, Literal["proposed", "started"]] = {}
        self._spent: TokenCount | None = None

    # ------------------------------------------------------------------ what the person says

    def set_level(self, level: LevelChoice) -> None:
        """In force at the next model call."""
        self.session.level = level
        self._set_level = level

    def set_mode(self, mode: Mode) -> None:
        self.session.mode = mode

    def steer(self, text: str) -> None:
        """Reaches the model at its next call."""
        self._steering.append(text)

    def cancel(self) -> None:
        self._cancel.set()

    def answer_now(self) -> None:
        """Ends the thinking: the model answers with what there is."""
        self._hurry.set()

    def take_answer_now(self) -> bool:
        wanted = self._hurry.is_set()
        self._hurry.clear()
        return wanted

    async def wait_answer_now(self) -> None:
        await self._hurry.wait()

    def approve(self, approval_id: str, approval: Approval) -> None:
        """The person's word on a call that waits for it."""
        self._approvals[approval_id] = approval
        self._answered.set()
        self.fact(WaitResolved(wait_id=approval_id, decision=approval.decision))

    def answer_question(self, question_id: str, answer: str) -> None:
        """The person's answer to a question of the model's."""
        self._answers[question_id] = answer
        self._answered.set()
        self.fact(WaitResolved(wait_id=question_id, decision="answered"))

    def attended(self) -> bool:
        return self._attended

    def depth(self) -> int:
        return self._depth if self._spawn is not None else _TOO_DEEP

    async def child(self, wish: ChildWish) -> ChildEnd | None:
        assert self._spawn is not None
        if wish.wait_id not in self._children:
            self._children[wish.wait_id] = await self._spawn(wish, self._depth + 1)
        return self._children[wish.wait_id]

    def answer_to(self, question_id: str) -> str | None:
        return self._answers.get(question_id)

    async def answer(self, question: Question) -> str | None:
        while question.question_id not in self._answers:
            if self._park:
                return None
            self._answered.clear()
            await self._answered.wait()
        return self._answers[question.question_id]

    def rules(self) -> Sequence[Rule]:
        return self.session.rules

    def answered(self, approval_id: str) -> Approval | None:
        return self._approvals.get(approval_id)

    async def approval(self, request: ApprovalRequest) -> Approval | None:
        while request.approval_id not in self._approvals:
            if self._park:
                return None
            self._answered.clear()
            await self._answered.wait()
        return self._approvals[request.approval_id]

    async def add_rule(self, rule: Rule, scope: Scope) -> None:
        self.session.rules.append(rule)

    def level(self) -> LevelChoice | None:
        return self._set_level

    def mode(self) -> Mode:
        return self.session.mode

    def take_steering(self) -> list[str]:
        said, self._steering = self._steering, []
        return said

    def cancelled(self) -> bool:
        return self._cancel.is_set()

    async def wait_cancelled(self) -> None:
        await self._cancel.wait()

    # ------------------------------------------------------------------ events

    def delta(self, data: DeltaData) -> None:
        self._attempt = data.attempt
        if self._sink is not None:
            self._sink(data)

    def fact(self, data: FactData) -> None:
        self.facts.append(data)
        if isinstance(data, TokenUpdate):
            self._spent = data.current
            self.session.measured = data.context
        if self._sink is not None:
            self._sink(data)

    def behind(self) -> bool:
        return False

    async def caught_up(self) -> None:
        return

    # ------------------------------------------------------------------ journal

    async def load(self) -> TurnState:
        session = self.session
        return TurnState(
            run_id=self.id,
            user_message_id=self._asked.id,
            session=session.state(),
            history=self._history(),
            todos=[msgspec.structs.replace(todo) for todo in session.todos],
            plan=Plans(session.plans).current,
            plans=msgspec.convert(msgspec.to_builtins(session.plans), list[Plan]),
            epoch=session.epochs[-1] if session.epochs else None,
            steps_done=self._steps_done,
            attempt=self._attempt,
            turn_level=self._turn_level,
            open_calls=dict(self._calls),
            compacted=session.compacted,
            spent=self._spent,
            measured=session.measured,
        )

    async def start_epoch(self, epoch: Epoch) -> None:
        self.session.epochs.append(epoch)

    async def compact(
        self, epoch: Epoch, compacted: Compacted, *, facts: Sequence[FactData] = ()
    ) -> None:
        self.session.epochs.append(epoch)
        self.session.compacted = compacted
        self._tell(facts)

    async def put_message(
        self,
        message: Message,
        *,
        step: int,
        attempt: int,
        final: bool,
        facts: Sequence[FactData] = (),
    ) -> None:
        self.session.messages[message.id] = message
        if message.role == "assistant":
            self._attempt = attempt
            if final and not message.interrupted:
                self._steps_done, self._attempt = step + 1, 0
                calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
                self._calls = {call.call_id: "proposed" for call in calls}
        self._tell(facts)

    async def end_step(
        self, step: int, *, call: CallRecord, facts: Sequence[FactData] = ()
    ) -> None:
        self.session.calls.append(call)
        self._tell(facts)

    async def tool_started(self, call_id: str, *, facts: Sequence[FactData] = ()) -> None:
        self._calls[call_id] = "started"
        self._tell(facts)

    async def tool_finished(
        self, message: Message, *, step: int, facts: Sequence[FactData] = ()
    ) -> None:
        self.session.messages[message.id] = message
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                self._calls.pop(part.call_id, None)
        self._tell(facts)

    async def put_todos(self, todos: list[Todo], *, by: str, facts: Sequence[FactData]) -> None:
        self.session.todos = todos
        self._tell(facts)

    async def put_plans(
        self, plans: Sequence[Plan], todos: list[Todo], *, by: str, facts: Sequence[FactData]
    ) -> None:
        kept = {(plan.plan_id, plan.revision): plan for plan in (*self.session.plans, *plans)}
        self.session.plans = list(kept.values())
        self.session.todos = todos
        self._tell(facts)

    async def mark_refused(self, message_id: str, part: str | None, endpoint: str) -> None:
        """The turn has marked the message itself, and here there is no other copy."""

    async def set_title(self, title: str) -> None:
        self.session.title = title

    async def finish(
        self, status: RunStatus, *, reason: DoneReason | None, facts: Sequence[FactData]
    ) -> None:
        self.outcome, self.reason = status, reason
        self._tell(facts)

    def _history(self) -> list[Message]:
        """All messages but the one of a step that did not finish."""
        unfinished = f"{self.id}.{self._steps_done}"
        return [m for m in self.session.messages.values() if m.id != unfinished]

    def _tell(self, facts: Sequence[FactData]) -> None:
        for data in facts:
            self.fact(data)


def done_of(run: MemoryRun) -> Done | None:
    """The run's `done` fact, once it is over."""
    last = run.facts[-1] if run.facts else None
    return last if isinstance(last, Done) else None
