"""Tools of installed packages: whatever stands behind the entry point group `silu.tools`.

An entry point names a `Tool`, several of them, or a function that gives either. A package that
cannot be loaded is reported and left out; the others work.
"""

import inspect
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from silu.tools.base import Tool
from silu.types.errors import SiluError, place_of

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
                tools[tool.name] = replace(tool, source=f"package:{package}")
    return Plugins(tools=tuple(tools.values()), problems=tuple(problems))


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
