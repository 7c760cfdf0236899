"""How a turn is executed: the tools it has, what it may do unasked, what is kept for undo."""

import asyncio
import hashlib
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import msgspec

from silu.agent.approvals import Policy
from silu.agent.briefs import Brief, Source, read_rules, subagent_persona
from silu.agent.loop import run_turn
from silu.agent.settings import Limits, TurnSettings
from silu.agent.settings import Parked as RunParked
from silu.agent.skills import listed
from silu.app.changes import Changes
from silu.app.skills import Skills
from silu.app.tools import MoreTools
from silu.engine.api import Done, Parked, TurnPorts
from silu.store.api import Session
from silu.tools.base import Tool
from silu.tools.editing import editing_tools
from silu.tools.sandbox import Sandbox, find_sandbox
from silu.tools.shell import shell_tool
from silu.tools.toolbox import ToolBox
from silu.types.agents import Agent


class Execution(Changes, MoreTools, Skills):
    """Gives the engine its turns."""

    _sandboxes: dict[bool, Sandbox]

    async def _execute(self, ports: TurnPorts) -> Done | Parked:
        session = await self.store.session(ports.session_id)
        agent = await self.agent_of(session)
        box = _allowed(await self.toolset.toolbox(session), agent)
        outcome = await run_turn(
            journal=ports.journal,
            events=ports.events,
            runs=ports.runs,
            blobs=ports.blobs,
            client=self.client,
            tools=await self.guarded(box, ports),
            settings=await asyncio.to_thread(self._turn_settings, session, agent),
        )
        if isinstance(outcome, RunParked):
            return Parked(wait_id=outcome.wait_id)
        return Done()

    def _turn_settings(self, session: Session, agent: Agent | None) -> TurnSettings:
        """Blocking: skills are read from their folders."""
        chosen = self.settings.preferences
        return TurnSettings(
            limits=Limits(**msgspec.structs.asdict(chosen.limits)),
            policy=Policy(),
            checkpoints=self.checkpoints(session.item.id),
            brief=partial(self._brief, session),
            skills=self.skills_of(Path(session.workspace)),
            agent=agent,
            helper_model=chosen.helper_model,
        )

    def _brief(self, session: Session) -> Brief:
        """What the system text of a session says beside silu's own words."""
        rules = read_rules(Path(session.workspace), user=self.settings.paths.config)
        agent = self.agent(session.agent) if session.agent is not None else None
        persona = agent.prompt if agent is not None else ""
        return Brief(
            persona=subagent_persona() if session.kind == "child" else persona,
            prompt=session.prompt or "",
            rules=rules,
            skills=listed(self.skills_of(Path(session.workspace))),
            sources=() if agent is None else (_source(agent),),
        )

    async def working_tools(self, session: Session | None) -> list[Tool]:
        """The tools that change the workspace; which calls run unasked is the policy's matter."""
        chosen = self.settings.preferences
        sandbox = await self.sandbox()
        return [*editing_tools(), shell_tool(sandbox, network=chosen.shell_network)]

    async def sandbox(self) -> Sandbox:
        """Where commands run; looked up once for each choice of the person's."""
        wanted = self.settings.preferences.sandbox
        found = self._sandboxes.get(wanted)
        if found is None:
            found = await asyncio.to_thread(find_sandbox, wanted=wanted)
            self._sandboxes[wanted] = found
        return found


def _allowed(box: ToolBox, agent: Agent | None) -> ToolBox:
    """The tools an agent has; those that steer the session come later and are never taken."""
    if agent is None or agent.tools is None:
        return box
    wanted = agent.tools
    return ToolBox(tool for tool in box if any(fnmatchcase(tool.name, one) for one in wanted))


def _source(agent: Agent) -> Source:
    """What of an agent stands in the system text; its level and sampling may change at any time."""
    digest = hashlib.sha256(agent.prompt.encode()).hexdigest()
    return Source(path=f"agents/{agent.name}.md", sha256=digest)
