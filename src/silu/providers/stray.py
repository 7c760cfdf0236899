"""Calls that a model wrote into its thinking: servers without the right parser leave them there,
report a normal end without any content, and the work would stop (field case F030).

They become calls like all others, with all checks a call goes through, when nothing else was
answered and each is whole and names a tool that was offered.
"""

import secrets

from silu.types.assembly import MessageBuilder
from silu.types.calls import ToolSpec
from silu.types.events import BlockEnd, BlockStart, Finish, StreamEvent, ToolCallDelta
from silu.types.parts import Message, TextPart, ThinkingPart
from silu.wire.stray_calls import stray_calls

MOST = 16
"""More calls than these are no calls, but a model that repeats itself."""


def recovered(builder: MessageBuilder, tools: list[ToolSpec]) -> list[StreamEvent]:
    """What the stream would have said, had the server seen the calls; `[]` where there are none."""
    finish = builder.finish
    if finish is None or finish.reason != "stop" or builder.failure is not None:
        return []
    message = builder.message()
    if not _only_thought(message):
        return []
    thought = "".join(part.text for part in message.parts if isinstance(part, ThinkingPart))
    calls = stray_calls(thought)
    offered = {tool.name for tool in tools}
    if not 0 < len(calls) <= MOST or any(call.name not in offered for call in calls):
        return []
    events: list[StreamEvent] = []
    for index, call in enumerate(calls, builder.next_index):
        call_id = f"call_{secrets.token_hex(8)}"
        events += [
            BlockStart(index=index, kind="tool_call"),
            ToolCallDelta(index=index, id=call_id, name=call.name, args_delta=call.arguments),
            BlockEnd(index=index),
        ]
    return [*events, Finish(reason="tool_calls", raw=finish.raw)]


def _only_thought(message: Message) -> bool:
    return all(
        isinstance(part, ThinkingPart) or (isinstance(part, TextPart) and not part.text.strip())
        for part in message.parts
    )
