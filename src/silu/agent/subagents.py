"""`task`: a sub-agent does a piece of work in a session of its own. The run is parked on it."""

from collections.abc import Callable

from silu.agent.ports import ChildEnd, ChildWish, RunsChildren, WaitsError
from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.types.calls import ToolSpec
from silu.types.levels import LevelChoice, parse_level

NAME = "task"

MAX_DEPTH = 2
"""A sub-agent may have sub-agents, and these may have none."""

_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"]


def task_tool(runs: RunsChildren, level: Callable[[], LevelChoice]) -> Tool:
    """The tool over a run's children; `level` is the one in force, which a child inherits."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        wished = args.get("level")
        wish = ChildWish(
            wait_id=context.wait_id,
            title=str(args["title"]),
            prompt=str(args["prompt"]),
            mode=context.mode,
            level=parse_level(wished) if wished else level(),
        )
        end = await runs.child(wish)
        if end is None:
            raise WaitsError(context.wait_id)
        return ToolOutput(text=answer_of(end), ok=end.status == "completed")

    # Asked again after a restart it is the same sub-agent: it is found by the call's id.
    return Tool(spec=_SPEC, effects=frozenset(), run=run, idempotent=True)


def answer_of(end: ChildEnd) -> str:
    """What the caller reads: the answer, and how it ended where that was not well."""
    if end.status == "completed":
        return end.answer or "The sub-agent ended without an answer."
    why = f" ({end.reason})" if end.reason else ""
    said = f" It had said:\n\n{end.answer}" if end.answer else ""
    return f"The sub-agent ended {end.status}{why}.{said}"


_SPEC = ToolSpec(
    name=NAME,
    description=describe(__file__),
    parameters=object_schema(
        {
            "title": {"type": "string", "minLength": 1, "maxLength": 120},
            "prompt": {"type": "string", "minLength": 1, "maxLength": 60_000},
            "level": {"type": "string", "enum": _LEVELS},
        },
        required=("title", "prompt"),
    ),
)
