"""What happens in a session, as the gateway tells it: facts and deltas (protocol v1).

A *fact* is numbered by the store in the transaction that makes it durable, and sent after that
commit. A *delta* is sent at once and has no number. The structs below are the `data` of a frame;
`FACTS` maps the frame's `type` to its struct. Fields that may be absent have a default and are
left out when unset; all others are always present, `null` when unknown.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from silu.types.errors import Failure
from silu.types.parts import ThinkingKind
from silu.types.todos import PlanStep, Todo, TodoSummary

Mode = Literal["plan", "build"]
Effect = Literal["read", "write", "execute", "network", "interact"]
RunStatus = Literal["completed", "incomplete", "cancelled", "failed", "interrupted"]
DoneReason = Literal[
    "open_todos",
    "no_answer",
    "thinking_used_limit",
    "step_limit",
    "time_limit",
    "token_limit",
    "cost_limit",
    "repeated_call",
    "stream_cut",
    "vendor_error",
    "person",
    "restart",
]


class LevelState(msgspec.Struct, kw_only=True):
    """The level as asked and as sent: shown together wherever the level is."""

    requested: str
    effective: str
    source: str
    notes: list[str]


class TokenCount(msgspec.Struct, kw_only=True, rename="camel"):
    """Sums over this run's calls, interrupted ones too; `cost` in US dollars."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    api_calls: int
    cost: float | None

    @classmethod
    def nothing(cls) -> "TokenCount":
        """What a run has used before its first call."""
        return cls(
            input_tokens=None,
            output_tokens=None,
            total_tokens=None,
            reasoning_tokens=None,
            cached_tokens=None,
            api_calls=0,
            cost=None,
        )


class ContextUse(msgspec.Struct, kw_only=True, rename="camel"):
    """`used_tokens` is the normalised input of the last main-loop call, never a sum."""

    used_tokens: int | None
    max_tokens: int | None
    percent: float | None
    source: Literal["vendor", "estimate", "unknown"]


class ErrorInfo(msgspec.Struct, kw_only=True):
    """A failure for people: `kind` and `code` for programs, `setting` names what to change."""

    kind: str
    message: str
    setting: str | None = None
    status: int | None = None
    code: str | None = None
    request_id: str | None = None
    retryable: bool = False

    @classmethod
    def of(cls, failure: Failure) -> "ErrorInfo":
        """A failed call as people are told of it."""
        return cls(
            kind=failure.kind,
            message=failure.message,
            setting=failure.setting,
            status=failure.status,
            code=failure.code,
            request_id=failure.request_id,
            retryable=failure.retryable,
        )


# ------------------------------------------------------------------------------ facts


class RunStart(msgspec.Struct, kw_only=True):
    model: str
    level: LevelState
    mode: Mode
    user_message_id: str | None


class ThinkingStart(msgspec.Struct, kw_only=True):
    message_id: str
    block_id: str
    attempt: int
    kind: ThinkingKind
    started_at: int


class ThinkingDone(msgspec.Struct, kw_only=True):
    """`length` counts code points; `tokens` is null unless the vendor tells."""

    message_id: str
    block_id: str
    attempt: int
    kind: ThinkingKind
    duration_ms: int | None
    tokens: int | None
    length: int
    interrupted: bool = False


class ContentStart(msgspec.Struct, kw_only=True):
    message_id: str
    block_id: str
    attempt: int
    kind: Literal["text"] = "text"


class ContentDone(msgspec.Struct, kw_only=True):
    """As `ThinkingDone`; `tokens` is null, no vendor counts answer text apart."""

    message_id: str
    block_id: str
    attempt: int
    length: int
    kind: Literal["text"] = "text"
    duration_ms: int | None = None
    tokens: int | None = None
    interrupted: bool = False


class ToolCallStart(msgspec.Struct, kw_only=True):
    call_id: str
    message_id: str
    block_id: str
    attempt: int
    name: str
    effect: list[Effect]


class ToolCallDone(msgspec.Struct, kw_only=True):
    """`arguments` is JSON text as received; `length` counts its code points."""

    call_id: str
    message_id: str
    block_id: str
    attempt: int
    name: str
    arguments: str
    length: int
    interrupted: bool = False


class ToolResult(msgspec.Struct, kw_only=True):
    """`summary` is what the model was shown, cut for the card; `result_ref` a blob's sha256, as
    `pictures` are."""

    call_id: str
    message_id: str
    name: str
    status: Literal["ok", "error", "denied", "interrupted", "unknown"]
    summary: str
    result_ref: str | None
    truncated: bool
    duration_ms: int | None
    pictures: list[str] = []


class SkillStart(msgspec.Struct, kw_only=True):
    skill_id: str
    name: str
    label: str


class SkillProgress(msgspec.Struct, kw_only=True):
    skill_id: str
    step: str | None
    detail: str | None
    percent: float | None


class SkillEnd(msgspec.Struct, kw_only=True):
    skill_id: str
    status: Literal["done", "error"]
    result: str
    result_type: Literal["markdown", "json", "table", "diff", "file", "image", "error"]


class TodoUpdate(msgspec.Struct, kw_only=True):
    todos: list[Todo]
    summary: TodoSummary


class PlanUpdate(msgspec.Struct, kw_only=True):
    plan_id: str
    revision: int
    status: Literal["draft", "approved", "completed", "superseded"]
    goal: str
    steps: list[PlanStep]
    active_todo_ids: list[str]
    constraints: list[str]
    open_questions: list[str]


