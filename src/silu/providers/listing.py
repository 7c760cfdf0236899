"""What a server says of its models: live listings, read leniently."""

import asyncio
import re
from typing import Any, cast

import msgspec

from silu.config import Settings
from silu.providers.capability import Listed
from silu.providers.prepare import address_headers, join
from silu.providers.profile import Profile
from silu.types.calls import HttpRequest, Transport
from silu.types.capabilities import Prices
from silu.types.errors import Failure, VendorError

TIMEOUT = 4.0
_MOST_SHOWN = 40
_LARGEST = 16 * 1024 * 1024

_NO_CHAT = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|image|moderation|audio|realtime|transcri|rerank|\bocr\b"
    r"|speech|video|sora|veo|imagen|bge-|clip|stable-diffusion|flux|guard",
    re.I,
)


async def list_models(
    profile: Profile, settings: Settings, transport: Transport, *, seconds: float = TIMEOUT
) -> list[Listed]:
    """The chat models a server offers. Raises `VendorError` when it cannot be asked."""
    match profile.vendor.listing:
        case "none":
            return []
        case "ollama":
            base = profile.base_url.removesuffix("/v1")
            tags = await fetch(profile, settings, transport, base + "/api/tags", seconds=seconds)
            return await _ollama(profile, settings, transport, base, tags)
        case "gemini":
            path = "/v1beta/models?pageSize=200"
        case "models":
            anthropic = profile.door.dialect == "anthropic-messages"
            path = "/v1/models?limit=200" if anthropic else "/models"
    url = join(profile.base_url, path)
    found = await fetch(profile, settings, transport, url, seconds=seconds)
    return read_listing(found)


def read_listing(found: Any) -> list[Listed]:
    """Entries of `{"data": […]}`, `{"models": […]}` or a bare list, chat models only."""
    if isinstance(found, dict):
        listing = cast("dict[str, Any]", found)
        found = listing.get("data") or listing.get("models") or []
    entries = [_entry(_object(item)) for item in cast("list[Any]", found)]
    return [entry for entry in entries if entry and not _NO_CHAT.search(entry.id)]


def _entry(item: dict[str, Any]) -> Listed | None:
    name = item.get("id") or item.get("name") or item.get("model")
    if not isinstance(name, str) or not name:
        return None
    meta = _object(item.get("meta"))
    provider = _object(item.get("top_provider"))
    capabilities = _object(item.get("capabilities"))
    label = item.get("display_name") or item.get("displayName")
    return Listed(
        id=name.removeprefix("models/"),
        label=label if isinstance(label, str) else None,
        context=_first_number(
            item.get("max_input_tokens"),
            item.get("max_model_len"),
            item.get("context_length"),
            item.get("max_context_length"),
            item.get("inputTokenLimit"),
            meta.get("n_ctx"),
        ),
        output=_first_number(
            item.get("max_tokens"),
            item.get("outputTokenLimit"),
            provider.get("max_completion_tokens"),
        ),
        thinking=_thinks(item, capabilities),
        images=_takes(item, "image", capabilities.get("vision")),
        tools=_truth(capabilities.get("function_calling")),
        documents=_takes(item, "file"),
        prices=_prices(_object(item.get("pricing"))),
        efforts=_efforts(_object(capabilities.get("effort"))),
        can_be_off=_can_be_off(_object(_object(capabilities.get("thinking")).get("types"))),
    )


def _takes(item: dict[str, Any], kind: str, told: Any = None) -> bool | None:
    """OpenRouter: `architecture.input_modalities`; Mistral: `capabilities.vision`."""
    if isinstance(told, bool):
        return told
    kinds = _object(item.get("architecture")).get("input_modalities")
    return kind in kinds if isinstance(kinds, list) else None


_PRICES = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cache_read",
    "input_cache_write": "cache_write",
}


def _prices(told: dict[str, Any]) -> Prices | None:
    """OpenRouter: dollars per token, as text; -1 where the model behind it is chosen later."""
    found: dict[str, float] = {}
    for theirs, ours in _PRICES.items():
        try:
            value = float(told.get(theirs, ""))
        except (TypeError, ValueError):
            continue
        if value >= 0:
            found[ours] = round(value * 1_000_000, 6)
    if not {"input", "output"} <= found.keys():
        return None
    return msgspec.convert(found, Prices)


