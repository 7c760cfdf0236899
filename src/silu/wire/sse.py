"""Server-sent events, cut anywhere: bytes in, whole events out."""

_BOM = b"\xef\xbb\xbf"

ALIVE = (b":", b"")
"""Stands in the place of a comment: a sign of life, no event."""


class Sse:
    """Splits a byte stream into `(event name, data)` pairs; nothing is decoded before it is whole.

    Lines end with LF, CRLF or CR, and an event is delivered as soon as its empty line has come,
    in all three. A comment is delivered as `ALIVE`, an event without data not at all.
    """

    __slots__ = ("_begun", "_data", "_more", "_name", "_parts", "_skip_lf")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._data: bytes | None = None
        self._more: list[bytes] = []
        self._name = b""
        self._begun = False
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        """The events completed by these bytes."""
        if not self._begun:
            chunk = self._first(chunk)
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._skip_lf = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            if chunk:
                self._parts.append(chunk)
            return []
        if self._parts:
            self._parts.append(chunk)
            chunk = b"".join(self._parts)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        self._parts = [rest] if rest else []
        return self._take(lines)

    def close(self) -> list[tuple[bytes, bytes]]:
        """The last event, when the body ended without its empty line or its line end."""
        last = [b"".join(self._parts)] if self._parts else []
        self._parts = []
        return self._take([*last, b""])

    def _first(self, chunk: bytes) -> bytes:
        """The body's first bytes, without a byte order mark; held back while they may be one."""
        head = b"".join([*self._parts, chunk])
        self._parts = []
        if len(head) < 3 and _BOM.startswith(head):
            self._parts = [head]
            return b""
        self._begun = True
        return head.removeprefix(_BOM)

    def _take(self, lines: list[bytes]) -> list[tuple[bytes, bytes]]:
        out: list[tuple[bytes, bytes]] = []
        data, name, more = self._data, self._name, self._more
        for line in lines:
            if not line:
                if data is not None:
                    if more:
                        data = b"\n".join([data, *more])
                        more.clear()
                    out.append((name, data))
                    data = None
                name = b""
            elif line[:6] == b"data: " and data is None:
                data = line[6:]
            elif line[:6] == b"event:":
                name = line[6:].strip()
            elif line[0] == 58:
                out.append(ALIVE)
            elif line[:5] == b"data:" or line == b"data":
                rest = line[6:] if line[5:6] == b" " else line[5:]
                if data is None:
                    data = rest
                else:
                    more.append(rest)
        self._data, self._name = data, name
        return out
