"""What a turn needs from the house, as protocols: the store and the engine satisfy them.

`memory.py` beside this file has in-memory ones for library use. One set of ports belongs to one
attempt at one run; when a newer attempt has begun (the fence moved), every write raises `Stale`.
"""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from silu.agent.approvals import Approval
from silu.agent.briefs import Source
from silu.types.agents import ThinkingLimit
from silu.types.calls import CallEvent, CallRequest
from silu.types.capabilities import LevelSource, ModelInfo, Resolution
from silu.types.facts import (
    ApprovalRequest,
    ContextUse,
    DeltaData,
    DoneReason,
    FactData,
    Mode,
    Question,
    RunStatus,
    TokenCount,
)
from silu.types.levels import LevelChoice
from silu.types.parts import BlobRef, Message
from silu.types.policy import Rule, Scope
from silu.types.skills import SkillRecord
from silu.types.todos import Plan, Todo
from silu.types.usage import Usage


class Stale(Exception):  # noqa: N818 -- an event like a cancellation, not an error
    """A newer attempt at this run exists: stop at once, write nothing more."""


class WaitsError(Exception):
    """A call that cannot go on before what goes by `wait_id` is over: a person's answer, a
    sub-agent's run. No fault of anybody."""

    def __init__(self, wait_id: str) -> None:
        super().__init__(wait_id)
        self.wait_id = wait_id


class Epoch(msgspec.Struct, kw_only=True):
    """The stretch of a session within which the sent prefix only grows.

    `system` and `tools_json` are kept as sent, byte for byte; `tag` is the session's notice tag;
    `first_message` is the id of the first message that belongs to it; `sources` are the files
    that the system text was made from.
    """

    id: str
    number: int
    reason: Literal["first", "compaction", "model", "tools", "fork"]
    model: str
    system: str
    tools_json: str
    tag: str
    first_message: str | None
    sources: list[Source] = []


class Compacted(msgspec.Struct, kw_only=True):
    """How an epoch that began with a compaction sends the history.

    `summary` goes ahead of it; it begins at `kept_from`; tool results ahead of `pruned_before`
    are sent as a word on how to read them. Thinking up to `sealed` belongs to older epochs.
    """

    summary: Message | None
    kept_from: str | None
    pruned_before: str | None
    sealed: str


class SessionState(msgspec.Struct, kw_only=True):
    """A session as a turn finds it; `level` and `model` are those of `mode`.

    `level_source` is who chose the level (`session` or `model`). `titled` is true once the
    session has a title, whoever gave it.
    """

    id: str
    model: str
    mode: Mode
    level: LevelChoice
    level_source: Literal["session", "agent", "model"]
    workspace: Path
    language: str = "en"
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    titled: bool = False


class CallRecord(msgspec.Struct, kw_only=True):
    """One model call for the inspector: the bytes sent (secrets masked), timing, outcome.

    Times are milliseconds; `first_*_ms` count from when the request was sent. `purpose`: a step of
    the turn, or a summary for a compaction.
    """

    attempt: int
    model: str
    resolution: Resolution
    url: str
    headers: dict[str, str]
    body: str
    dropped: list[dict[str, Any]]
    usage: Usage
    finish_reason: str | None
    raw_finish: str | None
    error: str | None
    started_at: int
    first_byte_ms: int | None
    first_thinking_ms: int | None
    first_text_ms: int | None
    duration_ms: int | None
    cost: float | None
    purpose: Literal["turn", "summary"] = "turn"


class TurnState(msgspec.Struct, kw_only=True):
    """All that a turn starts from, also after a restart.

    `history` is oldest first and ends with the person's message or, when the run is resumed,
    with the messages of its finished steps. `steps_done` counts those; `attempt` is the last
    used attempt number. `open_calls` are calls of the last finished step without a result:
    `proposed` (not begun), `started` (began, outcome unknown). `plans` are all revisions,
    oldest first; `plan` is the one that counts. `renew`: the person wants the system text and the
    tools read anew. `thinking_limit` is the turn's, else the session's. `skills` are
    those that earlier attempts at this run used. `measured` is how full the context was at the
    session's last call. Without a `user_message_id` the run only makes the context shorter.
    """

    run_id: str
    user_message_id: str | None
    session: SessionState
    history: list[Message]
    todos: list[Todo]
    plan: Plan | None
    epoch: Epoch | None
    steps_done: int = 0
    attempt: int = 0
    turn_level: LevelChoice | None = None
    open_calls: dict[str, Literal["proposed", "started"]] = {}
    spent: TokenCount | None = None
    plans: list[Plan] = []
    compacted: Compacted | None = None
    renew: bool = False
    thinking_limit: ThinkingLimit | None = None
    measured: ContextUse | None = None
    skills: list[SkillRecord] = []


