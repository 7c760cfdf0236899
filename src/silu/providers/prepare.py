"""From a call request to the bytes of one HTTP request: no clock, no network, no key needed."""

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from silu.config import Settings
from silu.config.secrets import STARS, Secret, mask, mask_body
from silu.providers.profile import Profile, allowed_choices, may_sample
from silu.providers.resolve import Limits, Resolved, resolve
from silu.providers.vendor import Door, Turn
from silu.types.calls import CallRequest, Dropped, HttpRequest, ToolSpec
from silu.types.capabilities import LevelSource, Resolution
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import Message, Origin, ThinkingPart, ToolCallPart
from silu.types.rules import DecodeRules, Encoded, EncodeInput, EncodeRules
from silu.wire import encode

_SECRET_HEADERS = frozenset(
    {"authorization", "x-api-key", "x-goog-api-key", "api-key", "proxy-authorization", "cookie"}
)


class Idle(msgspec.Struct, frozen=True, kw_only=True):
    """Silence a call endures, in seconds: without any byte, without any payload, in all."""

    connection: float
    payload: float
    total: float


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """One request, ready to be sent and to have its answer read.

    `http` holds the key (show `masked(http)` instead). `key_missing` is set where the vendor
    wants a key and none is at hand: such a request can be shown, not sent.
    """

    http: HttpRequest
    profile: Profile
    resolution: Resolution
    dropped: tuple[Dropped, ...]
    decode_rules: DecodeRules
    origin: Origin
    stream: bool
    thinking_on: bool
    idle: Idle
    key_missing: bool = False


def prepare(profile: Profile, request: CallRequest, *, settings: Settings) -> Prepared:
    """Resolve, encode and address one request."""
    resolved = _resolve(profile, request, settings)
    prepared, encoded = _written(profile, request, resolved, settings)
    if encoded.loop_unled and resolved.thinking_on and profile.facts.budgets:
        # Claude's budget mode refuses a tool loop whose first answer came without its thought
        # (a foreign or refused one): thinking is off for this one request.
        off = _resolve(profile, replace(request, level=Level.OFF), settings)
        resolution = replace(
            off.resolution,
            requested=resolved.resolution.requested,
            source=resolved.resolution.source,
            notes=(*off.resolution.notes, "Off for this call: the tool loop began elsewhere."),
        )
        prepared, _ = _written(profile, request, replace(off, resolution=resolution), settings)
    return prepared


def masked(http: HttpRequest, settings: Settings) -> HttpRequest:
    """The request as it may be shown: no key in headers, address or body."""
    secrets = settings.secrets()
    headers = {
        name: STARS if name.lower() in _SECRET_HEADERS else mask(value, secrets)
        for name, value in http.headers.items()
    }
    return HttpRequest(
        method=http.method,
        url=mask(http.url, secrets),
        headers=headers,
        body=mask_body(http.body, secrets),
    )


def _resolve(profile: Profile, request: CallRequest, settings: Settings) -> Resolved:
    return resolve(
        profile.facts,
        profile.door.form,
        request.level,
        source=cast("LevelSource", request.level_source),
        thinking_enabled=settings.preferences.thinking_enabled,
        limits=Limits(
            asked=request.max_tokens,
            model_max=profile.capability.max_output,
            window=profile.capability.context_window,
        ),
    )


def _written(
    profile: Profile, request: CallRequest, resolved: Resolved, settings: Settings
) -> tuple[Prepared, Encoded]:
    door, facts = profile.door, profile.facts
    thinking = resolved.thinking_on
    notes = list(resolved.resolution.notes)
    messages, dropped = _history(profile, request)
    stream = request.stream or door.stream_only or bool(profile.request.get("stream_only"))
    turn = Turn(
        thinking=thinking,
        tools=bool(request.tools),
        stream=stream,
        complete=_complete(messages, profile.origin),
    )
    temperature, top_p = _sampling(profile, request, resolved, settings, notes)
    rules = profile.encode_rules(thinking=thinking)
    tools, own_tools = _tools(request, rules, notes)
    encoded = encode(
        door.dialect,
        EncodeInput(
            model=profile.model,
            messages=messages,
            tools=tools,
            own_tools=own_tools,
            tool_choice=_choice(profile, request, thinking=thinking, notes=notes),
            max_tokens=resolved.max_tokens,
            temperature=temperature,
            top_p=top_p,
            stream=stream,
            thinking_on=thinking,
            wire=deep_merge(door.body_rules(facts, turn), resolved.resolution.wire),
        ),
        rules,
    )
    key = key_of(profile, settings)
    headers = {**encoded.headers, **address_headers(profile, settings)}
    for name, value in door.header_rules(facts, turn).items():
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    http = HttpRequest(
        method="POST",
        url=join(profile.base_url, encoded.path),
        headers=headers,
        body=msgspec.json.encode(encoded.body),
    )
    prepared = Prepared(
        http=door.rewrite(http) if door.rewrite else http,
        profile=profile,
        resolution=replace(resolved.resolution, notes=tuple(notes)),
        dropped=(*dropped, *encoded.dropped),
        decode_rules=profile.decode_rules(),
        origin=replace(profile.origin, level=resolved.resolution.effective),
        stream=stream,
        thinking_on=thinking,
        idle=idle_limits(profile, resolved.resolution.effective),
        key_missing=key is None and _wants_key(profile),
    )
    return prepared, encoded


