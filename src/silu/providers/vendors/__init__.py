"""One file a vendor: `VENDOR` (or `VENDORS`). A file here is found by being here.

Packages outside add vendors through the entry point group `silu.vendors`: each entry gives a
`Vendor` or a tuple of them.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any, cast

from silu.providers.vendor import Vendor
from silu.types.errors import UserError

GROUP = "silu.vendors"


@cache
def vendors() -> dict[str, Vendor]:
    """Every vendor by id, our own first; one from outside cannot replace one of ours."""
    found = {vendor.id: vendor for vendor in sorted(_ours(), key=lambda v: (v.rank, v.label))}
    for entry in entry_points(group=GROUP):
        for vendor in _of(entry.load()):
            if found.setdefault(vendor.id, vendor) is not vendor:
                raise UserError(
                    f"The package behind {entry.value!r} names a vendor {vendor.id!r}, "
                    "which is taken.",
                    code="bad_vendor",
                    setting=entry.name,
                    fix="Remove the package or give its vendor another id.",
                )
    return found


def _ours() -> Iterator[Vendor]:
    for info in iter_modules(__path__):
        module = import_module(f"{__name__}.{info.name}")
        yield from _of(getattr(module, "VENDORS", None) or getattr(module, "VENDOR", ()))


def _of(value: Any) -> Iterator[Vendor]:
    items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    for item in items:
        if not isinstance(item, Vendor):
            raise UserError(f"{item!r} is not a vendor.", code="bad_vendor", setting=GROUP)
        yield item
