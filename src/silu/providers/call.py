"""One model call with its recoveries: remedies, retries, fallbacks, told as events.

Nothing is written here but learned facts; the caller persists.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec
from msgspec.structs import replace

from silu.config import Settings
from silu.providers.explain import explain
from silu.providers.learned import LearnedStore
from silu.providers.prepare import Prepared, masked, no_key
from silu.providers.reading import Attempt, Clockwork, read
from silu.providers.recovery import Remedy, remedy_for
from silu.providers.stray import recovered
from silu.types.calls import (
    CallEnd,
    CallEvent,
    CallRequest,
    CallStart,
    CallWait,
    LearnedFact,
    Refused,
    ToolSpec,
    Transport,
)
from silu.types.capabilities import Learned, Prices
from silu.types.errors import Failure, UserError
from silu.types.levels import Level
from silu.types.parts import Message, Origin
from silu.types.usage import Usage

TRIES = 3
LONGEST_WAIT = 60.0
_DEFAULT_RETRY = 1.0


class Office(msgspec.Struct, frozen=True, kw_only=True):
    """What a call needs of the client: preparing, transports, settings, learned facts.

    `tries` is how often one model is asked before a transient failure stands.
    """

    settings: Settings
    learned: LearnedStore
    time: Clockwork
    prepare: Callable[[CallRequest, Sequence[Learned]], Prepared]
    transport: Callable[[Prepared], Transport]
    tries: int = TRIES


class _Model:
    """What one model was tried with, within one call."""

    def __init__(self, request: CallRequest) -> None:
        self.request = request
        self.tries = 0
        self.used: set[str] = set()
        self.bodies: set[bytes] = set()
        self.pending: list[Learned] = []
        self.refused: list[Refused] = []


async def run(office: Office, request: CallRequest) -> AsyncGenerator[CallEvent]:
    """The events of one call, `CallEnd` last. Raises `UserError` for what must be set first."""
    call = _Call(office, request)
    while True:
        attempt = call.begin()
        yield CallStart(
            attempt=attempt.number,
            model=attempt.prepared.profile.ref,
            resolution=attempt.prepared.resolution,
            request=masked(attempt.prepared.http, office.settings),
            dropped=attempt.prepared.dropped,
        )
        transport = office.transport(attempt.prepared)
        async with contextlib.aclosing(read(transport, attempt, office.settings)) as batches:
            async for batch in batches:
                if call.news:
                    for event in await call.accepted(attempt):
                        yield event
                for event in batch:
                    yield event
        step = call.after(attempt)
        if step is None:
            for event in recovered(attempt.builder, call.tools):
                attempt.builder.feed(event)
                yield event
            yield call.end(attempt)
            return
        if step.seconds > 0 or step.model is not None:
            yield step
            await office.time.sleep(step.seconds)


class _Call:
    """The decisions between the attempts of one call."""

    def __init__(self, office: Office, request: CallRequest) -> None:
        self._office = office
        self._request = request
        self._number = 0
        self._fallbacks = [
            ref for ref in office.settings.preferences.fallback if ref != request.model
        ]
        self._model = _Model(request)

    @property
    def tools(self) -> list[ToolSpec]:
        return self._request.tools

    @property
    def news(self) -> bool:
        """Whether something was changed that the vendor has not taken yet."""
        return bool(self._model.pending or self._model.refused)

    def begin(self) -> Attempt:
        """The next attempt, prepared. Raises `UserError`: no such model, no key."""
        model = self._model
        prepared = self._office.prepare(model.request, model.pending)
        if prepared.key_missing:
            raise no_key(prepared.profile)
        self._number += 1
        model.tries += 1
        model.bodies.add(_fingerprint(prepared))
        return Attempt(prepared, self._number, self._office.time)

    async def accepted(self, attempt: Attempt) -> list[CallEvent]:
        """The vendor took the mended request: keep what was learned, tell what was refused."""
        model = self._model
        events: list[CallEvent] = []
        if attempt.failure is not None:
            return events
        for fact in model.pending:
            await asyncio.to_thread(self._office.learned.learn, fact)
            events.append(LearnedFact(learned=fact))
        events.extend(model.refused)
        model.pending, model.refused = [], []
        return events

    def after(self, attempt: Attempt) -> CallWait | None:
        """What to do after an attempt: wait (maybe for no time) and go on, or `None`: it ends."""
        failure = attempt.failure
        if failure is None or attempt.showed_content:
            return None
        model = self._model
        while (remedy := remedy_for(failure, attempt.prepared, model.used)) is not None:
            if self._mend(model, remedy, attempt, failure):
                return CallWait(seconds=0, reason=failure.message)
        if not failure.retryable and failure.kind != "quota":
            return None
        wait = self._wait(failure, model.tries)
        if failure.retryable and model.tries < self._office.tries and wait <= LONGEST_WAIT:
            return CallWait(seconds=wait, reason=failure.message)
        following = self._next_model()
        if following is None:
            return None
        self._model = following
        return CallWait(seconds=0, reason=failure.message, model=following.request.model)

    def end(self, attempt: Attempt) -> CallEnd:
        builder, time = attempt.builder, self._office.time
        usage = builder.usage
        first = attempt.first_byte
        failure = attempt.failure
        return CallEnd(
            message=builder.message(),
            usage=usage,
            finish=builder.finish,
            failure=explain(failure, attempt.prepared, self._office.settings) if failure else None,
            attempt=attempt.number,
            cost=cost_of(usage, attempt.prepared.profile.capability.prices),
            first_byte_ms=None if first is None else round((first - attempt.sent_at) * 1000),
            duration_ms=round((time.clock() - attempt.sent_at) * 1000),
        )

    def _next_model(self) -> _Model | None:
        """The next fallback that can be used: one that is known and has its key."""
        while self._fallbacks:
            request = replace(self._request, model=self._fallbacks.pop(0))
            try:
                if not self._office.prepare(request, ()).key_missing:
                    return _Model(request)
            except UserError:
                # A fallback that is not set up is no fallback; the first failure is what counts.
                continue
        return None

    def _wait(self, failure: Failure, tries: int) -> float:
        if failure.retry_after is not None:
            return failure.retry_after
        # 1, 2, 4 … seconds, at least half of it, so that many callers spread out.
        return _DEFAULT_RETRY * 2 ** (tries - 1) * (0.5 + self._office.time.jitter() / 2)

    def _mend(self, model: _Model, remedy: Remedy, attempt: Attempt, failure: Failure) -> bool:
        """Apply a remedy; False when the body would be the same as before."""
        prepared = attempt.prepared
        model.used.add(remedy.name)
        before = (model.request, list(model.pending), list(model.refused))
        evidence = self._office.settings.mask(failure.message)[:300]
        names = set(remedy.learn)
        model.pending = [fact for fact in model.pending if fact.fact not in names]
        model.pending += [
            Learned(
                endpoint=prepared.origin.endpoint,
                model=prepared.origin.model,
                fact=name,
                value=value,
                evidence=evidence,
                ts=self._office.time.wall(),
            )
            for name, value in remedy.learn.items()
        ]
        if remedy.strip:
            messages, refused = _refuse(model.request.messages, prepared.origin)
            model.request = replace(model.request, messages=messages)
            model.refused += refused
        if remedy.thinking_off:
            model.request = replace(model.request, level=Level.OFF)
        following = self._office.prepare(model.request, model.pending)
        if _fingerprint(following) in model.bodies:
            model.request, model.pending, model.refused = before
            return False
        # A mended request is not one more try of the same.
        model.tries -= 1
        return True


def _fingerprint(prepared: Prepared) -> bytes:
    digest = hashlib.sha256(prepared.http.url.encode() + b"\0")
    digest.update(prepared.http.body)
    return digest.digest()


def _refuse(messages: list[Message], origin: Origin) -> tuple[list[Message], list[Refused]]:
    """All thinking of this origin marked as refused by its endpoint."""
    marked: list[Message] = []
    told: list[Refused] = []
    for message in messages:
        kept = list(message.continuity)
        for at, item in enumerate(kept):
            theirs = item.origin.endpoint == origin.endpoint and item.origin.model == origin.model
            if theirs and origin.endpoint not in item.refused_by:
                kept[at] = replace(item, refused_by=[*item.refused_by, origin.endpoint])
                told.append(
                    Refused(message_id=message.id, part=item.part, endpoint=origin.endpoint)
                )
        marked.append(replace(message, continuity=kept))
    return marked, told


def cost_of(usage: Usage, prices: Prices | None) -> float | None:
    """US dollars for a call, `None` where a price or a count is not known. Cached tokens without
    a price of their own cost what input costs."""
    if prices is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    prices = prices.of(usage.input_tokens)
    if prices.input is None or prices.output is None:
        return None
    read, write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    plain = max(0, usage.input_tokens - read - write)
    read_price = prices.input if prices.cache_read is None else prices.cache_read
    write_price = prices.input if prices.cache_write is None else prices.cache_write
    total = (
        plain * prices.input
        + read * read_price
        + write * write_price
        + usage.output_tokens * prices.output
    )
    return total / 1_000_000
