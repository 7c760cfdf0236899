"""AWS event stream (`application/vnd.amazon.eventstream`), cut anywhere: bytes in, events out.

A message is: total length and header length (4 bytes each, big-endian), a CRC-32 of these,
headers, payload, a CRC-32 of all before. Only string headers (type 7) carry what we need.
"""

import struct
import zlib

BROKEN = b":broken"
"""The name under which damage is told; the data says what it is."""

EXCEPTION = b"exception:"
"""Put in front of an exception's name."""

_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header value by its type; 6 and 7 bring their own length."""

_LARGEST = 1 << 24
"""AWS allows 16 MB a message; more means that this is no event stream."""


class EventStream:
    """Splits a byte stream into `(event name, payload)` pairs."""

    __slots__ = ("_broken", "_parts", "_size", "_wanted")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._wanted = 16
        self._broken = False

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        """The events completed by these bytes; after damage nothing more comes."""
        if self._broken or not chunk:
            return []
        self._parts.append(chunk)
        self._size += len(chunk)
        if self._size < self._wanted:
            return []
        return self._take(b"".join(self._parts))

    def close(self) -> list[tuple[bytes, bytes]]:
        """A message that is not whole is none."""
        return []

    def _take(self, data: bytes) -> list[tuple[bytes, bytes]]:
        out: list[tuple[bytes, bytes]] = []
        at = 0
        self._wanted = 16
        while len(data) - at >= 16:
            total, headers = struct.unpack_from(">II", data, at)
            if not self._sound(data, at, total, headers):
                return self._damaged(out, b"a message with a wrong length or checksum")
            if len(data) - at < total:
                self._wanted = total
                break
            message = data[at : at + total]
            if zlib.crc32(message[:-4]) != struct.unpack(">I", message[-4:])[0]:
                return self._damaged(out, b"a message with a wrong checksum")
            name = _name(message[12 : 12 + headers])
            if name is None:
                return self._damaged(out, b"a message with unreadable headers")
            out.append((name, message[12 + headers : -4]))
            at += total
        rest = data[at:]
        self._parts, self._size = ([rest] if rest else []), len(rest)
        return out

    @staticmethod
    def _sound(data: bytes, at: int, total: int, headers: int) -> bool:
        if not 16 <= total <= _LARGEST or headers > total - 16:
            return False
        return zlib.crc32(data[at : at + 8]) == struct.unpack_from(">I", data, at + 8)[0]

    def _damaged(self, out: list[tuple[bytes, bytes]], what: bytes) -> list[tuple[bytes, bytes]]:
        self._broken = True
        self._parts = []
        return [*out, (BROKEN, what)]


def _name(headers: bytes) -> bytes | None:
    """The event's or exception's name; `None` when the headers cannot be read."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(headers):
        size = headers[at]
        key = headers[at + 1 : at + 1 + size]
        at += 1 + size
        if at >= len(headers):
            return None
        kind = headers[at]
        at += 1
        if kind in (6, 7):
            if at + 2 > len(headers):
                return None
            length = struct.unpack_from(">H", headers, at)[0]
            found[key] = headers[at + 2 : at + 2 + length]
            at += 2 + length
        elif kind in _SIZES:
            at += _SIZES[kind]
        else:
            return None
    if found.get(b":message-type") in (b"exception", b"error"):
        return EXCEPTION + found.get(b":exception-type", found.get(b":error-code", b""))
    return found.get(b":event-type", b"")