class Journal(Protocol):
    """The durable side of a turn. Every method returns after its transaction committed;
    `facts` become durable in that same transaction and are sent after it."""

    async def load(self) -> TurnState: ...

    async def start_epoch(self, epoch: Epoch) -> None: ...

    async def put_message(
        self,
        message: Message,
        *,
        step: int,
        attempt: int,
        final: bool,
        facts: Sequence[FactData] = (),
    ) -> None:
        """Write the message of a step as far as it got: its closed parts replace its deltas.

        Inserts or replaces by `message.id`, whatever its role: the turn also writes the person's
        message again with the notices that ride at its head (`step` is then `steps_done`).
        The id of a step's message is the same for all its attempts. `final` ends the step's
        model call; the message then has its continuity too.
        """
        ...

    async def end_step(
        self, step: int, *, call: CallRecord, facts: Sequence[FactData] = ()
    ) -> None:
        """Record a finished model call: usage, cost and the inspector's row. A step has one call
        for each attempt; all but the last have an `error`."""
        ...

    async def tool_started(self, call_id: str, *, facts: Sequence[FactData] = ()) -> None:
        """Durable before the tool acts."""
        ...

    async def tool_finished(
        self, message: Message, *, step: int, facts: Sequence[FactData] = ()
    ) -> None:
        """Write a `tool` message with results (insert or replace by its id); their calls are
        finished. It grows while calls run in parallel, and its notices come last."""
        ...

    async def put_todos(self, todos: list[Todo], *, by: str, facts: Sequence[FactData]) -> None: ...

    async def mark_refused(self, message_id: str, part: str | None, endpoint: str) -> None: ...

    async def set_title(self, title: str) -> None: ...

    async def finish(
        self,
        status: RunStatus,
        *,
        reason: DoneReason | None,
        facts: Sequence[FactData],
    ) -> None:
        """End the run; `facts` ends with its `Done`."""
        ...


class Events(Protocol):
    """The live side of a turn: never blocks, keeps order with the journal's facts."""

    def delta(self, data: DeltaData) -> None: ...

    def fact(self, data: FactData) -> None:
        """Queue a fact: it becomes durable and is sent within the flusher's next transaction."""
        ...

    def behind(self) -> bool:
        """True while the journal is more than 2 s behind: read no more from upstream then."""
        ...

    async def caught_up(self) -> None:
        """Wait until it no longer is."""
        ...


class Runs(Protocol):
    """What people say to a running turn; read before each model call."""

    def level(self) -> LevelChoice | None:
        """A level set since the run began, else `None`."""
        ...

    def mode(self) -> Mode: ...

    def take_steering(self) -> list[str]: ...

    def cancelled(self) -> bool: ...

    async def wait_cancelled(self) -> None: ...


@runtime_checkable
class Compacts(Protocol):
    """Beside `Journal`, on the same object: what is sent can be made shorter.

    Where it is missing a session grows until its window is full.
    """

    async def compact(
        self, epoch: Epoch, compacted: Compacted, *, facts: Sequence[FactData] = ()
    ) -> None:
        """Begin an epoch (`start_epoch`) in which history is sent as `compacted` says; the
        summary is no message of the history. Both come back with `TurnState`."""
        ...


@runtime_checkable
class KeepsPlans(Protocol):
    """Beside `Journal`, on the same object: every revision of the session's plan is kept.

    Where it is missing the `plan` tool is not offered.
    """

    async def put_plans(
        self, plans: Sequence[Plan], todos: list[Todo], *, by: str, facts: Sequence[FactData]
    ) -> None:
        """Write revisions (insert or replace by id and revision) and the todo list, as one."""
        ...