class TokenUpdate(msgspec.Struct, kw_only=True):
    current: TokenCount
    context: ContextUse


class ApprovalRequest(msgspec.Struct, kw_only=True):
    approval_id: str
    call_id: str
    name: str
    arguments: str
    suggested_patterns: list[str]
    diff: str | UnsetType = UNSET


class Question(msgspec.Struct, kw_only=True):
    question_id: str
    text: str
    choices: list[str]


class WaitResolved(msgspec.Struct, kw_only=True):
    """An approval or a question has been answered; `decision` says how."""

    wait_id: str
    decision: str


class LevelUpdate(msgspec.Struct, kw_only=True):
    level: LevelState


class ModeUpdate(msgspec.Struct, kw_only=True):
    mode: Mode


class ModelUpdate(msgspec.Struct, kw_only=True):
    model: str
    level: LevelState


class QueuedSend(msgspec.Struct, kw_only=True):
    message_id: str
    text: str


class QueueUpdate(msgspec.Struct, kw_only=True):
    queue: list[QueuedSend]


class CompactionStart(msgspec.Struct, kw_only=True):
    reason: str


class CompactionDone(msgspec.Struct, kw_only=True):
    status: Literal["done", "gained_nothing", "failed"]
    before_tokens: int | None
    after_tokens: int | None
    message_id: str | None


class Notice(msgspec.Struct, kw_only=True):
    """A sentence for the person; `kind` is a stable word, `params` fill a translation."""

    kind: str
    text: str
    params: dict[str, Any] = {}


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """A picture or file that goes with a message; its bytes are a blob."""

    kind: Literal["image", "file"]
    name: str
    sha256: str
    media_type: str
    size: int


class MessageAdded(msgspec.Struct, kw_only=True):
    """A message became part of the history (the person's own, for other tabs)."""

    message_id: str
    role: Literal["user", "assistant", "tool", "system"]
    text: str
    attachments: list[Attached] = []


class SessionUpdate(msgspec.Struct, kw_only=True):
    """A session's line in the sidebar changed; fields left out did not."""

    title: str | UnsetType = UNSET
    last_message: str | UnsetType = msgspec.field(default=UNSET, name="lastMessage")
    is_running: bool | UnsetType = msgspec.field(default=UNSET, name="isRunning")
    waiting: bool | UnsetType = UNSET
    unread: bool | UnsetType = UNSET
    todo_summary: TodoSummary | UnsetType = msgspec.field(default=UNSET, name="todoSummary")
    updated_at: int | UnsetType = UNSET
    deleted: bool | UnsetType = UNSET


class Done(msgspec.Struct, kw_only=True):
    status: RunStatus
    reason: DoneReason | None
    finish_reason: str | None
    usage: TokenCount
    skill_executions: list[dict[str, Any]] = msgspec.field(
        default_factory=list[dict[str, Any]], name="skillExecutions"
    )
    error: ErrorInfo | UnsetType = UNSET


FactData = (
    RunStart
    | ThinkingStart
    | ThinkingDone
    | ContentStart
    | ContentDone
    | ToolCallStart
    | ToolCallDone
    | ToolResult
    | SkillStart
    | SkillProgress
    | SkillEnd
    | TodoUpdate
    | PlanUpdate
    | TokenUpdate
    | ApprovalRequest
    | Question
    | WaitResolved
    | LevelUpdate
    | ModeUpdate
    | ModelUpdate
    | QueueUpdate
    | CompactionStart
    | CompactionDone
    | Notice
    | MessageAdded
    | SessionUpdate
    | Done
)

FACTS: dict[str, type[FactData]] = {
    "run_start": RunStart,
    "thinking_start": ThinkingStart,
    "thinking_done": ThinkingDone,
    "content_start": ContentStart,
    "content_done": ContentDone,
    "tool_call_start": ToolCallStart,
    "tool_call_done": ToolCallDone,
    "tool_result": ToolResult,
    "skill_start": SkillStart,
    "skill_progress": SkillProgress,
    "skill_end": SkillEnd,
    "todo_update": TodoUpdate,
    "plan_update": PlanUpdate,
    "token_update": TokenUpdate,
    "approval_request": ApprovalRequest,
    "question": Question,
    "wait_resolved": WaitResolved,
    "level_update": LevelUpdate,
    "mode_update": ModeUpdate,
    "model_update": ModelUpdate,
    "queue_update": QueueUpdate,
    "compaction_start": CompactionStart,
    "compaction_done": CompactionDone,
    "notice": Notice,
    "message_added": MessageAdded,
    "session_update": SessionUpdate,
    "done": Done,
}
"""A fact's `type` → the shape of its `data`."""

_TYPE_NAMES = {struct: name for name, struct in FACTS.items()}


def fact_type(data: FactData) -> str:
    """The `type` a fact goes by on the wire."""
    return _TYPE_NAMES[type(data)]


DeltaType = Literal["thinking_delta", "content_delta", "tool_call_delta"]
DeltaKind = Literal["thinking", "content", "tool_call"]


class DeltaData(msgspec.Struct, kw_only=True, gc=False):
    """New text of a block. `offset` counts code points of the block before this text."""

    message_id: str
    block_id: str
    attempt: int
    kind: DeltaKind
    offset: int
    text: str
