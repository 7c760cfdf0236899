"""Tools of installed packages: whatever stands behind the entry point group `silu.tools`.

An entry point names a `Tool`, several of them, or a function that gives either. A package that
cannot be loaded is reported and left out; the others work.
"""

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

from silu.tools.base import Args, Tool, ToolContext
from silu.types.errors import SiluError, ToolError, place_of

T = TypeVar("T")

log = logging.getLogger(__name__)

GROUP = "silu.tools"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """The tools of packages, and a sentence for each package that could not be used."""

    tools: tuple[Tool, ...] = ()
    problems: tuple[str, ...] = ()


def load_plugins(points: Iterable[EntryPoint] | None = None) -> Plugins:
    """Import every package that offers tools. Runs code of others: blocking, for a thread."""
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    found = entry_points(group=GROUP) if points is None else points
    for point in sorted(found, key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else point.name
        try:
            made = list(_tools(point.load()))
        except Exception as error:
            # A package of others may fail in any way; that must not take the turn with it.
            log.warning("tools of package %s: %s", package, place_of(error))
            told = str(error) if isinstance(error, SiluError) else type(error).__name__
            problems.append(f"The tools {point.name!r} of package {package} do not load: {told}.")
            continue
        for tool in made:
            if tool.name in tools:
                problems.append(f"A second tool {tool.name!r}, of package {package}, was left out.")
            else:
                tools[tool.name] = _contained(replace(tool, source=f"package:{package}"))
    return Plugins(tools=tuple(tools.values()), problems=tuple(problems))


def _contained(tool: Tool) -> Tool:
    """The tool with its own checks kept from ending a turn: one that breaks refuses the call,
    or proves nothing."""

    def broke(error: Exception) -> str:
        log.warning("tool %s of %s: %s", tool.name, tool.source, place_of(error))
        return f"{tool.name} failed with an internal error ({type(error).__name__})"

    def checks(check: Callable[[Args], list[str]]) -> Callable[[Args], list[str]]:
        def checked(args: Args) -> list[str]:
            try:
                return check(args)
            except Exception as error:
                return [broke(error)]

        return checked

    def proves(prove: Callable[[Args], bool]) -> Callable[[Args], bool]:
        def proven(args: Args) -> bool:
            try:
                return prove(args)
            except Exception as error:
                broke(error)
                return False

        return proven

    def asks(ask: Callable[[Args, ToolContext], Awaitable[T]]) -> Callable[..., Awaitable[T]]:
        async def asked(args: Args, context: ToolContext) -> T:
            try:
                return await ask(args, context)
            except ToolError:
                raise
            except Exception as error:
                raise ToolError(broke(error)) from error

        return asked

    return replace(
        tool,
        check=checks(tool.check) if tool.check else None,
        proves_read_only=proves(tool.proves_read_only) if tool.proves_read_only else None,
        preview=asks(tool.preview) if tool.preview else None,
        prepare=asks(tool.prepare) if tool.prepare else None,
    )


def _tools(given: Any) -> Iterable[Tool]:
    if callable(given) and not isinstance(given, Tool):
        given = given()
    if inspect.isawaitable(given):
        raise TypeError("tools are given at once, not by a coroutine")
    items = [given] if isinstance(given, Tool) else list(cast("Iterable[Any]", given))
    for item in items:
        if not isinstance(item, Tool) or not _NAME.fullmatch(item.name):
            raise TypeError("this is no silu tool")
    return items
