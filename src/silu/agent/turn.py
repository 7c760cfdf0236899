"""The state of one attempt at one run, shared by the loop's modules."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from silu.agent.accounting import Meter
from silu.agent.context import Asking, Context
from silu.agent.plan import Plans
from silu.agent.planning import statement
from silu.agent.ports import Blobs, Events, Journal, ModelClient, Runs, TurnState
from silu.agent.settings import TurnSettings
from silu.agent.skills import Skills
from silu.agent.todo import TodoStore
from silu.tools.base import Tool
from silu.tools.toolbox import ToolBox
from silu.types.agents import Sampling, ThinkingLimit
from silu.types.capabilities import Capability, Resolution
from silu.types.errors import UserError
from silu.types.facts import Mode
from silu.types.levels import Level, LevelChoice, parse_level


@dataclass(slots=True, kw_only=True)
class Turn:
    """`step` is the number of the step under way, counted from 0; `attempt` the highest used
    attempt number of that step; `announced` the level that was last told to clients.

    `stopped` is set when the person stops the run: tools on threads look at it. `hurried`: the
    answer is wanted now, thinking is turned down for the rest of the run. `ends_at` is where the
    time limit is, on the monotonic clock. `parked_on` is the approval a call waits for. `refresh`
    takes over what a person changed in todos and plan.
    """

    journal: Journal
    events: Events
    runs: Runs
    blobs: Blobs
    client: ModelClient
    tools: ToolBox
    settings: TurnSettings
    state: TurnState
    context: Context
    todos: TodoStore
    plans: Plans
    meter: Meter
    refresh: Callable[[], None]
    new_id: Callable[[], str]
    step: int = 0
    attempt: int = 0
    skills: Skills | None = None
    announced: tuple[str, str] | None = None
    last_finish: str | None = None
    empty_answers: int = 0
    stopped: Event = field(default_factory=Event)
    hurried: bool = False
    ends_at: float | None = None
    parked_on: str | None = None

    def mode(self) -> Mode:
        """The mode in force now."""
        return self.runs.mode()

    def asked_level(self) -> tuple[LevelChoice, str]:
        """The level for the next model call, and who asked for it; read before every call."""
        session = self.state.session
        if self.hurried:
            return Level.OFF, "turn"
        if (live := self.runs.level()) is not None:
            return live, "session"
        if self.state.turn_level is not None:
            return self.state.turn_level, "turn"
        agent = self.settings.agent
        if session.level_source == "model" and agent is not None and agent.level is not None:
            return parse_level(agent.level), "agent"
        return session.level, session.level_source

    def asking(self) -> Asking:
        """How the next model call is made: the session's word, else its agent's."""
        level, source = self.asked_level()
        session, agent = self.state.session, self.settings.agent
        drawn = agent.sampling if agent is not None else Sampling()
        return Asking(
            level=level,
            level_source=source,
            max_tokens=drawn.max_tokens if session.max_tokens is None else session.max_tokens,
            temperature=drawn.temperature if session.temperature is None else session.temperature,
            top_p=drawn.top_p if session.top_p is None else session.top_p,
        )

    def thinking_limit(self) -> ThinkingLimit:
        """Where one call's thinking ends: the turn's or the session's word, else the agent's,
        else what holds for every run."""
        if self.state.thinking_limit is not None:
            return self.state.thinking_limit
        agent, limits = self.settings.agent, self.settings.limits
        if agent is not None and agent.thinking_limit is not None:
            return agent.thinking_limit
        return ThinkingLimit(seconds=limits.thinking_seconds, tokens=limits.thinking_tokens)

    def known_tools(self) -> list[Tool]:
        """The tools the epoch tells the model of, as far as they are still here."""
        found = (self.tools.get(spec.name) for spec in self.context.tool_specs)
        return [tool for tool in found if tool is not None]

    def statement(self, mode: Mode) -> str:
        return statement(mode, self.known_tools())

    def message_id(self, suffix: str = "") -> str:
        """The id of this step's message: the same for every attempt at it."""
        return f"{self.state.run_id}.{self.step}{suffix}"

    def capability(self, model: str) -> Capability | None:
        """What is known of a model; an unknown one is reported by the call itself."""
        try:
            return self.client.model(model).capability
        except UserError:
            return None

    def window(self) -> int | None:
        """The session model's context window in tokens, where it is known."""
        known = self.capability(self.context.epoch.model)
        return known.context_window if known else None


def resolution_pair(resolution: Resolution) -> tuple[str, str]:
    return resolution.requested, resolution.effective
