"""Testing an endpoint: one real, small call, and what it says in one sentence."""

from collections.abc import Callable
from typing import cast

import msgspec

from silu.config import Endpoint, Settings
from silu.config.endpoints import check_endpoint
from silu.providers import call
from silu.providers.listing import list_models
from silu.providers.profile import Profile, profile_for
from silu.providers.vendors import vendors
from silu.types.calls import CallEnd, CallRequest, Transport
from silu.types.errors import Failure, UserError, VendorError
from silu.types.parts import Message, TextPart, ThinkingPart
from silu.wire import DIALECTS

_ENOUGH = 512
"""Output limit of the test call: room for a thought and a word."""
_GUESSES = ("openai-chat", "anthropic-messages", "openai-responses")
"""Dialects that servers of unknown kind speak, likeliest first."""
_WRONG_DIALECT = frozenset({"not_an_api", "bad_data", "stream_cut", "unknown"})


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint to try. `key` is used for this test only; without `dialect` each one is
    tried; a `name` alone tests what is known under it."""

    endpoint: Endpoint
    key: str | None = None


class EndpointTest(msgspec.Struct, frozen=True, kw_only=True):
    """What the call gave. `dialect` is the one that works; `thinking` whether a thought came."""

    ok: bool
    message: str
    dialect: str | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    thinking: bool | None = None
    duration_ms: int | None = None
    failure: Failure | None = None


def trial_of(name: str, settings: Settings) -> Trial:
    """A test of something already known: an own endpoint, or a vendor."""
    endpoint = settings.endpoint(name)
    if endpoint is not None:
        return Trial(endpoint=endpoint)
    vendor = vendors().get(name)
    if vendor is None:
        raise UserError(f"There is no endpoint {name!r}.", code="unknown_endpoint", setting="name")
    door = vendor.doors[0]
    return Trial(
        endpoint=Endpoint(
            name=name,
            url=door.base_url,
            dialect=door.dialect,
            models=vendor.start_models[:1],
            key_env=next(iter(vendor.key_vars), None) if vendor.needs_key else None,
        )
    )


async def try_endpoint(
    trial: Trial,
    settings: Settings,
    office: Callable[[Settings], call.Office],
    transport: Callable[[Profile], Transport],
) -> EndpointTest:
    """Call the endpoint in its dialect. Where another one works, the result names it: taken when
    none was asked for, as the fix when a wrong one was."""
    check_endpoint(trial.endpoint)
    asked = trial.endpoint.dialect
    if asked is not None and asked not in DIALECTS:
        raise UserError(
            f"There is no dialect {asked!r}.",
            code="bad_argument",
            setting="dialect",
            fix=f"Use one of: {', '.join(DIALECTS)}.",
        )
    first = asked or _own_dialect(trial.endpoint) or _GUESSES[0]
    result = await _once(trial, first, settings, office, transport)
    failure = result.failure
    if failure is None or failure.kind not in _WRONG_DIALECT:
        return result
    for dialect in _GUESSES:
        if dialect == first:
            continue
        other = await _once(trial, dialect, settings, office, transport)
        if other.ok and asked is None:
            return other
        if other.ok:
            message = f"This endpoint speaks {dialect}, not {first}. Choose that dialect."
            return msgspec.structs.replace(other, ok=False, message=message, failure=failure)
    return result


def _own_dialect(endpoint: Endpoint) -> str | None:
    vendor = vendors().get(endpoint.like or endpoint.name)
    return vendor.doors[0].dialect if vendor else None


async def _once(
    trial: Trial,
    dialect: str,
    settings: Settings,
    office: Callable[[Settings], call.Office],
    transport: Callable[[Profile], Transport],
) -> EndpointTest:
    endpoint = msgspec.structs.replace(trial.endpoint, dialect=dialect)
    here = settings.trying(endpoint, trial.key)
    profile = profile_for(endpoint.name, "-", settings=here)
    models: tuple[str, ...] = ()
    unlisted: VendorError | None = None
    try:
        models = tuple(x.id for x in await list_models(profile, here, transport(profile)))
    except VendorError as error:
        # Many servers list nothing; the call itself decides.
        unlisted = error
    model = next(iter((*endpoint.models, *models)), None)
    if model is None:
        return _no_model(dialect, unlisted, here)
    request = CallRequest(
        model=f"{endpoint.name}/{model}",
        messages=[Message(role="user", parts=[TextPart(text="Reply with the one word: ready")])],
        level="unset",
        max_tokens=_ENOUGH,
    )
    try:
        end = await _end_of(office(here), request)
    except UserError as error:
        return EndpointTest(
            ok=False,
            message=str(error),
            dialect=dialect,
            model=model,
            models=models,
            failure=Failure(kind="auth", message=str(error), setting=error.setting),
        )
    return _told(end, dialect=dialect, model=model, models=models, label=profile.label)


async def _end_of(office: call.Office, request: CallRequest) -> CallEnd:
    events = [event async for event in call.run(office, request)]
    return cast("CallEnd", events[-1])


def _no_model(dialect: str, unlisted: VendorError | None, settings: Settings) -> EndpointTest:
    if unlisted is not None and unlisted.failure.kind in {"unreachable", "auth", "timeout"}:
        message = settings.mask(unlisted.failure.message)
        return EndpointTest(ok=False, message=message, dialect=dialect, failure=unlisted.failure)
    message = "The server lists no models. Name one to test with."
    kind = unlisted.failure.kind if unlisted else "unknown_model"
    failure = Failure(kind=kind, message=message, setting="model")
    return EndpointTest(ok=False, message=message, dialect=dialect, failure=failure)


def _told(
    end: CallEnd, *, dialect: str, model: str, models: tuple[str, ...], label: str
) -> EndpointTest:
    thought = any(isinstance(part, ThinkingPart) for part in end.message.parts)
    if end.failure is not None:
        return EndpointTest(
            ok=False,
            message=end.failure.message,
            dialect=dialect,
            model=model,
            models=models,
            duration_ms=end.duration_ms,
            failure=end.failure,
        )
    shown = " and showed its thinking" if thought else ""
    return EndpointTest(
        ok=True,
        message=f"{label} answered with {model}{shown}.",
        dialect=dialect,
        model=model,
        models=models,
        thinking=thought,
        duration_ms=end.duration_ms,
    )