def _tools(
    request: CallRequest, rules: EncodeRules, notes: list[str]
) -> tuple[list[ToolSpec], list[dict[str, Any]]]:
    """The tools silu runs, and what asks for those that the vendor runs, where it has them."""
    functions = [tool for tool in request.tools if not tool.vendor_run]
    asked: list[dict[str, Any]] = []
    for tool in request.tools:
        if tool.vendor_run and tool.name in rules.own_tools:
            asked.append(rules.own_tools[tool.name])
        elif tool.vendor_run:
            notes.append(f"{tool.name} is left out: this model's vendor does not run it.")
    return functions, asked


def no_key(profile: Profile) -> UserError:
    """What to say when a call needs a key that nobody gave."""
    variables = _key_vars(profile)
    setting = variables[0] if variables else "api_key"
    return UserError(
        f"There is no key for {profile.label}.",
        code="no_key",
        setting=setting,
        fix=f"Set {setting}, or save the key in the settings.",
    )


def key_of(profile: Profile, settings: Settings) -> tuple[Secret, str] | None:
    """The key for a profile and where it is from."""
    return settings.key(profile.name, _key_vars(profile))


def address_headers(profile: Profile, settings: Settings) -> dict[str, str]:
    """Headers every request to this address carries: type, the door's own, key, the person's."""
    key = key_of(profile, settings)
    own = profile.endpoint.headers if profile.endpoint else {}
    return {
        "content-type": "application/json",
        **profile.door.headers,
        **_auth(profile.door, key[0] if key else None),
        **own,
    }


def _key_vars(profile: Profile) -> tuple[str, ...]:
    endpoint = profile.endpoint
    if endpoint is None:
        return profile.vendor.key_vars
    if endpoint.key_env:
        return (endpoint.key_env,)
    # The vendor's own key goes to the vendor's own host only, never to a stranger's.
    same = any(endpoint.url.startswith(door.base_url) for door in profile.vendor.doors)
    return profile.vendor.key_vars if same or endpoint.name == profile.vendor.id else ()


def _wants_key(profile: Profile) -> bool:
    if profile.endpoint is not None:
        return profile.endpoint.key_env is not None
    return profile.vendor.needs_key


def _auth(door: Door, key: Secret | None) -> dict[str, str]:
    if key is None or door.auth == "none":
        return {}
    if door.auth == "bearer":
        return {"authorization": f"Bearer {key.reveal()}"}
    return {door.auth: key.reveal()}


def join(base: str, path: str) -> str:
    """Base URL and path, whichever of the two brings the version."""
    base, path = base.rstrip("/"), "/" + path.lstrip("/")
    version = "/" + path.split("/", 2)[1]
    if base.endswith(version) and version in {"/v1", "/v1beta"}:
        path = path.removeprefix(version)
    return base + path


