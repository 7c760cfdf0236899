"""A profile: a vendor's form over a family's facts, for one model behind one address.

`profile_for` finds the vendor, the door and the address of a model and lays over each other what
is known of it (see `capability`).
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from silu.config import Endpoint, Settings
from silu.providers import families, learned
from silu.providers.capability import Listed, capability_of, with_listing, with_override
from silu.providers.catalog import Entry, catalogue
from silu.providers.facts import UNKNOWN, Facts
from silu.providers.forms import plain_form
from silu.providers.vendor import Door, Vendor
from silu.providers.vendors import vendors
from silu.types.capabilities import Capability, Learned, ModelInfo
from silu.types.errors import UserError
from silu.types.parts import Origin
from silu.types.rules import DecodeRules, EncodeRules


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """All that one call needs to know of where it goes and what it may say there.

    `name` is the vendor part of the model reference: an endpoint's name or the vendor's id.
    `base_url` has no trailing slash. `request` holds learned facts about the request itself.
    """

    name: str
    label: str
    vendor: Vendor
    door: Door
    model: str
    base_url: str
    facts: Facts
    capability: Capability
    endpoint: Endpoint | None = None
    request: dict[str, Any] = {}

    @property
    def ref(self) -> str:
        return f"{self.name}/{self.model}"

    @property
    def origin(self) -> Origin:
        return Origin(
            vendor=self.name,
            endpoint=self.base_url,
            account=self.endpoint.account if self.endpoint else "",
            dialect=self.door.dialect,
            model=self.model,
        )

    def decode_rules(self) -> DecodeRules:
        facts = self.facts
        rules = DecodeRules(tags=facts.tags, summary=facts.summaries_only)
        return replace(rules, **self.door.decode(facts, True))

    def encode_rules(self, *, thinking: bool) -> EncodeRules:
        """The codec's rules for one request; `thinking` says whether it asks for thinking."""
        facts = self.facts
        rules = EncodeRules(
            origin=self.origin,
            echo=facts.echo,
            # Blank fillers are harmless while thinking is off, and some hosts ask for them then.
            filler=facts.filler,
            filler_on=facts.filler_on,
            keep_tags=facts.keep_tags,
            tool_choice_ok=allowed_choices(facts, thinking=thinking),
            sampling_ok=may_sample(facts, thinking=thinking, explicit_off=not thinking),
            default_max_tokens=self.default_max_tokens(),
            max_tokens_field=self.request.get("max_tokens_field"),
            include_usage="no_usage_option" not in self.request,
            placeholder_own="signature_filler" in self.request,
        )
        own = self.door.encode(facts, thinking)
        if "max_tokens_field" in self.request:
            own = {key: value for key, value in own.items() if key != "max_tokens_field"}
        return replace(rules, **own)

    def default_max_tokens(self) -> int:
        """An output limit for dialects that must have one: an eighth of the window, at most
        what the model can write."""
        window, most = self.capability.context_window, self.capability.max_output
        share = max(window // 8, 1024) if window else 8192
        return min(share, most) if most else share

    def info(self) -> ModelInfo:
        entry = _entry(self.vendor, self.model)
        return ModelInfo(
            ref=self.ref,
            vendor=self.name,
            model=self.model,
            label=entry.label or self.model,
            vendor_label=self.label,
            capability=self.capability,
            demo=self.vendor.demo,
            local=self.vendor.port is not None or is_loopback(self.base_url),
        )


def is_loopback(url: str) -> bool:
    host = url.split("://", 1)[-1].split("/", 1)[0]
    host = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return host in {"localhost", "[::1]"} or host.startswith("127.")


def allowed_choices(facts: Facts, *, thinking: bool) -> tuple[str, ...]:
    if thinking and facts.tool_choice_thinking is not None:
        return tuple(x for x in facts.tool_choice_thinking if x in facts.tool_choice)
    return facts.tool_choice


def may_sample(facts: Facts, *, thinking: bool, explicit_off: bool) -> bool:
    """Whether temperature and top_p may be sent with this request."""
    match facts.sampling:
        case "free":
            return True
        case "not_thinking":
            return not thinking
        case "only_off":
            return explicit_off
        case "never":
            return False


def split_ref(ref: str) -> tuple[str, str]:
    """`vendor/model-id` in two; the model id may hold slashes of its own."""
    vendor, slash, model = ref.partition("/")
    if not vendor or not slash or not model:
        raise UserError(
            f"{ref!r} names no model.",
            code="unknown_model",
            setting="model",
            fix="Write it as vendor/model-id, such as deepseek/deepseek-v4-flash.",
        )
    return vendor, model


def profile_for(
    name: str,
    model: str,
    *,
    dialect: str | None = None,
    settings: Settings | None = None,
    known: Sequence[Learned] = (),
    listed: Listed | None = None,
) -> Profile:
    """The profile of a model. Without `settings` only built-in vendors are known.

    An id that nobody knows gets, when a `dialect` is given, that dialect's plain rules and an
    address that leads nowhere; without one it raises `UserError` (`unknown_model`).
    """
    endpoint = settings.endpoint(name) if settings else None
    vendor, door, base_url = _place(name, model, dialect, endpoint, settings)
    facts = _facts(vendor, door, model, plain=endpoint is None and name not in vendors())
    override = settings.preferences.models.get(f"{name}/{model}") if settings else None
    facts = with_listing(facts, listed)
    facts = learned.apply(facts, known, off_is_effort=door.off_is_effort)
    facts = with_override(facts, override)
    entry = _entry(vendor, model)
    capability = capability_of(facts, entry, listed=listed, known=known, override=override)
    if own := door.encode(facts, True).get("own_tools"):
        capability = replace(capability, own_tools=tuple(own))
    return Profile(
        name=name,
        label=name if endpoint and name != vendor.id else vendor.label,
        vendor=vendor,
        door=door,
        model=model,
        base_url=base_url,
        facts=facts,
        capability=capability,
        endpoint=endpoint,
        request={item.fact: item.value for item in known if item.fact in _REQUEST_FACTS},
    )


_REQUEST_FACTS = frozenset(
    {"stream_only", "max_tokens_field", "no_usage_option", "max_output", "signature_filler"}
)


def origin_for(
    vendor: str, model: str, dialect: str | None = None, settings: Settings | None = None
) -> Origin:
    """Where answers of this vendor, model and dialect come from: the same for the reader of a
    recorded answer and for the writer of the next request."""
    return profile_for(vendor, model, dialect=dialect, settings=settings).origin


def rules_for(
    vendor: str, model: str, dialect: str | None = None, settings: Settings | None = None
) -> tuple[DecodeRules, Origin]:
    """How to read a recorded answer of any vendor id."""
    profile = profile_for(vendor, model, dialect=dialect, settings=settings)
    return profile.decode_rules(), profile.origin


def _place(
    name: str,
    model: str,
    dialect: str | None,
    endpoint: Endpoint | None,
    settings: Settings | None,
) -> tuple[Vendor, Door, str]:
    """Who serves, how it is spoken to, and where."""
    known = vendors()
    if endpoint is not None:
        wanted = dialect or endpoint.dialect
        vendor = _like(endpoint, known)
        door = vendor.door(wanted, model) or plain_door(wanted or "openai-chat")
        base_url = clean_url(endpoint.url, door.dialect)
        return vendor, vendor.door_at(door, base_url), base_url
    vendor = known.get(name)
    if vendor is not None:
        door = vendor.door(dialect, model)
        if door is None:
            door = plain_door(dialect or vendor.doors[0].dialect)
            return vendor, door, vendor.doors[0].base_url
        base_url = _base_url(vendor, door, settings)
        return vendor, vendor.door_at(door, base_url), base_url
    if dialect is None:
        raise UserError(
            f"There is no vendor or endpoint {name!r}.",
            code="unknown_model",
            setting="model",
            fix=f"Known vendors: {', '.join(sorted(known))}. "
            f"Own ones are added with: silu connect {name} --url URL",
        )
    plain = plain_door(dialect)
    nowhere = f"https://{name.lower()}.invalid{_PREFIX.get(dialect, '')}"
    return Vendor(id=name, label=name, doors=(plain,), needs_key=False), plain, nowhere


def _base_url(vendor: Vendor, door: Door, settings: Settings | None) -> str:
    """A door's address: the one its account or its key belongs to, else the usual one."""
    if settings is None:
        return door.base_url
    if door.place is not None and (own := door.place(settings)):
        return own
    if door.by_key and (found := settings.key(vendor.id, vendor.key_vars)):
        return door.by_key.get(found[1].removeprefix("env:"), door.base_url)
    return door.base_url


_PREFIX = {"openai-chat": "/v1", "openai-responses": "/v1", "mistral-chat": "/v1"}


def _like(endpoint: Endpoint, known: dict[str, Vendor]) -> Vendor:
    like = endpoint.like or (endpoint.name if endpoint.name in known else None)
    if like is None:
        match endpoint.dialect:
            case None | "openai-chat":
                like = "openai-compatible"
            case "anthropic-messages":
                like = "anthropic-compatible"
            case dialect:
                return Vendor(
                    id="compatible",
                    label=endpoint.name,
                    doors=(plain_door(dialect),),
                    needs_key=False,
                )
    if like not in known:
        raise UserError(
            f"The endpoint {endpoint.name!r} is like {like!r}, which is no vendor.",
            code="bad_config",
            setting="like",
            fix=f"Use one of: {', '.join(sorted(known))}.",
        )
    return known[like]


def plain_door(dialect: str) -> Door:
    """A dialect with its plain rules, for a server nothing is known of."""
    for vendor in (vendors()["openai-compatible"], vendors()["anthropic-compatible"]):
        if door := vendor.door(dialect):
            return door
    return Door(dialect=dialect, base_url="", form=plain_form(dialect))


def clean_url(url: str, dialect: str) -> str:
    """A base URL as the codecs' paths want it, from whatever a person copied."""
    url = url.strip().rstrip("/")
    for tail in ("/chat/completions", "/responses", "/messages", "/models", "/chat"):
        url = url.removesuffix(tail)
    if dialect in {"anthropic-messages", "ollama-chat", "gemini-generate"}:
        return url.removesuffix("/v1").removesuffix("/v1beta").removesuffix("/api")
    has_path = "/" in url.split("://", 1)[-1]
    return url if has_path or dialect not in _PREFIX else f"{url}/v1"


def _entry(vendor: Vendor, model: str) -> Entry:
    entry = catalogue().find(vendor.id, model, families.bare(model))
    if entry.context is None and vendor.context_window is not None:
        return replace(entry, context=vendor.context_window)
    return entry


def _facts(vendor: Vendor, door: Door, model: str, *, plain: bool) -> Facts:
    if plain:
        return door.adapt(UNKNOWN, model)
    return door.adapt(families.find(model) or vendor.unknown, model)
