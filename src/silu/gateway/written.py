"""The routes of agents and commands that the person keeps as files."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.types.agents import AgentList, CommandList


async def _agents(app: App, call: Call) -> AgentList:
    return await app.agents()


async def _commands(app: App, call: Call) -> CommandList:
    return await app.commands(call.query.get("session_id"))


OPERATIONS: tuple[Operation, ...] = (
    route("GET", "/agents", "Who can answer in a session.", _agents, AgentList),
    route(
        "GET",
        "/commands",
        "What can be sent with a slash.",
        _commands,
        CommandList,
        query=(Parameter("session_id", "string", "With those of this session's folder."),),
    ),
)
