"""What a model is sent: the epoch's prefix as it was, and messages that are only ever added.

Within an epoch nothing that was sent changes: system text and tools stand in the epoch's record
byte for byte, messages are rendered by pure functions of what is stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from silu.agent.accounting import estimate_tokens
from silu.agent.briefs import Brief
from silu.agent.notices import escaped, new_tag
from silu.agent.ports import Compacted, Epoch, TurnState
from silu.agent.prompt import Surroundings, system_text
from silu.tools.results import RESULT_PREFIX
from silu.tools.toolbox import ToolBox
from silu.types.calls import CallRequest, ToolSpec
from silu.types.levels import LevelChoice
from silu.types.parts import Message, TextPart, ToolResultPart, encode_parts, text_of

PRUNE_FROM = 1_500
"""Tool results shorter than this many characters are never taken out."""

Reason = Literal["first", "compaction", "model", "tools", "fork"]


def epoch_reason(state: TurnState) -> Reason | None:
    """Why a new epoch must begin, or `None` when the session's epoch goes on.

    A changed tool set or system prompt alone is no reason: it waits for the person's word.
    """
    if state.epoch is None:
        return "first" if len(state.history) <= 1 else "fork"
    if state.epoch.model != state.session.model:
        return "model"
    return "tools" if state.renew else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a new epoch is made from: the tools, what else the system text says, the day."""

    tools: ToolBox
    brief: Brief
    today: str


def new_epoch(
    state: TurnState, reading: Reading, *, reason: Reason, new_id: Callable[[], str]
) -> Epoch:
    """Read the prompts once and fix what is sent ahead of every message from here on."""
    old = state.epoch
    tag = old.tag if old is not None else new_tag()
    place = Surroundings(
        workspace=state.session.workspace,
        date=reading.today,
        language=state.session.language,
        tag=tag,
    )
    return Epoch(
        id=new_id(),
        number=1 if old is None else old.number + 1,
        reason=reason,
        model=state.session.model,
        system=system_text(reading.tools, place, reading.brief),
        tools_json=msgspec.json.encode(reading.tools.specs()).decode(),
        tag=tag,
        first_message=state.user_message_id,
        sources=reading.brief.all_sources(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How one call is made: who asked for which level, and the session's sampling."""

    level: LevelChoice
    level_source: str
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None


class Context:
    """The conversation of a run: `messages` as stored, and the request they make.

    Only the last message may be replaced, and only until a model call has answered it.
    """

    def __init__(
        self, epoch: Epoch, history: Sequence[Message], compacted: Compacted | None = None
    ) -> None:
        self.epoch = epoch
        self.compacted = compacted
        self.messages: list[Message] = []
        self._sent = [Message(role="system", parts=[TextPart(text=epoch.system)])]
        self.tool_specs = msgspec.json.decode(epoch.tools_json, type=list[ToolSpec])
        if compacted is not None and compacted.summary is not None:
            self._sent.append(escaped(compacted.summary, epoch.tag))
        end = compacted.pruned_before if compacted is not None else None
        pruning = end is not None and any(message.id == end for message in history)
        for message in _kept(history, compacted):
            pruning = pruning and message.id != end
            self.messages.append(message)
            self._sent.append(escaped(_stubbed(message) if pruning else message, epoch.tag))

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self._sent.append(escaped(message, self.epoch.tag))

    def kept_messages(self, compacted: Compacted) -> Sequence[Message]:
        """The messages that would still be sent."""
        return _kept(self.messages, compacted)

    def size(self) -> int:
        """About how many tokens the request takes."""
        return self.system_size() + sum(
            estimate_tokens(encode_parts(message.parts)) for message in self._sent[1:]
        )

    def system_size(self) -> int:
        """About how many tokens stand ahead of every message."""
        return estimate_tokens(f"{self.epoch.system}{self.epoch.tools_json}".encode())

    def in_summary(self, text: str) -> bool:
        """Whether the summary of the last compaction says this."""
        summary = self.compacted.summary if self.compacted is not None else None
        return summary is not None and text in text_of(summary)

    def replace_last(self, message: Message) -> None:
        self.messages[-1] = message
        self._sent[-1] = escaped(message, self.epoch.tag)

    def drop_last(self) -> None:
        """Take the last message out to write it anew."""
        self.messages.pop()
        self._sent.pop()

    def since(self, message_id: str | None) -> list[Message]:
        """The messages behind this one (all of them when it is unknown)."""
        for at in range(len(self.messages) - 1, -1, -1):
            if self.messages[at].id == message_id:
                return self.messages[at + 1 :]
        return list(self.messages)

    def request(self, asking: Asking) -> CallRequest:
        return CallRequest(
            model=self.epoch.model,
            messages=list(self._sent),
            tools=self.tool_specs,
            level=asking.level,
            level_source=asking.level_source,
            max_tokens=asking.max_tokens,
            temperature=asking.temperature,
            top_p=asking.top_p,
            epoch_first=self.compacted.sealed if self.compacted else self.epoch.first_message,
        )


def _kept(messages: Sequence[Message], compacted: Compacted | None) -> Sequence[Message]:
    """The messages behind a compaction's cut: what is older is in its summary."""
    if compacted is None:
        return messages
    ids = [message.id for message in messages]
    return messages[ids.index(compacted.kept_from) :] if compacted.kept_from in ids else messages


def _stubbed(message: Message) -> Message:
    """A message whose big tool results were taken out; they can still be read."""
    parts = [_stub(p) if isinstance(p, ToolResultPart) else p for p in message.parts]
    return msgspec.structs.replace(message, parts=parts)


def _stub(part: ToolResultPart) -> ToolResultPart:
    if len(part.shown) < PRUNE_FROM:
        return part
    text = (
        "[this older result was taken out to make room; read it again with read_file "
        f'{{"path": "{RESULT_PREFIX}{part.id or part.call_id}"}}]'
    )
    return msgspec.structs.replace(part, shown=text)
