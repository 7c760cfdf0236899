"""What all decoders share: framing, error bodies, the end of a stream.

A body takes one of two ways. *Events*: the framing (SSE, NDJSON, AWS event stream) cuts it and
each payload is read as it comes. *Whole*: the bytes are kept and read at the end. Which one is
chosen by what was asked for, by the status and by the first byte: a plain JSON answer or a web
page on a stream is read for what it is (F033), and so are events where one document was due.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import msgspec

from silu.types.errors import Failure
from silu.types.events import Finish, FinishReason, Keepalive, StreamEvent, VendorFailure
from silu.types.rules import DecodeRules
from silu.wire.blocks import BlockWriter
from silu.wire.errors import bad_data, cut, failure_from_body
from silu.wire.sse import ALIVE, Sse

Payload = tuple[bytes, bytes]
"""An event's name (empty where it has none) and its data."""


_QUIET = 3
"""So many keep-alives in a row behind a finish reason mean that nothing else comes."""


class Framing(Protocol):
    """Cuts a byte stream into payloads; signs of life come as `ALIVE`."""

    def feed(self, chunk: bytes) -> list[Payload]: ...

    def close(self) -> list[Payload]: ...


class BaseDecoder(ABC):
    """A dialect implements `_payload`, `_whole` and `_tail`; see `Decoder` for the contract.

    `_finish`, once set, is told by `_finalise` when nothing more of value can come; `_over` means
    that nothing is read any more.
    """

    _dialect = ""
    _binary = False

    def __init__(
        self,
        rules: DecodeRules,
        *,
        streaming: bool,
        status: int,
        framing: Callable[[], Framing] = Sse,
        unsigned: str | None = None,
    ) -> None:
        self._rules = rules
        self._status = status
        self._writer = BlockWriter(rules, unsigned=unsigned)
        self._make_framing = framing
        self._framing: Framing = framing()
        self._events = False
        self._sniffing = streaming and 200 <= status < 300
        self._body: list[bytes] = []
        self._finish: Finish | None = None
        self._finished = False
        self._over = False
        self._quiet = 0

    @property
    def ended(self) -> bool:
        return self._finished or self._over

    def feed(self, data: bytes) -> list[StreamEvent]:
        out: list[StreamEvent] = []
        self._writer.out = out
        if self._events:
            self._read(self._framing.feed(data))
            return out
        if self._over:
            return out
        self._body.append(data)
        if self._sniffing:
            self._sniff()
        elif not data.strip():
            out.append(Keepalive())
        return out

    def close(self) -> list[StreamEvent]:
        out: list[StreamEvent] = []
        self._writer.out = out
        if self._over:
            return out
        if self._events:
            self._read(self._framing.close())
        else:
            self._close_whole(b"".join(self._body))
            self._body.clear()
        if not self._over and not self._finished:
            if self._finish is not None:
                self._finalise()
            else:
                self._fail(cut())
        self._over = True
        return out

    # -- for the dialects

    @abstractmethod
    def _payload(self, name: bytes, data: bytes) -> None:
        """Read one event; a `msgspec.DecodeError` fails the answer as unreadable."""

    @abstractmethod
    def _whole(self, body: bytes) -> None:
        """Read one document, by the same path as events; errors as in `_payload`."""

    def _tail(self, reason: FinishReason | None) -> None:
        """Close what the dialect keeps open; `reason` is `None` when the answer was cut."""
        self._writer.finish(reason)

    def _emit(self, event: StreamEvent) -> None:
        self._writer.out.append(event)

    def _set_finish(self, reason: FinishReason, raw: str | None, detail: str | None = None) -> None:
        self._finish = Finish(reason, raw, detail)

    def _finalise(self) -> None:
        """The answer is complete: close the blocks and say so, once."""
        if self._finished or self._over:
            return
        if self._finish is None:
            self._fail(cut())
            return
        self._finished = True
        self._tail(self._finish.reason)
        self._emit(self._finish)

    def _terminate(self) -> None:
        """The vendor's terminal event has come: what follows it is not read."""
        self._finalise()
        self._over = True

    def _fail(self, failure: Failure) -> None:
        """The answer failed: blocks are closed, nothing comes after."""
        if not self._finished:
            self._tail(None)
        self._over = True
        self._emit(VendorFailure(failure))

    # -- events

    def _sniff(self) -> None:
        head = b"".join(self._body)
        if not self._binary:
            start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start or b"\xef\xbb\xbf".startswith(head):
                return
            if self._looks_whole(start):
                self._sniffing = False
                return
        self._sniffing = False
        self._events = True
        self._body.clear()
        self._read(self._framing.feed(head))

    def _looks_whole(self, start: bytes) -> bool:
        return start[:1] in (b"{", b"[", b"<", b'"')

    def _read(self, payloads: list[Payload]) -> None:
        for payload in payloads:
            if self._over:
                return
            if payload is ALIVE:
                self._alive()
                continue
            self._quiet = 0
            name, data = payload
            try:
                self._payload(name, data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                self._unreadable(data, error)

    def _alive(self) -> None:
        """A sign of life. DeepSeek's can go on for ever after the answer is complete: once it is
        finished and only they come, nothing is waited for."""
        self._emit(Keepalive())
        self._quiet += 1
        if self._finish is not None and self._quiet >= _QUIET:
            self._finalise()

    def _unreadable(self, data: bytes, error: Exception) -> None:
        if self._finished:
            self._over = True
        elif self._finish is not None and "truncated" in str(error):
            self._finalise()  # only the counting behind the answer is lost
        elif "truncated" in str(error) or isinstance(error, UnicodeDecodeError):
            self._fail(cut("the stream broke off within a piece of data"))
        elif data.lstrip()[:1] == b"<":
            self._fail(failure_from_body(self._status, data))
        else:
            self._fail(bad_data(f"a piece of the {self._dialect} stream: {_told(error)}"))

    # -- whole bodies

    def _close_whole(self, body: bytes) -> None:
        text = body.removeprefix(b"\xef\xbb\xbf").strip()
        if not 200 <= self._status < 300 or text[:1] == b"<":
            self._fail(failure_from_body(self._status, text))
        elif not text:
            self._fail(cut("no answer came at all"))
        elif not self._looks_whole(text) and self._looks_framed(text):
            self._events = True
            self._read(self._framing.feed(body))
            self._read(self._framing.close() if not self._over else [])
        else:
            self._read_whole(text)

    def _looks_framed(self, text: bytes) -> bool:
        return text.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))

    def _read_whole(self, text: bytes) -> None:
        try:
            self._whole(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if "truncated" in str(error) or isinstance(error, UnicodeDecodeError):
                self._fail(cut("its body is incomplete"))
            else:
                self._fail(bad_data(f"no {self._dialect} answer: {_told(error)}"))


def _told(error: Exception) -> str:
    """The reason in a few words, without any of the data."""
    return str(error).split("\n", maxsplit=1)[0][:160] or type(error).__name__
