"""What a codec must know about one (vendor, model): plain values, filled in by `providers`.

A profile (vendor form over family facts) boils down to these two structs; the codecs in `wire`
read nothing else and know no vendor.
"""

from typing import Any, Literal

import msgspec

from silu.types.calls import Dropped, ToolSpec
from silu.types.parts import Message, Origin

STANDARD_TAGS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
)


class TagRules(msgspec.Struct, frozen=True, kw_only=True):
    """How think tags inside answer text are read.

    `implicit_open`: the template already emitted the opening tag, so text up to the first end
    tag is thinking from the first byte. `late_blocks`: an opening tag counts anywhere outside
    code, not only at the start of the content or directly after a closed thinking block.
    `drop_copy`: tagged thinking that word for word came in its own field is not shown twice.
    """

    pairs: tuple[tuple[str, str], ...] = STANDARD_TAGS
    implicit_open: bool = False
    late_blocks: bool = False
    drop_copy: bool = True


class DecodeRules(msgspec.Struct, frozen=True, kw_only=True):
    """How one model's answers are read; the default is the dialect's plain rule.

    `summary`: what the vendor calls thinking is a summary of it. `tags` is `None` where content
    is never parsed for tags. `cumulative_details`: `reasoning_details` may repeat all text so
    far in each piece. `call_seed` goes into the ids made for calls that came without one, so
    that they differ between answers.
    """

    tags: TagRules | None = TagRules()
    summary: bool = False
    cumulative_details: bool = False
    call_seed: str = ""
    extra: dict[str, Any] = {}


EchoScope = Literal["never", "loop", "tools", "all"]
"""Which earlier thoughts go back: none; those since the last user message; all once the
conversation uses tools; all."""


class EncodeRules(msgspec.Struct, frozen=True, kw_only=True):
    """How one model's requests are written; the default is the dialect's plain rule.

    `origin` is the target: only continuity of the same vendor, endpoint, account, dialect and
    model goes back. `filler` values are tried in order where the vendor insists on a thought
    that does not exist (`filler_on`). `unsigned_ok`: thinking blocks without a signature are
    replayed. `placeholder_signature` stands in for calls of foreign origin, with
    `placeholder_own` for own ones that came without a signature too. `own_tools` are those the
    vendor runs itself: silu's name for one → the entry that asks for it.
    """

    origin: Origin
    echo: EchoScope = "all"
    echo_field: str | None = None
    keep_tags: bool = False
    filler: str | None = None
    filler_on: Literal["nowhere", "tool_calls", "assistant"] = "nowhere"
    unsigned_ok: bool = False
    placeholder_signature: str | None = None
    placeholder_own: bool = False
    max_tokens_field: str | None = None
    default_max_tokens: int | None = None
    system_role: Literal["system", "developer"] = "system"
    include_usage: bool = True
    tool_choice_ok: tuple[str, ...] = ("auto", "none", "required", "named")
    sampling_ok: bool = True
    plain_content: bool = False
    cache_marks: bool = False
    own_tools: dict[str, dict[str, Any]] = {}
    extra: dict[str, Any] = {}


class EncodeInput(msgspec.Struct, kw_only=True):
    """One request, resolved: `wire` are the body fields that carry the level, `own_tools` the
    entries that ask for tools the vendor runs, as they stand in the body.

    `thinking_on` says whether this request asks for thinking; some vendors refuse thoughts in
    the history when it is off.
    """

    model: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    own_tools: list[dict[str, Any]] = []
    tool_choice: str = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool = True
    thinking_on: bool = True
    wire: dict[str, Any] = {}


class Encoded(msgspec.Struct, kw_only=True):
    """A request without its address: `path` is relative to the endpoint's base URL.

    `loop_unled` is true when the open tool loop begins with an answer whose leading thought does
    not go back: vendors that check for it want thinking off in this one request.
    """

    path: str
    body: dict[str, Any]
    headers: dict[str, str] = {}
    dropped: tuple[Dropped, ...] = ()
    loop_unled: bool = False
