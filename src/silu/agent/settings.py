"""What a turn is told from outside, and what it ends with."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from silu.agent.approvals import Policy
from silu.agent.briefs import BriefOf, no_brief
from silu.tools.checkpoints import Checkpoints
from silu.types.agents import Agent
from silu.types.facts import DoneReason, RunStatus
from silu.types.policy import RunLimits
from silu.types.skills import Skill


def _today() -> str:
    return time.strftime("%Y-%m-%d")


class Limits(RunLimits, frozen=True, kw_only=True):
    """A run's limits with those nobody sets.

    `repeated` is how often in a row the same calls with the same results are taken, `failing`
    the same when they all fail, `empty_answers` how many replies without content and calls.
    """

    repeated: int = 6
    failing: int = 4
    empty_answers: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """`today` gives the date the system text names; `result_chars` is how much of a result the
    model is shown at once. `policy` says which calls are asked about; `None`: none are (the tools
    that were passed in are all the person wants to allow). `checkpoints` keep what a run changes
    in the workspace, for undo. `compact_at` is the share of the window from which on the context
    is made shorter. `brief` reads what else the system text says; it is blocking. `agent` says what
    holds where the session says nothing. `helper_model` writes summaries; without one the session's
    own model does."""

    limits: Limits = field(default_factory=Limits)
    today: Callable[[], str] = _today
    result_chars: int = 24_000
    policy: Policy | None = None
    checkpoints: Checkpoints | None = None
    compact_at: float = 0.8
    brief: BriefOf = no_brief
    skills: Sequence[Skill] = ()
    agent: Agent | None = None
    helper_model: str | None = None


class Parked(msgspec.Struct, frozen=True, kw_only=True):
    """The run waits for a person and holds no coroutine: take it up again when they answered."""

    wait_id: str


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended; the same stands in its `done` fact."""

    status: RunStatus
    reason: DoneReason | None = None
    finish_reason: str | None = None
