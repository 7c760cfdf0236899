"""Facts about models as data: limits and prices, by model id, with their sources.

`models.json` lies beside this file and is read on first use. `scripts/catalogue.py` builds it
from LiteLLM's cost map (MIT, see LICENSE-litellm.txt) under `reviewed.json`. An id with a date or
a suffix behind it is found by its longest known beginning. A vendor's own entry stands above the
model's.
"""

from functools import cache
from importlib.resources import files

import msgspec

from silu.types.capabilities import Prices


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model. Limits are tokens; `None` is "not known", never zero. `source` names one of
    the catalogue's sources, `by` the vendor whose prices these are."""

    label: str | None = None
    context: int | None = None
    output: int | None = None
    images: bool | None = None
    tools: bool | None = None
    documents: bool | None = None
    prices: Prices | None = None
    retires: str | None = None
    source: str | None = None
    by: str | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: str
    licence: str | None = None


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """`models` by bare id; `vendors` holds what differs at one vendor, by its own model id."""

    sources: dict[str, Source]
    models: dict[str, Entry]
    vendors: dict[str, dict[str, Entry]] = {}

    def find(self, vendor: str, model: str, bare: str) -> Entry:
        """The merged entry of a model; empty when nobody knows it. Prices and the day it retires
        are those of this very vendor: another one that serves the same weights has its own."""
        own = _longest(self.vendors.get(vendor, {}), model.lower())
        known = _longest(self.models, bare)
        if known is _EMPTY and "." in bare:
            # Hosts write claude-opus-4.8 for claude-opus-4-8.
            known = _longest(self.models, bare.replace(".", "-"))
        if known.by != vendor:
            known = msgspec.structs.replace(known, prices=None, retires=None)
        return _over(own, known)


@cache
def catalogue() -> Catalogue:
    data = (files(__name__) / "models.json").read_bytes()
    return msgspec.json.decode(data, type=Catalogue)


_EMPTY = Entry()
_BORDERS = frozenset("-@:")


def _longest(entries: dict[str, Entry], name: str) -> Entry:
    """The entry of `name` over that of the longest known id that a date or version may follow."""
    exact = entries.get(name, _EMPTY)
    # From the end, a border at a time: a request must not pay for every model there is.
    for at in range(len(name) - 1, 0, -1):
        if name[at] in _BORDERS and name[:at] in entries and _is_version(name[at:]):
            return _over(exact, entries[name[:at]])
    return exact


def _is_version(rest: str) -> bool:
    """`-20251101`, `-latest`, `-v1`, `-preview-05-20`: the same model, dated or labelled."""
    words = rest[1:].replace(":", "-").split("-")
    return all(
        word in {"latest", "preview", "exp", "v1", "v2", "0"} or (word.isdigit() and len(word) >= 2)
        for word in words
    )


def _over(upper: Entry, lower: Entry) -> Entry:
    if upper is _EMPTY:
        return lower
    changes = {
        name: getattr(lower, name)
        for name in Entry.__struct_fields__
        if getattr(upper, name) is None
    }
    return msgspec.structs.replace(upper, **changes)
