"""The server's log: one line an event, as text or JSON, without bodies, thoughts or keys."""

import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.types import Message, Scope, Send

from silu.types.errors import place_of

log = logging.getLogger("silu.access")


class Lines(logging.Formatter):
    """Plain text. `mask` takes every known secret and whatever looks like a key out of a line.

    Of an exception only its type and place are told: its text may hold what people wrote.
    """

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        return self._mask(self.formatMessage(record) + _failure(record))


class JsonLines(Lines):
    """One JSON object a line: `ts` (milliseconds), `level`, `logger`, `message`, and the fields
    an event has of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "ts": int(record.created * 1000),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._mask(record.getMessage() + _failure(record)),
            **getattr(record, "fields", {}),
        }
        return msgspec.json.encode(line).decode()


def _failure(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return f" ({place_of(error)})" if error is not None else ""


class Access:
    """One request for the log: method, path without its query, status, milliseconds."""

    def __init__(self, scope: Scope) -> None:
        self._method: str = scope["method"]
        self._path: str = scope["path"]
        self._begun = time.perf_counter()
        self._status = 0

    def watched(self, send: Send) -> Send:
        """`send`, with an eye on the status."""

        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
            await send(message)

        return sender

    def tell(self) -> None:
        """After the answer, or when the client has gone (status 0)."""
        took = round((time.perf_counter() - self._begun) * 1000)
        fields: dict[str, Any] = {
            "method": self._method,
            "path": self._path,
            "status": self._status,
            "ms": took,
        }
        words = (self._method, self._path, self._status, took)
        log.info("%s %s %d %d ms", *words, extra={"fields": fields})
