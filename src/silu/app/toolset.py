"""The one place that says which tools a session's turns have."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from silu.agent.planning import CONTROL
from silu.store.api import Session
from silu.tools import ToolBox, workspace_tools
from silu.tools.base import Tool

ToolSource = Callable[[Session | None], Awaitable[Iterable[Tool]]]
"""Gives the tools it has for a turn; asked at the start of every attempt at a run. `None` asks
what any session has: nothing is started or connected for that."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools, and those left out because one of their name was there before."""

    box: ToolBox
    left_out: list[Tool]


class Toolset:
    """Tools of the workspace first, then those of every source in the order they were added.

    What a model is told of is read once per epoch, so a source may change what it gives at any
    time. The names of the tools that steer a session are taken: those are always allowed.
    """

    def __init__(self, sources: Iterable[ToolSource] = ()) -> None:
        self._sources = list(sources)

    def add(self, source: ToolSource) -> None:
        self._sources.append(source)

    async def toolbox(self, session: Session) -> ToolBox:
        """The tools for a turn."""
        return (await self.offer(session)).box

    async def offer(self, session: Session | None) -> Offer:
        """The tools of a session, or of any."""
        offered = {tool.name: tool for tool in workspace_tools()}
        left_out: list[Tool] = []
        for source in self._sources:
            for tool in await source(session):
                if tool.name in CONTROL or tool.name in offered:
                    left_out.append(tool)
                else:
                    offered[tool.name] = tool
        return Offer(ToolBox(offered.values()), left_out)
