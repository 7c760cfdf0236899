"""One model call, from what is asked to the bytes that are sent."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from silu.types.capabilities import Learned, Resolution
from silu.types.errors import Failure
from silu.types.events import Finish, StreamEvent
from silu.types.levels import LevelChoice
from silu.types.parts import Message
from silu.types.usage import Usage


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model sees it; `parameters` is a JSON Schema object.

    `vendor_run`: the vendor runs it itself. It is asked for in the vendor's own words, which the
    profile has by this `name`, and left out where there are none.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    vendor_run: bool = False


class CallRequest(msgspec.Struct, kw_only=True):
    """What a caller wants from a model; vendor-neutral.

    `model` is `vendor/model-id`. `level` is what was asked for and `level_source` who asked.
    `tool_choice` is `auto`, `none`, `required` or a tool's name. `max_tokens` is the person's
    own limit, `None` when there is none. `epoch_first` is the id of the first message of the
    current epoch: where a profile binds thinking to the prefix, older thinking stays out.
    """

    model: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    tool_choice: str = "auto"
    level: LevelChoice = "default"
    level_source: str = "model"
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool = True
    epoch_first: str | None = None


class Dropped(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    """Something of the history that is not sent, and why (for the inspector)."""

    message_id: str
    part: str | None
    what: str
    why: str


class HttpRequest(msgspec.Struct, kw_only=True):
    """One HTTP request to a vendor; `headers` hold secrets and must be masked before showing."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes


class HttpResponse(Protocol):
    """An answer whose body is read as it comes; header names are lower case."""

    status: int
    headers: dict[str, str]

    def chunks(self) -> AsyncIterator[bytes]: ...


class Transport(Protocol):
    """The one door to a vendor. Leaving the context closes the connection at once.

    Raises `VendorError` (`unreachable`, `timeout`) when no answer comes. `idle_timeout` is
    seconds without any byte.
    """

    def open(
        self, request: HttpRequest, *, idle_timeout: float
    ) -> AbstractAsyncContextManager[HttpResponse]: ...

    async def aclose(self) -> None: ...


class CallStart(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    """A request goes out. `attempt` counts from 1; a higher one replaces what lower ones showed.

    `request` is the request as sent, secrets masked.
    """

    attempt: int
    model: str
    resolution: Resolution
    request: HttpRequest
    dropped: tuple[Dropped, ...] = ()


class CallWait(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    """The call waits `seconds` before it tries again, or switches to `model`; shown to people."""

    seconds: float
    reason: str
    model: str | None = None


class Refused(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    """The vendor refused a kept block; the caller marks it `refused_by` this endpoint."""

    message_id: str
    part: str | None
    endpoint: str


class LearnedFact(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    learned: Learned


class CallEnd(msgspec.Struct, tag=True, kw_only=True):
    """The call is over, well or badly: always the last event.

    `message` is the assistant message as silu keeps it (also a partial one); `failure` is set
    when the call failed after all remedies; `cost` is US dollars or `None` when unknown.
    """

    message: Message
    usage: Usage
    finish: Finish | None
    failure: Failure | None
    attempt: int
    cost: float | None = None
    first_byte_ms: int | None = None
    duration_ms: int | None = None


CallEvent = StreamEvent | CallStart | CallWait | Dropped | Refused | LearnedFact | CallEnd
"""What `providers.client` yields: stream events wrapped in the story of the call."""
