"""Who serves models: the shape of a file in `vendors/`.

A vendor file holds one `VENDOR` (or a tuple `VENDORS`): addresses, keys, the form its switches
take, and the source of each fact. Everything else here is generic.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from silu.providers.facts import UNKNOWN, Facts
from silu.types.calls import HttpRequest, Transport
from silu.types.levels import Level

if TYPE_CHECKING:
    from silu.config import Settings

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "none"]


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What the resolver decided for one request: `level` is off, a level of the facts, or
    `ADAPTIVE` where the facts have it; `budget` is in tokens where they have budgets."""

    level: Level
    budget: int | None = None

    @property
    def on(self) -> bool:
        return self.level is not Level.OFF


Form = Callable[[Facts, Ask], dict[str, Any]]
"""How a vendor writes a level: the body fields for it, merged into the request."""

Adapt = Callable[[Facts, str], Facts]
"""A vendor's own view of a family: (facts, model id) → facts as they hold here."""

Rules = Callable[[Facts, bool], dict[str, Any]]
"""Fields of `EncodeRules` (or of `DecodeRules`) that differ here: (facts, thinking on)."""


def _as_they_are(facts: Facts, model: str) -> Facts:
    return facts


def _no_rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {}


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a request is like, for rules that depend on it.

    `complete` is true when every assistant message that goes back has its own thinking with it.
    """

    thinking: bool
    tools: bool
    stream: bool
    complete: bool


HeaderRules = Callable[[Facts, Turn], dict[str, str]]
"""Headers that depend on the request."""
BodyRules = Callable[[Facts, Turn], dict[str, Any]]
"""Body fields beside the level, merged into the request."""


Place = Callable[["Settings"], str | None]
"""A base URL out of the settings: resource, project, region."""
Rewrite = Callable[[HttpRequest], HttpRequest]
"""The same request in another envelope; pure."""
Sign = Callable[[HttpRequest, "Settings"], Awaitable[HttpRequest]]
"""The request with its sign-in; raises `UserError` naming what is not set."""


def _no_headers(facts: Facts, turn: Turn) -> dict[str, str]:
    return {}


EndThinking = Callable[[str], tuple[str, dict[str, Any]]]
"""The request that ends the thought of a running answer, by that answer's id: path and body."""


def _no_body(facts: Facts, turn: Turn) -> dict[str, Any]:
    return {}


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """One dialect at a vendor: where it is and how it is spoken there.

    `base_url` is what the dialect's path is put after; `headers` are constant ones.
    `off_is_effort` is true where off is a word of the effort list; `stream_only` where
    answers with thinking come as streams only. `by_key` maps a key's variable to the base URL of
    the platform that hands such keys out. `place` finds an address that depends on the account
    (`None`: not set up). `rewrite` puts a request into the shape of another gateway; `sign`
    makes its sign-in when it is sent. `end_thinking`: the vendor can be told to end a thought
    and begin the answer.
    """

    dialect: str
    base_url: str
    form: Form
    auth: Auth = "bearer"
    headers: dict[str, str] = {}
    off_is_effort: bool = False
    header_rules: HeaderRules = _no_headers
    body_rules: BodyRules = _no_body
    end_thinking: EndThinking | None = None
    stream_only: bool = False
    by_key: dict[str, str] = {}
    place: Place | None = None
    rewrite: Rewrite | None = None
    sign: Sign | None = None
    adapt: Adapt = _as_they_are
    encode: Rules = _no_rules
    decode: Rules = _no_rules


class Vendor(msgspec.Struct, frozen=True, kw_only=True):
    """A vendor. `doors` are its dialects, the preferred one first; `door_of` picks another one
    for a model (`None`: the first). Of two doors of one dialect the later one holds only at its
    own address.

    `rank` orders vendors for people (then their label): those that work with only a key first.
    `unknown` are the facts of models of no known family. `start_models` are tried in order as
    this vendor's own start model. `port` marks a local server. `models` are ids to offer when
    the vendor cannot be asked. `transport` replaces the network (the demo plays transcripts).
    `context_window` is that of its models where the catalogue has none, in tokens.
    `sources` say where the facts of the file are from, with dates.
    """

    id: str
    label: str
    doors: tuple[Door, ...]
    rank: int = 100
    key_vars: tuple[str, ...] = ()
    needs_key: bool = True
    start_models: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    unknown: Facts = UNKNOWN
    door_of: Callable[[str], str] | None = None
    port: int | None = None
    listing: Literal["models", "ollama", "gemini", "none"] = "models"
    transport: "Callable[[Settings], Transport] | None" = None
    demo: bool = False
    context_window: int | None = None
    ready: "Callable[[Settings], bool] | None" = None
    notes: dict[str, str] = {}
    sources: tuple[str, ...] = ()

    def door(self, dialect: str | None = None, model: str = "") -> Door | None:
        """The door for a dialect (`None`: the preferred one for `model`)."""
        wanted = dialect or (self.door_of(model) if self.door_of else self.doors[0].dialect)
        return next((door for door in self.doors if door.dialect == wanted), None)

    def door_at(self, door: Door, base_url: str) -> Door:
        """The door of the same dialect that is known to be at this address, else the given one:
        a vendor's platforms may differ in form, such as one for coding plans."""
        same = (one for one in self.doors if one.dialect == door.dialect)
        return next((one for one in same if one.base_url == base_url), door)


def own_url(variable: str) -> Place:
    """An address the person may set by a variable, such as another region's."""

    def place(settings: "Settings") -> str | None:
        url = settings.env.get(variable)
        return url.rstrip("/") if url else None

    return place