@runtime_checkable
class AnswersNow(Protocol):
    """Beside `Runs`, on the same object: the person wants the answer now, whatever is thought."""

    def take_answer_now(self) -> bool:
        """True once for each time the person said so."""
        ...

    async def wait_answer_now(self) -> None: ...


@runtime_checkable
class Approves(Protocol):
    """Beside `Runs`, on the same object: a person can be asked about a call."""

    def rules(self) -> Sequence[Rule]:
        """What the person allowed or denied for this session or for good, oldest first."""
        ...

    def answered(self, approval_id: str) -> Approval | None:
        """What the person said before this attempt at the run, if they did."""
        ...

    async def approval(self, request: ApprovalRequest) -> Approval | None:
        """The person's word on a call; waits for it where that is cheap. `None` when nobody has
        answered yet: the run is parked and asks again when it is taken up.

        The same `approval_id` is asked about again after a restart.
        """
        ...

    async def add_rule(self, rule: Rule, scope: Scope) -> None:
        """Keep what an approval said beyond this once."""
        ...


@runtime_checkable
class AnswersQuestions(Protocol):
    """Beside `Runs`, on the same object: a person can be asked a question.

    Where it is missing the `ask_user` tool is not offered.
    """

    def attended(self) -> bool:
        """Whether anybody is there to answer; if not, the tool is not offered either."""
        ...

    def answer_to(self, question_id: str) -> str | None:
        """What the person answered before this attempt at the run, if they did."""
        ...

    async def answer(self, question: Question) -> str | None:
        """The person's answer; waits for it where that is cheap. `None` when there is none yet:
        the run is parked and asks again, by the same id, when it is taken up."""
        ...


class ChildWish(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-agent that a call wants: `wait_id` is the call's, `prompt` all that the sub-agent is
    told. What is `None` is as it is here. `skill_id`: a skill runs in it."""

    wait_id: str
    title: str
    prompt: str
    mode: Mode
    level: LevelChoice
    skill_id: str | None = None


class ChildEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a sub-agent's run ended, and its last answer."""

    status: RunStatus
    reason: str | None
    answer: str


@runtime_checkable
class RunsChildren(Protocol):
    """Beside `Runs`, on the same object: a call can have a sub-agent work for it.

    Where it is missing, or `depth` is too large, the `task` tool is not offered.
    """

    def depth(self) -> int:
        """How many sub-agents deep this run is: 0 for the person's own."""
        ...

    async def child(self, wish: ChildWish) -> ChildEnd | None:
        """Begin the sub-agent of a call (once for a `wait_id`), or look at how it ended; `None`
        while it works: the run is parked and asks again when it is over. `ToolError` when there
        may be no more of them."""
        ...


class Edits(msgspec.Struct, kw_only=True):
    """The session's todos and plans after a person changed them; `None`: as they were."""

    todos: list[Todo]
    plans: list[Plan] | None = None


@runtime_checkable
class TellsEdits(Protocol):
    """Beside `Runs`, on the same object: people change todos and plan while a turn runs."""

    def take_edits(self) -> Edits | None:
        """The newest state, once for each change."""
        ...


class ModelClient(Protocol):
    """The models a turn may call: `silu.providers.client.Client` satisfies it."""

    def model(self, ref: str) -> ModelInfo: ...

    def resolve(
        self,
        ref: str,
        level: LevelChoice,
        *,
        source: LevelSource,
        max_tokens: int | None = None,
    ) -> Resolution: ...

    def stream(self, request: CallRequest) -> AsyncGenerator[CallEvent]:
        """Call events of one model call, `CallEnd` last; closing the iterator ends the call."""
        ...


@runtime_checkable
class EndsThinking(Protocol):
    """Beside `ModelClient`, on the same object: a vendor may end a thought at once, so that its
    answer follows in the same stream."""

    async def end_thinking(self, ref: str, response_id: str) -> bool:
        """True when the vendor did it."""
        ...


class Blobs(Protocol):
    async def put(self, data: bytes, *, media_type: str, name: str | None = None) -> BlobRef: ...

    async def get(self, ref: BlobRef) -> bytes: ...
