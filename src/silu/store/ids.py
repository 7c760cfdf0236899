"""Names for things: sortable by time, safe in URLs and file names."""

import os
import threading
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class _Numbers:
    """100-bit numbers: 45 bits of milliseconds, then 55 random bits; each above the one before,
    so that what was made later sorts later even within a millisecond."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        stamp = time.time_ns() // 1_000_000
        noise = int.from_bytes(os.urandom(7)) >> 1
        number = (stamp & (1 << 45) - 1) << 55 | noise
        with self._lock:
            if number <= self._last:
                number = self._last + 1 + (noise >> 15)
            self._last = number
        return number


_numbers = _Numbers()


def new_id(prefix: str) -> str:
    """`prefix_` and 20 characters, after every id this process made before."""
    number = _numbers.next()
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(95, -1, -5))


def now_ms() -> int:
    """Now, in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
