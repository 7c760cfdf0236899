"""One JSON value a line, cut anywhere: bytes in, whole lines out."""

from silu.wire.sse import ALIVE


class NdJson:
    """Splits a byte stream into lines; an empty one is delivered as `ALIVE`."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        """The lines completed by these bytes, under no name."""
        if b"\n" not in chunk:
            if chunk:
                self._parts.append(chunk)
            return []
        lines = b"".join([*self._parts, chunk]).split(b"\n")
        rest = lines.pop()
        self._parts = [rest] if rest else []
        return self._take(lines)

    def close(self) -> list[tuple[bytes, bytes]]:
        """The last line, when the body ended without its line end."""
        last, self._parts = b"".join(self._parts), []
        return self._take([last]) if last.strip() else []

    def _take(self, lines: list[bytes]) -> list[tuple[bytes, bytes]]:
        out: list[tuple[bytes, bytes]] = []
        for line in lines:
            if line.strip():
                out.append((b"", line.rstrip(b"\r")))
            else:
                out.append(ALIVE)
        return out
