"""What a fake sent as thinking, kept to check that it comes back byte for byte.

For vendors with a plain reasoning field: nothing is signed, so the fake has to remember.
"""

from typing import Any

import msgspec

from silu.fakes.chat_view import text_of
from silu.fakes.raw import obj, seq
from silu.fakes.script import Answer, Asked, Call, Say, Script, Think, chatty
from silu.fakes.vendor import FakeVendor


class Sent(msgspec.Struct, frozen=True):
    """An answer that went out: its `thought` (`None`: there was none) and who gave it."""

    thought: str | None
    model: str


class Memory:
    """Answers by their tool-call ids, and by their text where they have no calls."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[Sent]] = {}
        self._by_text: dict[str, list[Sent]] = {}

    def keep_answer(self, ready: Answer, model: str) -> None:
        thoughts = [part.text for part in ready.parts if isinstance(part, Think)]
        text = "".join(part.text for part in ready.parts if isinstance(part, Say))
        ids = [part.id or "" for part in ready.parts if isinstance(part, Call)]
        self.keep(Sent("".join(thoughts) if thoughts else None, model), ids=ids, text=text)

    def keep(self, sent: Sent, *, ids: list[str], text: str) -> None:
        for id_ in ids:
            self._by_id.setdefault(id_, []).append(sent)
        if not ids:
            self._by_text.setdefault(text, []).append(sent)

    def find(self, *, ids: list[str], text: str, model: str) -> list[Sent]:
        """The answers of `model` that this message can be; none where it is foreign.

        Calls with unknown ids may be ones that a client found in an answer's thinking.
        """
        known = self._by_id.get(ids[0]) if ids else None
        found = self._by_text.get(text, []) if known is None else known
        return [sent for sent in found if sent.model == model]


class RememberingVendor(FakeVendor):
    """A fake that remembers what goes out, because it has to come back."""

    def __init__(
        self, script: Script = chatty, *, key: str = "test-key", rate: float | None = None
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.memory = Memory()

    def prepare(self, asked: Asked, answer: Answer) -> Answer:
        ready = super().prepare(asked, answer)
        self.memory.keep_answer(ready, asked.model)
        return ready


def chat_ids(message: dict[str, Any]) -> list[str]:
    """The ids of a chat message's tool calls."""
    calls = [obj(call) or {} for call in seq(message.get("tool_calls")) or []]
    return [str(call.get("id")) for call in calls]


def block_echo(message: dict[str, Any]) -> tuple[str | None, list[str], str]:
    """What an assistant message of content blocks is known by: its thought (`None`: none), the
    ids of its calls, its text."""
    blocks: list[dict[str, Any]] = message["content"]
    thoughts = [b["thinking"] for b in blocks if b.get("type") == "thinking"]
    ids = [b["id"] for b in blocks if b.get("type") == "tool_use"]
    return "".join(thoughts) if thoughts else None, ids, text_of(blocks)


def verdict(
    given: str | None,
    sent: list[Sent],
    *,
    needed: bool,
    fillers: tuple[str, ...],
    strangers: bool = False,
) -> str | None:
    """Our sentence on a missing or wrong echo, or `None` where it is right.

    `given` is what stands in the message. A message the fake never sent may carry a filler and
    nothing else, unless `strangers` are taken at their word.
    """
    thoughts = [s.thought for s in sent if s.thought is not None]
    if given is None:
        return "the thinking of this message is missing" if needed else None
    if thoughts:
        return None if given in thoughts else "the thinking is not the one that was sent"
    if given in fillers or (strangers and not sent and given):
        return None
    if given in ("", " "):
        return f"the filler {given!r} is refused here"
    return "this message never had that thinking"
