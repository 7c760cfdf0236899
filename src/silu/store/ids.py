"""Names for things: sortable by time, safe in URLs and file names."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """`prefix_` and 20 characters: 45 bits of milliseconds, then 55 random bits."""
    stamp = time.time_ns() // 1_000_000
    number = (stamp & (1 << 45) - 1) << 55 | int.from_bytes(os.urandom(7)) >> 1
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(95, -1, -5))


def now_ms() -> int:
    """Now, in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
