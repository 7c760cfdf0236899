"""The routes of agents, commands and skills that the person keeps as files."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.types.agents import AgentList, CommandList
from silu.types.skills import SkillList


async def _agents(app: App, call: Call) -> AgentList:
    return await app.agents()


async def _commands(app: App, call: Call) -> CommandList:
    return await app.commands(call.query.get("session_id"))


async def _skills(app: App, call: Call) -> SkillList:
    return await app.skills(call.query.get("session_id"))


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
    route(
        "GET",
        "/skills",
        "The skills that a session's turns can use.",
        _skills,
        SkillList,
        query=(Parameter("session_id", "string", "With those of this session's folder."),),
    ),
)
