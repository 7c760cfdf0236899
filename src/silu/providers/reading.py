"""Reading the answer of one attempt: bytes to batches of events, with the idle limits."""

import asyncio
import contextlib
import random
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from email.utils import parsedate_to_datetime

import msgspec
from msgspec.structs import replace

from silu.config import Settings
from silu.providers.explain import redirected
from silu.providers.prepare import Prepared
from silu.providers.transport import silent
from silu.types.assembly import MessageBuilder, wall_ms
from silu.types.calls import HttpResponse, Transport
from silu.types.errors import Failure, UserError, VendorError
from silu.types.events import Keepalive, StreamEvent, TextDelta, VendorFailure
from silu.wire import Decoder, decoder

_DRAIN = 0.05
"""Seconds to wait for the end of a body whose answer is complete."""


class Clockwork(msgspec.Struct, frozen=True, kw_only=True):
    """Time as a value, so that tests need not wait. `clock` is seconds that only rise, `wall`
    milliseconds since 1970, `jitter` a number from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], int] = wall_ms
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class Attempt:
    """One request and what came of it. `broken` is a failure of the way, not of the answer: it
    counts only where the answer was not complete by then."""

    def __init__(self, prepared: Prepared, number: int, clockwork: Clockwork) -> None:
        self.prepared = prepared
        self.number = number
        self.clock = clockwork.clock
        self.sent_at = clockwork.clock()
        self.first_byte: float | None = None
        self.builder = MessageBuilder(
            prepared.origin,
            new_id=new_part_id,
            clock=clockwork.wall,
            started_at=clockwork.wall(),
        )
        self.failure: Failure | None = None
        self.broken: Failure | None = None
        self.showed_content = False
        self._last_payload = self.sent_at

    def read(self, reader: Decoder, data: bytes) -> list[StreamEvent]:
        """Decode one network read; watches the limits of silence."""
        now = self.clock()
        if self.first_byte is None:
            self.first_byte = now
        events = reader.feed(data)
        # A whole answer gives no events before its end: there every byte but white space counts.
        whole = not self.prepared.stream
        paid = type(events[-1]) is not Keepalive if events else whole and data.strip()
        if paid:
            self._last_payload = now
        else:
            self.broken = self._overdue(now)
        if now - self.sent_at > self.prepared.idle.total:
            self.broken = _too_long(self.prepared.idle.total)
        return self._take(events)

    def finish(self, reader: Decoder) -> list[StreamEvent]:
        """The last events, after the last byte that is of use."""
        if self.failure is not None:
            return []
        complete = reader.ended
        batch = self._take(reader.close())
        if self.broken is not None and not complete:
            self.failure = self.broken
        return batch

    def _take(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Feed events to the message; gives those to pass on (a failure is not: the call may
        still succeed, and `CallEnd` tells it in the end)."""
        self.builder.feed_all(events)
        if not self.showed_content and self.builder.answering:
            self.showed_content = any(
                isinstance(event, TextDelta) and event.text.strip() for event in events
            )
        if events:
            last = events[-1]
            if isinstance(last, VendorFailure):
                self.failure = last.failure
                return events[:-1]
        return events

    def _overdue(self, now: float) -> Failure | None:
        limit = self.prepared.idle.payload
        if now - self._last_payload <= limit:
            return self.broken
        return silent(limit, "only keep-alives came")


def _too_long(limit: float) -> Failure:
    failure = silent(limit, "the answer was not complete")
    return replace(
        failure,
        message=f"The answer was not complete after {limit:.0f} seconds.",
        retryable=False,
        setting="total_timeout",
    )


def new_part_id() -> str:
    return f"p_{secrets.token_hex(9)}"


async def read(
    transport: Transport, attempt: Attempt, settings: Settings
) -> AsyncGenerator[list[StreamEvent]]:
    """Send and read: batches of events, one a network read. A failure stands in the attempt."""
    prepared = attempt.prepared
    sign = prepared.profile.door.sign
    try:
        http = await sign(prepared.http, settings) if sign else prepared.http
        async with (
            transport.open(http, idle_timeout=prepared.idle.connection) as response,
            contextlib.aclosing(_answer(attempt, response)) as batches,
        ):
            async for batch in batches:
                yield batch
    except VendorError as error:
        attempt.failure = attempt.failure or error.failure
    except UserError as error:
        # A sign-in or a route that is not set up: the call ends with a failure that names it.
        kind = "auth" if error.code == "no_key" else "unreachable"
        attempt.failure = Failure(kind=kind, message=str(error), setting=error.setting)


async def _answer(attempt: Attempt, response: HttpResponse) -> AsyncGenerator[list[StreamEvent]]:
    if 300 <= response.status < 400:
        attempt.failure = redirected(response, attempt.prepared)
        return
    reader = decoder(
        attempt.prepared.profile.door.dialect,
        rules=replace(attempt.prepared.decode_rules, call_seed=secrets.token_hex(4)),
        streaming=attempt.prepared.stream,
        status=response.status,
    )
    chunks = response.chunks()
    try:
        async for data in chunks:
            batch = attempt.read(reader, data)
            if batch:
                yield batch
            if reader.ended or attempt.broken is not None:
                break
    except VendorError as error:
        attempt.broken = error.failure
    batch = attempt.finish(reader)
    if batch:
        yield batch
    if attempt.failure is not None:
        attempt.failure = _with_headers(attempt.failure, response)
    elif reader.ended:
        await _drain(chunks)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read on to the end of the body, which is mostly there: the connection can be used again."""
    with contextlib.suppress(TimeoutError, VendorError):
        async with asyncio.timeout(_DRAIN):
            async for _ in chunks:
                pass


def _with_headers(failure: Failure, response: HttpResponse) -> Failure:
    """What only headers tell: when to come back, and the request's id."""
    headers = response.headers
    request_id = next(
        (headers[x] for x in ("request-id", "x-request-id", "x-ds-trace-id") if x in headers), None
    )
    return replace(
        failure,
        retry_after=retry_after(headers) if failure.retry_after is None else failure.retry_after,
        request_id=failure.request_id or request_id,
    )


def retry_after(headers: dict[str, str], *, now: Callable[[], float] = time.time) -> float | None:
    """`Retry-After` in seconds, from a number or a date; `retry-after-ms` where it is sent."""
    if (millis := headers.get("retry-after-ms", "")).replace(".", "", 1).isdigit():
        return float(millis) / 1000
    value = headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdigit():
        return float(value)
    if not value:
        return None
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except ValueError:
        return None
