"""How much a JSON text may become in memory, told before it is read."""

MOST_VALUES = 2_000_000
"""Lists, objects and their members. An empty list is two bytes of JSON and about sixty in memory,
so that a limit on bytes alone would let a body grow thirtyfold."""


def has_too_many_values(raw: bytes) -> bool:
    """True when the JSON text cannot have fewer than `MOST_VALUES` values; commas in strings
    count as well, which a text of a person never has so many of."""
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MOST_VALUES