def _efforts(told: dict[str, Any]) -> tuple[str, ...] | None:
    """Anthropic: `capabilities.effort.{low, …}.supported`."""
    if told.get("supported") is not True:
        return None
    return tuple(word for word, item in told.items() if _object(item).get("supported") is True)


def _can_be_off(types: dict[str, Any]) -> bool | None:
    """Anthropic: false of `disabled` means that sending it is refused (vendors.md §1)."""
    return _truth(_object(types.get("disabled")).get("supported"))


def _thinks(item: dict[str, Any], capabilities: dict[str, Any]) -> bool | None:
    """Anthropic: `capabilities.thinking.supported`; OpenRouter: `supported_parameters`; Gemini:
    `thinking`; Mistral: `capabilities.reasoning`."""
    told = _object(capabilities.get("thinking")).get("supported")
    if told is None:
        told = capabilities.get("reasoning", item.get("thinking"))
    if isinstance(told, bool):
        return told
    parameters = item.get("supported_parameters")
    return "reasoning" in parameters if isinstance(parameters, list) and parameters else None


async def _ollama(
    profile: Profile, settings: Settings, transport: Transport, base: str, tags: Any
) -> list[Listed]:
    """`/api/tags` names the models, `/api/show` tells what each can do."""
    names = [entry.id for entry in read_listing(tags)][:_MOST_SHOWN]

    async def show(name: str) -> Listed:
        body = msgspec.json.encode({"model": name})
        try:
            found = await fetch(profile, settings, transport, base + "/api/show", body=body)
        except VendorError:
            # An older server, or a model that is just being pulled: its name is enough.
            return Listed(id=name)
        return _shown(name, _object(found))

    return list(await asyncio.gather(*(show(name) for name in names)))


def _shown(name: str, found: dict[str, Any]) -> Listed:
    told = found.get("capabilities")
    abilities = cast("list[Any]", told) if isinstance(told, list) else None

    def has(word: str) -> bool | None:
        return None if abilities is None else word in abilities

    window = next(
        (
            value
            for key, value in _object(found.get("model_info")).items()
            if key.endswith(".context_length")
        ),
        None,
    )
    return Listed(
        id=name,
        context=_first_number(window),
        thinking=has("thinking"),
        images=has("vision"),
        tools=has("tools"),
    )


async def fetch(
    profile: Profile,
    settings: Settings,
    transport: Transport,
    url: str,
    *,
    body: bytes = b"",
    seconds: float = TIMEOUT,
) -> Any:
    """A small JSON document; raises `VendorError` on anything else."""
    request = HttpRequest(
        method="POST" if body else "GET",
        url=url,
        headers=address_headers(profile, settings),
        body=body,
    )
    data = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async with transport.open(request, idle_timeout=seconds) as response:
                async for chunk in response.chunks():
                    data += chunk
                    if len(data) > _LARGEST:
                        break
                status = response.status
    except TimeoutError as error:
        raise VendorError(
            Failure(kind="timeout", message=f"{profile.label} did not answer in time.")
        ) from error
    if status != 200:
        raise VendorError(_refused(profile, status))
    try:
        return msgspec.json.decode(bytes(data))
    except msgspec.DecodeError as error:
        raise VendorError(
            Failure(
                kind="not_an_api",
                message=f"{profile.label} answers, but not as an API. Check its base URL.",
                setting="base_url",
            )
        ) from error


def _refused(profile: Profile, status: int) -> Failure:
    if status in {401, 403}:
        return Failure(
            kind="auth",
            message=f"{profile.label} refused the key (HTTP {status}).",
            status=status,
            setting="api_key",
        )
    return Failure(
        kind="not_an_api",
        message=f"{profile.label} lists no models (HTTP {status}).",
        status=status,
        setting="base_url",
    )


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _first_number(*values: Any) -> int | None:
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
