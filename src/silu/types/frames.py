"""Gateway frames (protocol v1): what stands on the WebSocket, both ways.

Server frames are facts, deltas, snapshots and answers; client frames are commands. The JSON
Schema of all of them is published and the web client's types are generated from it.
"""

from typing import Annotated, Any, Literal

import msgspec

from silu.types import facts
from silu.types.agents import ThinkingLimit
from silu.types.todos import Plan, Todo

Name = Annotated[str, msgspec.Meta(max_length=200)]
"""A client's own word for a frame or a command: short, because it is kept and sent back."""


class FactFrame(msgspec.Struct, kw_only=True):
    """`n` counts the session's facts without gaps; `ts` is milliseconds since 1970 UTC.

    `data` has the shape `facts.FACTS[type]`.
    """

    type: str
    session_id: str
    run_id: str | None
    n: int
    ts: int
    data: msgspec.Raw


class DeltaFrame(msgspec.Struct, kw_only=True, gc=False):
    type: facts.DeltaType
    session_id: str
    run_id: str
    data: facts.DeltaData


class SnapshotBlock(msgspec.Struct, kw_only=True):
    """A block of the running run, with its whole text so far; `done` when it is closed."""

    message_id: str
    block_id: str
    attempt: int
    kind: facts.DeltaKind
    text: str
    started_at: int | None = None
    done: bool = False
    call_id: str | None = None
    name: str | None = None


class Wait(msgspec.Struct, kw_only=True):
    """Something the run waits for: `type` is `approval_request` or `question`."""

    type: Literal["approval_request", "question"]
    data: dict[str, Any]


class SnapshotData(msgspec.Struct, kw_only=True):
    """Everything a client needs when the fact log no longer reaches back to where it was."""

    n: int
    blocks: list[SnapshotBlock]
    todos: list[Todo]
    plan: Plan | None
    tokens: facts.TokenUpdate | None
    waits: list[Wait]
    queue: list[facts.QueuedSend]
    level: facts.LevelState | None
    mode: facts.Mode
    is_running: bool


class SnapshotFrame(msgspec.Struct, kw_only=True):
    session_id: str
    run_id: str | None
    data: SnapshotData
    type: Literal["snapshot"] = "snapshot"


class AckFrame(msgspec.Struct, kw_only=True):
    """The command was taken; `data` depends on the command (e.g. `message_id`, `run_id`)."""

    frame_id: str
    data: dict[str, Any] = {}
    type: Literal["ack"] = "ack"


class ErrorFrame(msgspec.Struct, kw_only=True):
    """The command was not taken, and changed nothing."""

    frame_id: str | None
    data: facts.ErrorInfo
    type: Literal["error"] = "error"


class SessionItem(msgspec.Struct, kw_only=True):
    """A session in the list."""

    id: str
    title: str
    model: str | None
    mode: facts.Mode
    created_at: int
    updated_at: int
    parent_id: str | None
    archived: bool
    is_running: bool = msgspec.field(name="isRunning")
    waiting: bool
    unread: bool
    last_message: str | None = msgspec.field(name="lastMessage")
    todo_summary: facts.TodoSummary = msgspec.field(name="todoSummary")
    head: int


class ListFrame(msgspec.Struct, kw_only=True):
    """The sidebar's first answer, and later the sessions that changed; `gone` are sessions that
    were deleted or put into the bin since."""

    data: list[SessionItem]
    n: int
    gone: list[str] = []
    type: Literal["sessions"] = "sessions"


class HeartbeatFrame(msgspec.Struct, kw_only=True):
    """Sent at least every 20 s while a run is on; `running` maps sessions to elapsed ms."""

    ts: int
    running: dict[str, int] = {}
    type: Literal["heartbeat"] = "heartbeat"


# ----------------------------------------------------------------------- client frames


class Subscribe(msgspec.Struct, kw_only=True):
    """Follow a session from fact `since` on; `blocks` maps open blocks to known lengths."""

    since: int = 0
    blocks: dict[str, int] = {}
    list: bool = False


class Unsubscribe(msgspec.Struct, kw_only=True):
    list: bool = False


