"""The opaque values inside continuity data: what a vendor checks, apart from what holds it."""

from typing import Any, cast

import msgspec

from silu.types.parts import Continuity

_SEALED = ("encrypted_content", "data", "signature", "thoughtSignature", "redactedContent")


def opaque_values(kept: Continuity) -> list[str]:
    """The signatures and sealed texts in it; empty where the part's own text is what goes back.

    A JSON string is itself the value; in an object or array they are looked for by name.
    """
    found = msgspec.json.decode(kept.data)
    if isinstance(found, str):
        return [found] if found else []
    return list(_inside(found))


def _inside(found: Any) -> list[str]:
    if isinstance(found, list):
        return [value for item in cast("list[Any]", found) for value in _inside(item)]
    if not isinstance(found, dict):
        return []
    values: list[str] = []
    for key, value in cast("dict[str, Any]", found).items():
        if key in _SEALED and isinstance(value, str) and value:
            values.append(value)
        elif isinstance(value, (dict, list)):
            values += _inside(value)
    return values
