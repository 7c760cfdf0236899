"""The tools of a turn by name, and the reading of what a model sends as arguments."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from silu.tools.base import Args, Tool
from silu.tools.schema import echo, faults
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError

_MAX_FAULTS = 8


class ToolBox:
    """An unchanging set of tools, in the order in which the model is told of them."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise UserError(f"two tools are named {tool.name!r}", code="bad_argument")
            self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def names(self) -> list[str]:
        return list(self._tools)

    def specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def plus(self, tools: Iterable[Tool]) -> "ToolBox":
        """A new box with these tools behind ours."""
        return ToolBox([*self._tools.values(), *tools])

    def find(self, name: str) -> Tool:
        """The tool, or a `ToolError` that tells the model which there are."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise ToolError(f"there is no tool {echo(name)}; the tools are: {known}")
        return tool


def read_arguments(tool: Tool, text: str) -> Args:
    """Arguments as received → checked arguments, or a `ToolError` for the model.

    An empty text counts as no arguments: several models send it for tools that need none.
    """
    args = _parse(text)
    found = faults(args, tool.spec.parameters) if tool.check is None else tool.check(args)
    if not found:
        return args
    listed = "\n".join(f"- {fault}" for fault in found[:_MAX_FAULTS])
    more = f"\n- and {len(found) - _MAX_FAULTS} more" if len(found) > _MAX_FAULTS else ""
    raise ToolError(f"bad arguments for {tool.name}, nothing was done:\n{listed}{more}")


def _parse(text: str) -> Args:
    if not text.strip():
        return {}
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ToolError(
            f"the arguments are not valid JSON ({error}), nothing was done; got {_bounded(text)}"
        ) from error
    if not isinstance(value, dict):
        raise ToolError(
            f"the arguments must be a JSON object, nothing was done; got {_bounded(text)}"
        )
    return value  # pyright: ignore[reportUnknownVariableType] -- JSON objects have string keys


def _bounded(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
