"""What the store hands out that no protocol struct has: plain values, no rows."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from silu.types.agents import ThinkingLimit
from silu.types.facts import DeltaKind, Mode, QueuedSend, RunStatus, TokenCount, TokenUpdate
from silu.types.frames import SessionItem, Wait
from silu.types.levels import LevelChoice
from silu.types.parts import Message, Part
from silu.types.policy import Rule
from silu.types.skills import SkillRecord
from silu.types.todos import Plan, Todo

SessionKind = Literal["root", "branch", "child"]
RunState = Literal["queued", "running", "parked", "done"]


class StaleRunError(Exception):
    """A newer attempt at the run exists, or its session is gone: nothing was written."""


class NewSession(msgspec.Struct, kw_only=True):
    """What a session starts with; `workspace` "" until its folder is known (`set_workspace`).
    `model` and `level` hold for both modes until one of them gets its own."""

    model: str | None = None
    level: LevelChoice | None = None
    mode: Mode = "build"
    title: str = ""
    workspace: str = ""
    language: str = "en"
    kind: SessionKind = "root"
    parent_id: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    rules: Sequence[Rule] = ()
    agent: str | None = None
    prompt: str | None = None
    thinking_limit: ThinkingLimit | None = None


class Session(msgspec.Struct, kw_only=True):
    """One session, whole. `renew`: the person wants the system text and the tools read anew with
    the next turn. `model` and `level` are those of `mode`; `level` is `None` while
    nobody chose one. `forked_at` is the id of the last shared message. `workspace_locked`: a
    tool has run, the folder stays."""

    item: SessionItem
    kind: SessionKind
    model: str | None
    mode: Mode
    level: LevelChoice | None
    workspace: str
    workspace_locked: bool
    language: str
    forked_at: str | None
    run_id: str | None
    todos: list[Todo]
    plan: Plan | None
    tokens: TokenUpdate | None
    queue: list[QueuedSend]
    waits: list[Wait]
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    trashed_at: int | None = None
    rules: Sequence[Rule] = ()
    agent: str | None = None
    prompt: str | None = None
    thinking_limit: ThinkingLimit | None = None
    renew: bool = False


class SessionPage(msgspec.Struct, kw_only=True):
    """Newest first; `n` is the list's own counter, `gone` the sessions deleted since."""

    sessions: list[SessionItem]
    n: int
    gone: list[str] = []


class RunRef(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at one run: what it writes is refused once `fence` is no longer the newest."""

    run_id: str
    session_id: str
    fence: int


class Run(msgspec.Struct, kw_only=True):
    """A run as kept. `input` are the person's parts, `stalled` how often it was taken up since
    it last got anywhere."""

    id: str
    session_id: str
    status: RunState
    user_message_id: str | None
    turn_level: LevelChoice | None
    turn_mode: Mode | None
    thinking_limit: ThinkingLimit | None
    stalled: int
    wait_id: str | None
    started_at: int | None
    outcome: str | None = None
    reason: str | None = None


class NewRun(msgspec.Struct, kw_only=True):
    """A turn to be: `message_id` is the id the person's message will have. Without one the run
    only makes the context shorter."""

    id: str
    message_id: str | None
    parts: list[Part]
    turn_level: LevelChoice | None = None
    turn_mode: Mode | None = None
    thinking_limit: ThinkingLimit | None = None


class ChildRow(msgspec.Struct, kw_only=True):
    """A sub-agent: the call (`wait_id`) it works for and how its run ended. `status` is `None`
    while it works; `skill_id` is set where a skill runs in it."""

    wait_id: str
    parent_session: str
    parent_run: str
    child_session: str
    child_run: str
    skill_id: str | None = None
    status: RunStatus | None = None
    reason: str | None = None
    answer: str | None = None


class EpochRow(msgspec.Struct, kw_only=True):
    id: str
    number: int
    reason: str
    model: str
    system: str
    tools_json: str
    tag: str
    first_message: str | None
    sources: str | None = None


class TurnRow(msgspec.Struct, kw_only=True):
    """Everything a turn starts from."""

    run: Run
    session: Session
    history: list[Message]
    epoch: EpochRow | None
    steps_done: int
    attempt: int
    open_calls: dict[str, Literal["proposed", "started"]]
    spent: TokenCount | None
    plans: list[Plan] = []
    compacted: str | None = None
    skills: list[SkillRecord] = []


class Asked(msgspec.Struct, kw_only=True):
    """What a run's person said before this attempt: answers by what was asked, and the rules
    they left (JSON values), those for good first."""

    answers: dict[str, dict[str, Any]]
    rules: list[Rule]


class CallRow(msgspec.Struct, kw_only=True):
    """A finished model call: `record` is everything the inspector shows but the body, as JSON
    values; the numbers are those that are summed."""

    attempt: int
    model: str
    body: str
    record: dict[str, Any]
    started_at: int
    tokens: dict[str, int | None]
    cost: float | None


class DeltaRow(msgspec.Struct, kw_only=True, gc=False):
    """Text of an open block, as flushed; `start` counts code points, `at` orders blocks."""

    session_id: str
    run_id: str
    message_id: str
    block_id: str
    attempt: int
    kind: DeltaKind
    start: int
    text: str
    at: int
