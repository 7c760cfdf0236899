"""How a turn is executed: the tools it has, what it may do unasked, what is kept for undo."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec

from silu.agent.approvals import Policy
from silu.agent.briefs import Brief, read_rules
from silu.agent.loop import run_turn
from silu.agent.settings import Limits, TurnSettings
from silu.agent.settings import Parked as RunParked
from silu.app.changes import Changes
from silu.app.tools import MoreTools
from silu.engine.api import Done, Parked, TurnPorts
from silu.store.api import Session
from silu.tools.base import Tool
from silu.tools.editing import editing_tools
from silu.tools.sandbox import Sandbox, find_sandbox
from silu.tools.shell import shell_tool


class Execution(Changes, MoreTools):
    """Gives the engine its turns."""

    _sandboxes: dict[bool, Sandbox]

    async def _execute(self, ports: TurnPorts) -> Done | Parked:
        session = await self.store.session(ports.session_id)
        outcome = await run_turn(
            journal=ports.journal,
            events=ports.events,
            runs=ports.runs,
            blobs=ports.blobs,
            client=self.client,
            tools=await self.guarded(await self.toolset.toolbox(session), ports),
            settings=self._turn_settings(session),
        )
        if isinstance(outcome, RunParked):
            return Parked(wait_id=outcome.wait_id)
        return Done()

    def _turn_settings(self, session: Session) -> TurnSettings:
        chosen = self.settings.preferences
        return TurnSettings(
            limits=Limits(**msgspec.structs.asdict(chosen.limits)),
            policy=Policy(),
            checkpoints=self.checkpoints(session.item.id),
            brief=partial(self._brief, session),
        )

    def _brief(self, session: Session) -> Brief:
        """What the system text of a session says beside silu's own words."""
        rules = read_rules(Path(session.workspace), user=self.settings.paths.config)
        return Brief(prompt=session.prompt or "", rules=rules)

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
