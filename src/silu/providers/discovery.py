"""What is there: keys in the environment, local servers, the person's endpoints, the demo."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from silu.config import Settings
from silu.providers import families
from silu.providers.capability import Listed
from silu.providers.listing import TIMEOUT, list_models
from silu.providers.prepare import key_of
from silu.providers.profile import Profile, profile_for
from silu.providers.vendor import Vendor
from silu.providers.vendors import vendors
from silu.types.calls import Transport
from silu.types.errors import SiluError, VendorError

Source = Literal["config", "environment", "local", "demo"]
LOCAL_TIMEOUT = 1.0


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Somewhere models may be had: `name` is the vendor part of their references."""

    name: str
    source: Source
    vendor: Vendor
    models: tuple[str, ...] = ()


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What one place answered: its models, or why it could not be asked. `at` is when, on the
    caller's clock; `seen` says whether it answered at all."""

    models: dict[str, Listed] = {}
    problem: str | None = None
    seen: bool = False
    at: float = 0.0


def places(settings: Settings) -> list[Place]:
    """All places by the settings alone, without a look at the network: own endpoints, vendors
    with a key, the usual local ports, the demo."""
    known = vendors()
    own: list[Place] = []
    for name, endpoint in settings.endpoints.all().items():
        profile = profile_for(name, "-", settings=settings)
        own.append(Place(name=name, source="config", vendor=profile.vendor, models=endpoint.models))
    taken = {place.name for place in own}
    free = [vendor for vendor in known.values() if vendor.id not in taken]
    keyed = [
        Place(name=vendor.id, source="environment", vendor=vendor, models=vendor.models)
        for vendor in free
        if _has_key(vendor, settings)
    ]
    local = [
        Place(name=vendor.id, source="local", vendor=vendor)
        for vendor in free
        if vendor.port is not None and settings.preferences.local_servers
    ]
    demo = [
        Place(name=vendor.id, source="demo", vendor=vendor, models=vendor.models)
        for vendor in free
        if vendor.demo
    ]
    return [*own, *keyed, *local, *demo]


def _has_key(vendor: Vendor, settings: Settings) -> bool:
    if vendor.demo or vendor.port is not None or not vendor.doors:
        return False
    if vendor.ready is not None:
        return vendor.ready(settings)
    return vendor.needs_key and settings.key(vendor.id, vendor.key_vars) is not None


async def ask(
    found: Sequence[Place],
    settings: Settings,
    transport: Callable[[Profile], Transport],
    *,
    now: float,
) -> dict[str, Listing]:
    """Ask all places at once; one that cannot be asked says why."""

    async def one(place: Place) -> Listing:
        if place.source == "demo":
            return Listing(seen=True, at=now)
        try:
            profile = profile_for(place.name, "-", settings=settings)
            limit = LOCAL_TIMEOUT if place.source == "local" else TIMEOUT
            listed = await list_models(profile, settings, transport(profile), seconds=limit)
        except SiluError as error:
            return Listing(problem=settings.mask(_why(error)), at=now)
        return Listing(models={entry.id: entry for entry in listed}, seen=True, at=now)

    answers = await asyncio.gather(*(one(place) for place in found))
    return {place.name: answer for place, answer in zip(found, answers, strict=True)}


def _why(error: SiluError) -> str:
    return error.failure.message if isinstance(error, VendorError) else str(error)


def offered(place: Place, listing: Listing) -> list[str]:
    """The model ids a place offers, preferred ones first.

    What the person or the vendor file names comes first; of a vendor's long list only models of
    a known family follow, of the person's own servers all.
    """
    named = list(place.models)
    if place.source == "local" and not listing.seen:
        return []
    listed = list(listing.models)
    if place.source == "environment" and named:
        listed = sorted(name for name in listed if families.find(name) is not None)
    elif place.source == "config" and named:
        listed = []
    return [*named, *(name for name in listed if name not in named)]


def start_model(place: Place, listing: Listing) -> str | None:
    """The model a place starts with: its vendor's own choice where it is served."""
    ids = offered(place, listing)
    for wanted in place.vendor.start_models:
        if wanted in listing.models or (wanted in ids and not listing.models):
            return wanted
    return ids[0] if ids else None


def has_key(profile: Profile, settings: Settings) -> str | None:
    """Where an endpoint's key is from: `env`, `file`, `none needed`; `None` when it is missing."""
    found = key_of(profile, settings)
    if found is not None:
        return "env" if found[1].startswith("env:") else "file"
    endpoint = profile.endpoint
    wanted = endpoint.key_env is not None if endpoint else profile.vendor.needs_key
    return None if wanted else "none needed"
