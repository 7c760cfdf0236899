"""The door to all models: `Client` prepares, sends and reads calls, and knows what is there."""

from collections.abc import AsyncGenerator, Sequence
from typing import Self

from msgspec.structs import replace

from silu.config import Settings
from silu.providers import call
from silu.providers.capability import Listed
from silu.providers.discovery import Listing, Place, ask, has_key, offered, places, start_model
from silu.providers.hurry import end_thinking
from silu.providers.learned import FileLearned, LearnedStore
from silu.providers.prepare import Prepared, prepare
from silu.providers.profile import Profile, profile_for, split_ref
from silu.providers.reading import Clockwork
from silu.providers.resolve import Limits, level_choice, resolve
from silu.providers.transport import CONNECT_TIMEOUT, HttpTransport, Route
from silu.providers.trial import EndpointTest, Trial, try_endpoint
from silu.providers.vendors import vendors
from silu.types.api import EndpointList, EndpointView, VendorView
from silu.types.calls import CallEnd, CallEvent, CallRequest, Transport
from silu.types.capabilities import Learned, LevelSource, ModelInfo, Resolution
from silu.types.errors import UserError
from silu.types.levels import LevelChoice
from silu.wire import DIALECTS

FRESH = 300.0
"""Seconds a listing of a vendor is taken as it is."""
FRESH_LOCAL = 20.0
"""Seconds for servers on this machine, which come and go."""

REAL_TIME = Clockwork()


