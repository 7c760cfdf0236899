"""What the engine exchanges with its callers: plain values and the protocols around them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from silu.agent.ports import Blobs, Events, Journal, Runs
from silu.store.api import RunState


class Out:
    """One frame on its way to clients, encoded once: `n` is a fact's number (for SSE's `id:`),
    else None. `wire` is room for what a gateway makes of it, once for all clients."""

    __slots__ = ("data", "n", "wire")

    def __init__(self, n: int | None, data: bytes) -> None:
        self.n = n
        self.data = data
        self.wire: bytes | None = None


AtOnce = Callable[[Sequence[Out]], bool]
"""Writes frames to a connection without waiting; false when it cannot, and nothing was written."""


class HubClientApi(Protocol):
    """One connection: many sessions, one ordered outgoing queue that cannot grow without end.

    A client that is too slow loses its queued session frames and gets a snapshot instead. What
    comes live goes out `at_once` where that is set and nothing is under way, else by `take`.
    """

    at_once: AtOnce | None

    async def subscribe(
        self, session_id: str, *, since: int = 0, blocks: dict[str, int] | None = None
    ) -> None:
        """Follow a session; what it missed is queued before this returns. A second call for the
        same session starts it anew. `UserError` code `unknown_session`."""
        ...

    def unsubscribe(self, session_id: str) -> None: ...

    async def subscribe_list(self, *, since: int = 0) -> None: ...

    def unsubscribe_list(self) -> None: ...

    def push(self, frame: msgspec.Struct) -> None:
        """Queue an own frame (`ack`, `error`, `heartbeat`), in order with the rest."""
        ...

    async def take(self) -> list[Out]:
        """All frames that are due; waits for the first; `[]` only once the client is closed."""
        ...

    def close(self) -> None: ...


class TurnPorts(msgspec.Struct, kw_only=True):
    """What one attempt at one run works with."""

    run_id: str
    session_id: str
    journal: Journal
    events: Events
    runs: Runs
    blobs: Blobs


class Done(msgspec.Struct):
    """The turn ended: `journal.finish` was called (if not, the engine ends it as failed)."""


class Parked(msgspec.Struct):
    """The turn waits for a person or a child and holds no coroutine."""

    wait_id: str


Execute = Callable[[TurnPorts], Awaitable[Done | Parked]]
"""What executes a turn; passed in, so that the engine knows no agent."""


class Sent(msgspec.Struct, kw_only=True):
    """`queued`: another run is on, this one comes after it. `message_id` is `None` for a run that
    only makes room."""

    session_id: str
    run_id: str
    message_id: str | None
    queued: bool


class RunItem(msgspec.Struct, kw_only=True):
    run_id: str
    session_id: str
    status: RunState


class OwnerInfo(msgspec.Struct, kw_only=True):
    """Who owns a data folder; `url` and `token_path` once it serves. `kind` says what it is:
    a server, or one question (`silu ask`) that will be over soon."""

    pid: int
    started_at: int
    kind: Literal["serve", "ask"] = "ask"
    url: str | None = None
    token_path: str | None = None

    def token(self) -> str | None:
        """The bearer token of the running server."""
        if self.token_path is None:
            return None
        try:
            return Path(self.token_path).read_text(encoding="utf-8").strip()
        except OSError:
            return None
