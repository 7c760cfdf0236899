"""What each mode allows: one table, which the executor obeys and the model is told.

Decided when a tool is about to run, by the mode in force at that moment, and before any
approval: no permission given elsewhere opens what the mode closes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from silu.tools.base import Tool
from silu.types.facts import Effect, Mode

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRules:
    """`free` effects are allowed, `ask` ones under approval, all others refused."""

    free: frozenset[Effect]
    ask: frozenset[Effect]
    purpose: str


CONTROL = frozenset({"todo", "plan", "skill", "task", "ask_user"})


def is_control(tool: Tool) -> bool:
    """Whether this is one of the tools that steer the session: by its name, and by doing nothing
    to the world outside it. Another tool of such a name is judged by its effects."""
    return tool.name in CONTROL and tool.effects <= {"interact"}


TABLE: dict[Mode, ModeRules] = {
    "plan": ModeRules(
        free=frozenset({"read", "interact"}),
        ask=frozenset({"network"}),
        purpose="look, think and plan; change nothing",
    ),
    "build": ModeRules(
        free=frozenset({"read", "write", "execute", "network", "interact"}),
        ask=frozenset(),
        purpose="do the work",
    ),
}


def decide(mode: Mode, tool: Tool, args: dict[str, Any] | None = None) -> Verdict:
    """Whether the mode lets this tool run (`args` where they are known).

    A tool that states no effect and is none of the control tools counts as `execute`.
    """
    rules = TABLE[mode]
    if is_control(tool):
        return "allow"
    if args is not None and tool.proves_read_only is not None and tool.proves_read_only(args):
        return "allow"
    effects = tool.effects or frozenset[Effect]({"execute"})
    if effects <= rules.free:
        return "allow"
    return "ask" if effects <= rules.free | rules.ask else "deny"


def statement(mode: Mode, tools: Iterable[Tool]) -> str:
    """The mode's capabilities in words, made from the same decisions the executor takes."""
    names: dict[Verdict, list[str]] = {"allow": [], "ask": [], "deny": []}
    read_only: list[str] = []
    for tool in tools:
        verdict = decide(mode, tool)
        if verdict == "deny" and tool.proves_read_only is not None:
            read_only.append(tool.name)
        else:
            names[verdict].append(tool.name)
    lines = [f"In {mode} mode you {TABLE[mode].purpose}."]
    lines.append(f"Allowed: {_listed(names['allow'])}.")
    if read_only:
        lines.append(f"Only with commands that are known to change nothing: {_listed(read_only)}.")
    if names["ask"]:
        lines.append(f"After the person agrees: {_listed(names['ask'])}.")
    if names["deny"]:
        lines.append(f"Refused: {_listed(names['deny'])}.")
    if mode == "plan":
        lines.append(_CONSENT)
    return " ".join(lines)


_CONSENT = (
    "Only the person ends plan mode: by approving the plan, or by switching the mode. When they "
    "tell you in words to begin, write the plan if there is none, ask them to approve it, and do "
    "not say that any of it was done."
)
"""Words of consent are no approval (F128): who said them sees the plan waiting, with its button."""


def refusal(mode: Mode, tool: Tool, tools: Iterable[Tool]) -> str:
    """What the model reads when a mode refuses its call."""
    return f"{tool.name} was not run: this session is in {mode} mode. {statement(mode, tools)}"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"