def deep_merge(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """`upper` over `lower`, objects merged field by field."""
    merged = dict(lower)
    for name, value in upper.items():
        below = merged.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[name] = deep_merge(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            merged[name] = value
    return merged


def _history(profile: Profile, request: CallRequest) -> tuple[list[Message], list[Dropped]]:
    """The messages to send. Where thinking is bound to the prefix, that of older epochs stays
    out: the prefix it was signed with is no longer what is sent."""
    first = request.epoch_first
    if first is None or not profile.facts.prefix_bound:
        return request.messages, []
    ids = [message.id for message in request.messages]
    if first not in ids:
        return request.messages, []
    cut = ids.index(first)
    dropped: list[Dropped] = []
    older: list[Message] = []
    for message in request.messages[:cut]:
        dropped += [
            Dropped(
                message_id=message.id,
                part=part.id,
                what="thinking",
                why="it belongs to an earlier epoch, and this model binds thinking to the prefix",
            )
            for part in message.parts
            if isinstance(part, ThinkingPart)
        ]
        parts = [part for part in message.parts if not isinstance(part, ThinkingPart)]
        older.append(replace(message, parts=parts, continuity=[]))
    return [*older, *request.messages[cut:]], dropped


def _complete(messages: list[Message], origin: Origin) -> bool:
    """Whether every answer that called tools or thought has thinking of this origin with it."""
    for message in messages:
        if message.role != "assistant" or message.interrupted:
            continue
        works = any(isinstance(part, (ThinkingPart, ToolCallPart)) for part in message.parts)
        own = any(
            (kept.origin.vendor, kept.origin.endpoint, kept.origin.model)
            == (origin.vendor, origin.endpoint, origin.model)
            and not kept.refused_by
            for kept in message.continuity
        )
        if works and not own:
            return False
    return True


def _choice(profile: Profile, request: CallRequest, *, thinking: bool, notes: list[str]) -> str:
    """The tool choice, or `auto` where the model refuses it (F002–F004, vendors.md §0.9)."""
    choice = request.tool_choice
    kind = choice if choice in {"auto", "none", "required"} else "named"
    if not request.tools and kind in {"required", "named"}:
        notes.append(f"The tool choice {choice!r} is left out: there are no tools.")
        return "auto"
    if kind in allowed_choices(profile.facts, thinking=thinking):
        return choice
    why = "while it thinks" if thinking and kind in profile.facts.tool_choice else "at all"
    notes.append(f"The tool choice {choice!r} is not taken by this model {why}; auto is sent.")
    return "auto"


def _sampling(
    profile: Profile,
    request: CallRequest,
    resolved: Resolved,
    settings: Settings,
    notes: list[str],
) -> tuple[float | None, float | None]:
    """Temperature and top_p as they may be sent; what a person set and is left out is told."""
    facts = profile.facts
    temperature, top_p = request.temperature, request.top_p
    if temperature is None and top_p is None:
        return _recommended(profile, resolved, settings)
    explicit_off = resolved.resolution.effective == Level.OFF.value
    if not may_sample(facts, thinking=resolved.thinking_on, explicit_off=explicit_off):
        named = " and ".join(
            name
            for name, value in (("temperature", temperature), ("top_p", top_p))
            if value is not None
        )
        when = "by this model" if facts.sampling == "never" else "while thinking is on"
        notes.append(f"Your {named} is kept but not used {when}.")
        return None, None
    if facts.one_of_sampling and temperature is not None and top_p is not None:
        notes.append("This model takes either temperature or top_p; top_p is left out.")
        top_p = None
    if temperature is not None and facts.temperature_range is not None:
        low, high = facts.temperature_range
        within = min(max(temperature, low), high)
        if within != temperature:
            notes.append(f"The temperature is {within}: this model takes {low} to {high}.")
            temperature = within
    return temperature, top_p


def _recommended(
    profile: Profile, resolved: Resolved, settings: Settings
) -> tuple[float | None, float | None]:
    if settings.preferences.sampling != "recommended":
        return None, None
    advice = profile.facts.recommended.get("thinking" if resolved.thinking_on else "off", {})
    return advice.get("temperature"), advice.get("top_p")


_SILENCE: dict[str, float] = {
    Level.OFF.value: 120,
    Level.MINIMAL.value: 180,
    Level.LOW.value: 300,
    Level.MEDIUM.value: 420,
    Level.HIGH.value: 600,
}
_LONG_SILENCE = 900.0
_TOTAL = 3600.0


def idle_limits(profile: Profile, effective: str) -> Idle:
    """How long a call may be silent (F011): the more thinking, the longer. Keep-alives reset the
    first limit only; DeepSeek sends them for up to ten minutes before it begins."""
    endpoint = profile.endpoint
    own = endpoint.idle_timeout if endpoint else None
    connection = own or _SILENCE.get(effective, _LONG_SILENCE)
    total = (endpoint.total_timeout if endpoint else None) or _TOTAL
    return Idle(connection=connection, payload=own or max(660.0, connection), total=total)
