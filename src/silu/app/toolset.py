"""The one place that says which tools a session's turns have."""

from collections.abc import Awaitable, Callable, Iterable

from silu.store.api import Session
from silu.tools import ToolBox, workspace_tools
from silu.tools.base import Tool

ToolSource = Callable[[Session], Awaitable[Iterable[Tool]]]
"""Gives the tools it has for a turn; asked at the start of every attempt at a run."""


class Toolset:
    """Tools of the workspace first, then those of every source in the order they were added.

    What a model is told of is read once per epoch, so a source may change what it gives at any
    time.
    """

    def __init__(self, sources: Iterable[ToolSource] = ()) -> None:
        self._sources = list(sources)

    def add(self, source: ToolSource) -> None:
        self._sources.append(source)

    async def toolbox(self, session: Session) -> ToolBox:
        """The tools for a turn."""
        box = workspace_tools()
        for source in self._sources:
            box = box.plus(await source(session))
        return box
