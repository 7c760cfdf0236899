"""What a decoder yields, in the order the vendor sent it.

Blocks are numbered by `index`, counted from 0 within one answer. A block is opened by
`BlockStart`, filled by deltas of its kind and closed by `BlockEnd`; exactly one thinking or
text block is open at a time, tool calls may overlap. Deltas carry only new text.
"""

from typing import Literal

import msgspec

from silu.types.errors import Failure
from silu.types.parts import Citation, ThinkingKind
from silu.types.usage import Usage

BlockKind = Literal["thinking", "text", "tool_call", "server_tool", "vendor"]

FinishReason = Literal[
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "refusal",
    "pause",
    "context_overflow",
    "error",
    "unknown",
]


class BlockStart(msgspec.Struct, tag=True, frozen=True, gc=False):
    """A block opens. `thinking_kind` is set for thinking blocks only."""

    index: int
    kind: BlockKind
    thinking_kind: ThinkingKind | None = None


class ThinkingDelta(msgspec.Struct, tag=True, frozen=True, gc=False):
    index: int
    text: str


class TextDelta(msgspec.Struct, tag=True, frozen=True, gc=False):
    index: int
    text: str


class ToolCallDelta(msgspec.Struct, tag=True, frozen=True, gc=False):
    """A piece of a tool call. `id` and `name` are in the block's first delta, else empty."""

    index: int
    id: str
    name: str
    args_delta: str


class BlockData(msgspec.Struct, tag=True, frozen=True):
    """A `server_tool` or `vendor` block, whole: `name` is the tool or the vendor's block type,
    `data` the block as raw JSON text."""

    index: int
    name: str
    data: str
    call_id: str | None = None


class CitationData(msgspec.Struct, tag=True, frozen=True):
    index: int
    citation: Citation


class ContinuityData(msgspec.Struct, tag=True, frozen=True):
    """Opaque data of block `index` (or of the message, `None`); see `parts.Continuity`.

    `field` is the wire field it stood in; the origin's other parts are the caller's.
    """

    index: int | None
    kind: str
    data: str
    field: str


class Reroute(msgspec.Struct, tag=True, frozen=True):
    """Block `index` turns out to be of the other kind (a lone end tag made its text a thought).

    Everything shown of it so far moves; later deltas come in the new kind.
    """

    index: int
    kind: Literal["thinking", "text"]


class BlockEnd(msgspec.Struct, tag=True, frozen=True, gc=False):
    """A block closes. `unfinished`: the answer ended inside it, as with a think tag that never
    closes; the block keeps its kind."""

    index: int
    unfinished: bool = False


class Served(msgspec.Struct, tag=True, frozen=True):
    """Who the vendor says answered: the model it ran and the id of the response."""

    model: str | None
    response_id: str | None


class UsageReport(msgspec.Struct, tag=True, frozen=True):
    """Token counts so far; a later report replaces the fields it tells (`usage.merge`)."""

    usage: Usage


class Finish(msgspec.Struct, tag=True, frozen=True):
    """The vendor's terminal event: our reason and its own word; `detail` is what it says about
    a refusal or a stop, in its own words."""

    reason: FinishReason
    raw: str | None
    detail: str | None = None


class VendorNote(msgspec.Struct, tag=True, frozen=True):
    """What the vendor did with our input: `kind` (`thinking_dropped`, …), `path` of the block in
    the request, `reason`; all in its own words."""

    kind: str
    path: str | None = None
    reason: str | None = None


class VendorFailure(msgspec.Struct, tag=True, frozen=True):
    """The answer failed: an error body, an error inside a 200 stream, or a stream cut short.

    It is the last event. Blocks that were open have been closed before it.
    """

    failure: Failure


class Keepalive(msgspec.Struct, tag=True, frozen=True, gc=False):
    """The connection lives but no payload came (comments, pings, blank lines)."""


StreamEvent = (
    BlockStart
    | ThinkingDelta
    | TextDelta
    | ToolCallDelta
    | BlockData
    | CitationData
    | ContinuityData
    | Reroute
    | BlockEnd
    | Served
    | UsageReport
    | Finish
    | VendorNote
    | VendorFailure
    | Keepalive
)
