"""A client as the protocol describes it: builds texts from deltas by offset, checks as it goes."""

import asyncio
import contextlib
from typing import Any

import msgspec

from silu.engine.hub_client import HubClient


class Viewer:
    """Follows one session. `text` maps blocks to what is shown; `n` is the last fact."""

    def __init__(self, client: HubClient, session_id: str) -> None:
        self.client = client
        self.session_id = session_id
        self.n = 0
        self.texts: dict[str, str] = {}
        self.attempts: dict[str, int] = {}
        self.blocks_of: dict[str, set[str]] = {}
        self.facts: list[dict[str, Any]] = []
        self.snapshots = 0
        self.repeated = 0
        self.lengths: dict[str, int] = {}

    async def join(self) -> None:
        known = {block: len(text) for block, text in self.texts.items()}
        await self.client.subscribe(self.session_id, since=self.n, blocks=known)

    async def read_until(self, kind: str, seconds: float = 10.0) -> dict[str, Any]:
        """Apply frames until a fact of that type has come."""
        seen = len(self.facts)
        async with asyncio.timeout(seconds):
            while True:
                for fact in self.facts[seen:]:
                    if fact["type"] == kind:
                        return fact
                seen = len(self.facts)
                for out in await self.client.take():
                    self.apply(msgspec.json.decode(out.data))

    async def read_what_is_there(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.02):
                for out in await self.client.take():
                    self.apply(msgspec.json.decode(out.data))

    def apply(self, frame: dict[str, Any]) -> None:
        kind = frame["type"]
        if kind == "snapshot":
            self._snapshot(frame["data"])
        elif kind.endswith("_delta"):
            self._delta(frame["data"])
        elif "n" in frame and kind != "sessions":
            assert frame["n"] == self.n + 1, (frame["n"], self.n, kind)
            self.n = frame["n"]
            self.facts.append(frame)
            if kind in {"thinking_done", "content_done", "tool_call_done"}:
                self.lengths[frame["data"]["block_id"]] = frame["data"]["length"]
            elif kind == "done":
                self._check_lengths()

    def _check_lengths(self) -> None:
        """What is still shown is whole; a block of a lower attempt may be cut and is gone."""
        for block_id, text in self.texts.items():
            assert len(text) >= self.lengths.get(block_id, 0), "the end of a block is missing"

    def _delta(self, data: dict[str, Any]) -> None:
        self._newest(data["message_id"], data["block_id"], data["attempt"])
        have = self.texts.get(data["block_id"], "")
        assert data["offset"] <= len(have), "a piece is missing"
        fresh = data["text"][len(have) - data["offset"] :]
        if len(fresh) < len(data["text"]):
            self.repeated += 1
        self.texts[data["block_id"]] = have + fresh

    def _newest(self, message_id: str, block_id: str, attempt: int) -> None:
        known = self.attempts.get(message_id, 0)
        if attempt > known:
            for old in self.blocks_of.get(message_id, set()):
                self.texts.pop(old, None)
            self.attempts[message_id] = attempt
            self.blocks_of[message_id] = set()
        self.blocks_of.setdefault(message_id, set()).add(block_id)

    def _snapshot(self, data: dict[str, Any]) -> None:
        self.snapshots += 1
        self.n = data["n"]
        for block in data["blocks"]:
            self._newest(block["message_id"], block["block_id"], block["attempt"])
            self.texts[block["block_id"]] = block["text"]
