"""The engine's public face, as protocols: `Hub`, `HubClient`, `LocalEngine`, `Owner`."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, Self

import msgspec

from silu.agent.ports import Blobs, Events, Journal, Runs
from silu.types.facts import LevelState, Mode
from silu.types.levels import LevelChoice
from silu.types.parts import Part
from silu.types.todos import Todo


class Out(NamedTuple):
    """One frame on its way to a client: `n` is a fact's number (for SSE's `id:`), else None."""

    n: int | None
    data: bytes


class HubClientApi(Protocol):
    """One connection: many sessions, one ordered outgoing queue that cannot grow without end.

    A client that is too slow loses its queued session frames and gets a snapshot instead.
    """

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


class HubApi(Protocol):
    """`Hub(store)`: live fan-out."""

    def client(self) -> HubClientApi: ...

    def running(self) -> dict[str, int]:
        """Sessions with a running run → milliseconds since it began (for heartbeats)."""
        ...


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


class Sent(msgspec.Struct, kw_only=True):
    """`queued`: another run is on, this one comes after it."""

    session_id: str
    run_id: str
    message_id: str
    queued: bool


class RunItem(msgspec.Struct, kw_only=True):
    run_id: str
    session_id: str
    status: Literal["queued", "running", "parked", "done"]


class LocalEngineApi(Protocol):
    """`LocalEngine(store, hub, execute=…)`: turns run as asyncio tasks of this process."""

    async def start(self) -> None:
        """Take up what an earlier process left: unfinished, queued and parked runs."""
        ...

    async def stop(self, *, grace: float = 5.0) -> None:
        """Take no new turns, let running ones end within `grace` seconds, then put them down so
        that the next process goes on after their last finished step."""
        ...

    async def send(
        self,
        session_id: str,
        text: str,
        *,
        parts: Sequence[Part] = (),
        level: LevelChoice | None = None,
        mode: Mode | None = None,
        client_id: str | None = None,
    ) -> Sent: ...

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        ...

    async def cancel(
        self, session_id: str, *, run_id: str | None = None, client_id: str | None = None
    ) -> bool:
        """Stop the running run within a second, its work so far kept; False when none runs."""
        ...

    async def list(self, session_id: str | None = None) -> list[RunItem]: ...

    async def steer(self, session_id: str, text: str, *, client_id: str | None = None) -> bool: ...

    async def queue_edit(
        self,
        session_id: str,
        message_id: str,
        *,
        text: str | None = None,
        remove: bool = False,
        client_id: str | None = None,
    ) -> None: ...

    async def set_level(
        self,
        session_id: str,
        level: LevelChoice,
        state: LevelState,
        *,
        client_id: str | None = None,
    ) -> None:
        """Kept for the session's mode, in force at a running turn's next model call."""
        ...

    async def set_model(
        self, session_id: str, model: str, state: LevelState, *, client_id: str | None = None
    ) -> None: ...

    async def set_mode(
        self, session_id: str, mode: Mode, *, client_id: str | None = None
    ) -> None: ...

    async def edit(
        self, session_id: str, message_id: str, text: str, *, client_id: str | None = None
    ) -> Sent:
        """A sibling session in which the person's message reads `text`, and its turn."""
        ...

    async def regenerate(
        self,
        session_id: str,
        message_id: str,
        *,
        level: LevelChoice | None = None,
        model: str | None = None,
        client_id: str | None = None,
    ) -> Sent:
        """A sibling session that answers the message before `message_id` anew."""
        ...

    async def todo_edit(
        self, session_id: str, todos: Sequence[Todo], *, client_id: str | None = None
    ) -> None: ...


class OwnerInfo(msgspec.Struct, kw_only=True):
    """Who owns a data folder: `url` and `token` once it serves."""

    pid: int
    started_at: int
    url: str | None = None
    token_path: str | None = None

    def token(self) -> str | None: ...


class OwnerApi(Protocol):
    """The lock on a data folder."""

    @classmethod
    def acquire(cls, folder: Path) -> Self:
        """Own the folder; `UserError` code `owned` names the process and URL that has it."""
        ...

    def publish(self, url: str, token: str) -> None:
        """Let `silu ask` and `silu chat` find this server (files readable by the owner only)."""
        ...

    def release(self) -> None: ...

    @staticmethod
    def find(folder: Path) -> OwnerInfo | None:
        """The living owner of a folder, if there is one."""
        ...
