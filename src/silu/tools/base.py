"""What a tool is: a spec for the model, a set of effects for the executor, a function to run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from silu.types.calls import ToolSpec
from silu.types.errors import ToolError
from silu.types.facts import Effect, Mode

Args = dict[str, Any]


async def no_results(part_id: str) -> str | None:
    """The reader of earlier results where none are kept."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where and for whom a tool runs. A value: a tool sees nothing of the house beyond it.

    `workspace` is the only folder a file tool may touch. `cancelled` may be asked from any
    thread. `read_result` gives the whole of an earlier result of this session by its part's id.
    `mode` is the mode in force when the tool started. `wait_id` is unique to this call and the
    same after a restart: a question it puts to the person goes by that id.
    """

    workspace: Path
    call_id: str = ""
    session_id: str = ""
    run_id: str = ""
    wait_id: str = ""
    language: str = "en"
    mode: Mode = "build"
    cancelled: Callable[[], bool] = lambda: False
    read_result: Callable[[str], Awaitable[str | None]] = no_results


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPicture:
    """A picture that a tool gives back."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool gives back. `text` is the whole result; showing it cut is the caller's work.

    `whole` marks a text that must reach the model uncut (it limits itself). `pictures` are kept
    as blobs, for the person to see.
    """

    text: str
    ok: bool = True
    whole: bool = False
    media_type: str = "text/plain; charset=utf-8"
    pictures: tuple[ToolPicture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the executor sees it.

    `effects` is what it may do to the world outside the conversation; the empty set means
    nothing. `idempotent` tools run again after a crash. `check` replaces the plain schema check
    where a tool repairs its arguments itself; it returns the faults, one sentence each.
    `proves_read_only` tells of given arguments whether this call can change nothing. `preview`
    shows what a call would change, as a diff, before the person allows it. `prepare` gives the
    arguments to use instead, or refuses with a `ToolError`, before anything else is decided.
    `source` says where the tool is from: `built in`, `mcp:NAME`, `package:NAME`.
    """

    spec: ToolSpec
    effects: frozenset[Effect]
    run: Callable[[Args, ToolContext], Awaitable[ToolOutput]]
    idempotent: bool = False
    check: Callable[[Args], list[str]] | None = None
    proves_read_only: Callable[[Args], bool] | None = None
    preview: Callable[[Args, ToolContext], Awaitable[str]] | None = None
    prepare: Callable[[Args, ToolContext], Awaitable[Args]] | None = None
    source: str = "built in"

    @property
    def name(self) -> str:
        return self.spec.name


def describe(code_file: str) -> str:
    """The description of a tool: the Markdown file beside its code, by the same name."""
    return Path(code_file).with_suffix(".md").read_text(encoding="utf-8").strip()


def object_schema(properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """A JSON Schema object that takes these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def stop_if_cancelled(context: ToolContext) -> None:
    """For work on threads, which cannot be cancelled from outside."""
    if context.cancelled():
        raise ToolError("stopped by the person before it finished")