class Send(msgspec.Struct, kw_only=True):
    """A new turn; queues while a run is on. `level`, `mode` and `thinking_limit` hold for this
    turn only. `/name arguments` sends the command of that name."""

    client_id: Name
    text: str
    parts: list[dict[str, Any]] = []
    level: str | None = None
    mode: facts.Mode | None = None
    thinking_limit: ThinkingLimit | None = None


class Steer(msgspec.Struct, kw_only=True):
    client_id: Name
    text: str


class QueueEdit(msgspec.Struct, kw_only=True):
    client_id: Name
    message_id: str
    text: str | None = None
    remove: bool = False


class Cancel(msgspec.Struct, kw_only=True):
    client_id: Name
    run_id: str | None = None


class AnswerNow(msgspec.Struct, kw_only=True):
    client_id: Name
    run_id: str | None = None


class SetThinkingLevel(msgspec.Struct, kw_only=True):
    client_id: Name
    level: str


class SetModel(msgspec.Struct, kw_only=True):
    client_id: Name
    model: str


class SetMode(msgspec.Struct, kw_only=True):
    client_id: Name
    mode: facts.Mode


class Approve(msgspec.Struct, kw_only=True):
    client_id: Name
    approval_id: str
    decision: Literal["allow", "deny"]
    scope: Literal["once", "session", "always"] = "once"
    pattern: str | None = None
    reason: str | None = None


class AnswerQuestion(msgspec.Struct, kw_only=True):
    client_id: Name
    question_id: str
    answer: str


class ApprovePlan(msgspec.Struct, kw_only=True):
    client_id: Name
    plan_id: str
    revision: int


class TodoEdit(msgspec.Struct, kw_only=True):
    client_id: Name
    todos: list[dict[str, Any]]


class Regenerate(msgspec.Struct, kw_only=True):
    client_id: Name
    message_id: str
    level: str | None = None
    model: str | None = None


class Edit(msgspec.Struct, kw_only=True):
    client_id: Name
    message_id: str
    text: str


class Compact(msgspec.Struct, kw_only=True):
    client_id: Name


class MarkRead(msgspec.Struct, kw_only=True):
    client_id: Name | None = None


class Ping(msgspec.Struct, kw_only=True):
    pass


COMMANDS: dict[str, type[msgspec.Struct]] = {
    "subscribe": Subscribe,
    "unsubscribe": Unsubscribe,
    "send": Send,
    "steer": Steer,
    "queue_edit": QueueEdit,
    "cancel": Cancel,
    "answer_now": AnswerNow,
    "set_thinking_level": SetThinkingLevel,
    "set_model": SetModel,
    "set_mode": SetMode,
    "approve": Approve,
    "answer_question": AnswerQuestion,
    "approve_plan": ApprovePlan,
    "todo_edit": TodoEdit,
    "regenerate": Regenerate,
    "edit": Edit,
    "compact": Compact,
    "mark_read": MarkRead,
    "ping": Ping,
}
"""Client frame `type` → the shape of its `data`."""


class ClientFrame(msgspec.Struct, kw_only=True):
    """The envelope of every client frame; `data` is read by `COMMANDS[type]`."""

    type: str
    frame_id: Name
    session_id: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"{}")


# ------------------------------------------------------------------- HTTP answers (v1)


class Segment(msgspec.Struct, kw_only=True):
    """One part of a message as a client sees it, in order. Fields not of its type are null."""

    type: str
    id: str
    text: str | None = None
    kind: str | None = None
    started_at: int | None = None
    duration_ms: int | None = None
    tokens: int | None = None
    interrupted: bool = False
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    status: str | None = None
    summary: str | None = None
    result_ref: str | None = None
    pictures: list[str] = []
    truncated: bool = False
    data: Any = None


class MessageView(msgspec.Struct, kw_only=True):
    id: str
    role: str
    content: str
    thinking_content: str | None
    segments: list[Segment]
    metadata: dict[str, Any]
    created_at: int
    run_id: str | None


class MessagePage(msgspec.Struct, kw_only=True):
    """Oldest first; `before` asks for the page before, null at the beginning. `head` is the
    session's last fact when the page was read: subscribe with `since: head`."""

    messages: list[MessageView]
    before: str | None
    head: int