class Client:
    """Calls to models of any vendor.

    `transport` replaces the network for all endpoints; `learned` is where learned facts are kept
    (default: a file in the data folder). Settings may be replaced at any time: `client.settings`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        transport: Transport | None = None,
        learned: LearnedStore | None = None,
        time: Clockwork = REAL_TIME,
    ) -> None:
        self.settings = settings
        self.learned: LearnedStore = learned or FileLearned(settings.paths.learned_file)
        self._fixed = transport
        self._time = time
        self._transports: dict[Route, HttpTransport] = {}
        self._of_vendor: dict[str, Transport] = {}
        self._listings: dict[str, Listing] = {}

    # ------------------------------------------------------------------------- one call

    def stream(self, request: CallRequest) -> AsyncGenerator[CallEvent]:
        """The events of one call, `CallEnd` last. A failed call ends with `CallEnd.failure`;
        `UserError` is raised at once for an unknown model or a missing key. Closing the
        generator closes the connection."""
        return call.run(self._office(self.settings), _with_level(request))

    async def complete(self, request: CallRequest) -> CallEnd:
        """The end of one call, with the whole message."""
        end: CallEnd | None = None
        async for event in self.stream(request):
            if isinstance(event, CallEnd):
                end = event
        assert end is not None, "a call ends with CallEnd"
        return end

    async def end_thinking(self, ref: str, response_id: str) -> bool:
        """Tell the vendor to end the thought of a running answer and to begin the answer, where
        it has a way for that. False where it has none, or did not do it."""
        profile = self.profile(ref)
        return await end_thinking(
            profile, response_id, settings=self.settings, transport=self._route_of(profile)
        )

    def prepare(self, request: CallRequest, *, dialect: str | None = None) -> Prepared:
        """The request as it would be sent. Needs no key and makes no call. With a `dialect` any
        vendor id is taken."""
        return self._prepare(self.settings, _with_level(request), (), dialect=dialect)

    def resolve(
        self,
        ref: str,
        level: LevelChoice | str,
        *,
        source: LevelSource,
        max_tokens: int | None = None,
    ) -> Resolution:
        """What a level means for a model, without a request. `level` may be a word or an alias;
        a wrong one raises `UserError` (`bad_argument`)."""
        profile = self.profile(ref)
        capability = profile.capability
        return resolve(
            profile.facts,
            profile.door.form,
            level_choice(level),
            source=source,
            thinking_enabled=self.settings.preferences.thinking_enabled,
            limits=Limits(asked=max_tokens, model_max=capability.max_output),
        ).resolution

    # ------------------------------------------------------------------------ what is there

    def profile(self, ref: str, *, dialect: str | None = None) -> Profile:
        """All that is known of a model; raises `UserError` (`unknown_model`)."""
        return self._profile(self.settings, ref, (), dialect=dialect)

    def model(self, ref: str) -> ModelInfo:
        """A model by its reference; raises `UserError` (`unknown_model`). A vendor's model that
        nobody has heard of is still one: it gets the newest rules of its family."""
        return self.profile(ref).info()

    async def models(self, *, refresh: bool = False) -> list[ModelInfo]:
        """All models that can be chosen now, preferred places first. Asks servers whose listing
        is old, all at once and briefly; `refresh` asks all."""
        found = places(self.settings)
        now = self._time.clock()
        stale = [place for place in found if refresh or self._is_stale(place, now)]
        self._listings |= await ask(stale, self.settings, self._route_of, now=now)
        infos: list[ModelInfo] = []
        for place in found:
            for name in offered(place, self._listings[place.name]):
                infos.append(self.model(f"{place.name}/{name}"))
        return infos

    def default_model(self) -> str:
        """The model used where none is named: the person's choice, else the start model of the
        first place that is there. Local servers count once `models()` has seen them."""
        if chosen := self.settings.preferences.default_model:
            return chosen
        for place in places(self.settings):
            listing = self._listings.get(place.name, Listing())
            model = start_model(place, listing)
            if model is not None:
                return f"{place.name}/{model}"
        raise UserError(
            "There is no model to talk to.",
            code="no_key",
            setting="model",
            fix="Set a vendor's key, start a local server, or add one with silu connect.",
        )

    def problems(self) -> list[str]:
        """Why places could not be asked, in sentences; a local port with nobody on it is none."""
        return [
            f"{place.name}: {listing.problem}"
            for place in places(self.settings)
            if (listing := self._listings.get(place.name)) is not None
            and listing.problem is not None
            and place.source != "local"
        ]

    def endpoints(self) -> EndpointList:
        """Places that answer or could, and the vendors that a key would open."""
        views: list[EndpointView] = []
        for place in places(self.settings):
            listing = self._listings.get(place.name, Listing())
            if place.source == "local" and not listing.seen:
                continue
            views.append(self._view(place, listing))
        return EndpointList(
            endpoints=views,
            vendors=[
                _vendor_view(vendor.id, self.settings)
                for vendor in vendors().values()
                if vendor.needs_key and vendor.key_vars
            ],
            dialects=list(DIALECTS),
        )

    async def test_endpoint(self, trial: Trial) -> EndpointTest:
        """Make a real, small call to an endpoint and say in one sentence how it went."""

        def office(settings: Settings) -> call.Office:
            return self._office(settings, tries=1)

        return await try_endpoint(trial, self.settings, office, self._route_of)

    async def aclose(self) -> None:
        """Close all connections; the client can be used again."""
        opened: list[Transport] = [*self._transports.values(), *self._of_vendor.values()]
        if self._fixed is not None:
            opened.append(self._fixed)
        self._transports, self._of_vendor = {}, {}
        for transport in opened:
            await transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # ------------------------------------------------------------------------------ inside

    def _office(self, settings: Settings, *, tries: int = call.TRIES) -> call.Office:
        def ready(request: CallRequest, pending: Sequence[Learned]) -> Prepared:
            return self._prepare(settings, request, pending)

        return call.Office(
            settings=settings,
            learned=self.learned,
            time=self._time,
            prepare=ready,
            transport=lambda prepared: self._route_of(prepared.profile),
            tries=tries,
        )

    def _prepare(
        self,
        settings: Settings,
        request: CallRequest,
        pending: Sequence[Learned],
        *,
        dialect: str | None = None,
    ) -> Prepared:
        profile = self._profile(settings, request.model, pending, dialect=dialect)
        return prepare(profile, request, settings=settings)

    def _profile(
        self,
        settings: Settings,
        ref: str,
        pending: Sequence[Learned],
        *,
        dialect: str | None = None,
    ) -> Profile:
        name, model = split_ref(ref)
        listing = self._listings.get(name)
        listed: Listed | None = listing.models.get(model) if listing else None

        def look(known: Sequence[Learned]) -> Profile:
            return profile_for(
                name, model, dialect=dialect, settings=settings, known=known, listed=listed
            )

        plain = look(pending)
        kept = self.learned.of(plain.base_url, model)
        return look([*kept, *pending]) if kept else plain

    def _route_of(self, profile: Profile) -> Transport:
        """The transport for a profile: the client's own, the vendor's, or HTTP by its route."""
        if self._fixed is not None:
            return self._fixed
        if profile.vendor.transport is not None:
            made = self._of_vendor.get(profile.name)
            if made is None:
                made = profile.vendor.transport(self.settings)
                self._of_vendor[profile.name] = made
            return made
        endpoint = profile.endpoint
        route = Route()
        if endpoint is not None:
            route = Route(
                proxy=endpoint.proxy,
                ca_file=endpoint.ca_file,
                connect_timeout=endpoint.connect_timeout or CONNECT_TIMEOUT,
            )
        if route not in self._transports:
            self._transports[route] = HttpTransport(self.settings.env, route)
        return self._transports[route]

    def _is_stale(self, place: Place, now: float) -> bool:
        listing = self._listings.get(place.name)
        if listing is None:
            return True
        local = place.source == "local" or not listing.seen
        return now - listing.at > (FRESH_LOCAL if local else FRESH)

    def _view(self, place: Place, listing: Listing) -> EndpointView:
        profile = profile_for(place.name, "-", settings=self.settings)
        endpoint = profile.endpoint
        variables = place.vendor.key_vars
        key_env = endpoint.key_env if endpoint else (variables[0] if variables else None)
        return EndpointView(
            name=place.name,
            label=profile.label,
            url=profile.base_url,
            dialect=profile.door.dialect,
            source=place.source,
            key=has_key(profile, self.settings),
            key_env=key_env,
            models=offered(place, listing),
            like=endpoint.like if endpoint else None,
            removable=place.source == "config",
        )


def _with_level(request: CallRequest) -> CallRequest:
    """The request with its level as a `Level`: programs write words."""
    level = level_choice(request.level)
    return request if level is request.level else replace(request, level=level)


def _vendor_view(name: str, settings: Settings) -> VendorView:
    vendor = vendors()[name]
    found = settings.key(name, vendor.key_vars)
    return VendorView(
        id=name,
        label=vendor.label,
        key_env=vendor.key_vars[0],
        has_key=found is not None,
        key_source=None if found is None else found[1].split(":", 1)[0],
    )
