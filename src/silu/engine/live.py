"""The text of a running run's blocks, as far as it was sent: what a client that joins reads."""

from typing import Any

import msgspec

from silu.engine.api import Out
from silu.types import facts as f
from silu.types.frames import DeltaFrame, FactFrame, SnapshotBlock

_encode = msgspec.json.Encoder().encode
_DELTA_TYPES: dict[f.DeltaKind, f.DeltaType] = {
    "thinking": "thinking_delta",
    "content": "content_delta",
    "tool_call": "tool_call_delta",
}

_STARTS: dict[str, tuple[type[Any], f.DeltaKind]] = {
    "thinking_start": (f.ThinkingStart, "thinking"),
    "content_start": (f.ContentStart, "content"),
    "tool_call_start": (f.ToolCallStart, "tool_call"),
}
_DONES: dict[str, type[Any]] = {
    "thinking_done": f.ThinkingDone,
    "content_done": f.ContentDone,
    "tool_call_done": f.ToolCallDone,
}


def delta_frame(session_id: str, run_id: str, data: f.DeltaData) -> Out:
    frame = DeltaFrame(
        type=_DELTA_TYPES[data.kind], session_id=session_id, run_id=run_id, data=data
    )
    return Out(None, _encode(frame))


class LiveBlock:
    """One block: its text in the pieces it came in, joined when somebody asks."""

    __slots__ = (
        "attempt",
        "block_id",
        "call_id",
        "done_n",
        "kind",
        "length",
        "message_id",
        "name",
        "pieces",
        "started_at",
    )

    def __init__(self, message_id: str, block_id: str, attempt: int, kind: f.DeltaKind) -> None:
        self.message_id = message_id
        self.block_id = block_id
        self.attempt = attempt
        self.kind: f.DeltaKind = kind
        self.pieces: list[str] = []
        self.length = 0
        self.done_n: int | None = None
        self.started_at: int | None = None
        self.call_id: str | None = None
        self.name: str | None = None

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def snapshot(self) -> SnapshotBlock:
        return SnapshotBlock(
            message_id=self.message_id,
            block_id=self.block_id,
            attempt=self.attempt,
            kind=self.kind,
            text=self.text,
            started_at=self.started_at,
            done=self.done_n is not None,
            call_id=self.call_id,
            name=self.name,
        )


class LiveRun:
    """The blocks of one run in the order they began; of each message only its newest attempt."""

    def __init__(self, run_id: str, started_at: int) -> None:
        self.run_id = run_id
        self.started_at = started_at
        self.blocks: dict[str, LiveBlock] = {}
        self._attempts: dict[str, int] = {}

    def add(self, data: f.DeltaData) -> None:
        """Take new text. A piece that does not go on where the block ends is the sender's fault:
        `ValueError`."""
        block = self.blocks.get(data.block_id)
        if block is None or block.attempt != data.attempt:
            block = self._open(data.message_id, data.block_id, data.attempt, data.kind)
        block.kind = data.kind  # a lone end tag turns an answer into a thought, text and all
        if data.offset != block.length:
            raise ValueError(f"block {data.block_id} is {block.length} long, not {data.offset}")
        block.pieces.append(data.text)
        block.length += len(data.text)

    def note(self, frame: FactFrame) -> None:
        """Learn from a fact that a block began or ended."""
        if frame.type in _STARTS:
            shape, kind = _STARTS[frame.type]
            self._started(msgspec.json.decode(frame.data, type=shape), kind)
        elif frame.type in _DONES:
            data: Any = msgspec.json.decode(frame.data, type=_DONES[frame.type])
            block = self.blocks.get(data.block_id)
            if block is not None and block.attempt == data.attempt:
                block.done_n = frame.n

    def _started(self, data: Any, kind: f.DeltaKind) -> None:
        if data.attempt < self._attempts.get(data.message_id, 0):
            return
        block = self.blocks.get(data.block_id)
        if block is None or block.attempt != data.attempt:
            block = self._open(data.message_id, data.block_id, data.attempt, kind)
        block.kind = kind
        block.started_at = getattr(data, "started_at", None)
        block.call_id = getattr(data, "call_id", None)
        block.name = getattr(data, "name", None)

    def _open(self, message_id: str, block_id: str, attempt: int, kind: f.DeltaKind) -> LiveBlock:
        if attempt > self._attempts.get(message_id, 0):
            self._attempts[message_id] = attempt
            lower = [b.block_id for b in self.blocks.values() if b.message_id == message_id]
            for old in lower:
                del self.blocks[old]
        block = self.blocks[block_id] = LiveBlock(message_id, block_id, attempt, kind)
        return block
