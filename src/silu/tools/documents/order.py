"""What the reading program is asked, and what it answers."""

import time
from typing import Literal

import msgspec

Kind = Literal["pdf", "docx", "xlsx", "csv", "html", "text"]

MAX_CHARS = 1_000_000
"""Characters of one answer; what comes after them is read by a later order."""

PATIENCE = 30.0
"""Seconds after which the program ends with what it has, well before it is ended."""


class Order(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Read a document from its `start`th page, paragraph or row on (from 1), `count` of them at
    most. `name` is the file's; `charset` what is known of its encoding; `sheet` a workbook's."""

    kind: Kind
    name: str = ""
    start: int = 1
    count: int | None = None
    sheet: str | None = None
    charset: str | None = None
    base_url: str = ""
    max_chars: int = MAX_CHARS


class Extract(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The text. `unit` is what is counted (`pages`, `paragraphs`, `rows`), `last` the last one
    that was read, `total` how many there are where that is known; `more` says that some follow.

    `notes` tell what could not be read; with an `error` there is no text.
    """

    text: str = ""
    title: str = ""
    unit: str = ""
    first: int = 0
    last: int = 0
    total: int | None = None
    more: bool = False
    notes: list[str] = []
    error: str | None = None


class DocumentError(Exception):
    """A document cannot be read; the text says why in half a sentence."""


class Pages:
    """Collects the pages (rows, paragraphs) that an order asks for, as far as they fit."""

    def __init__(self, order: Order) -> None:
        self.first = order.start
        self.last = order.start - 1
        self.full = False
        self._end = None if order.count is None else order.start + order.count - 1
        self._left = order.max_chars
        self._until = time.monotonic() + PATIENCE
        self._texts: list[str] = []

    def wants(self, number: int) -> bool:
        """Whether this page is asked for and there is room left."""
        return not self.full and number >= self.first and (self._end is None or number <= self._end)

    def add(self, number: int, text: str) -> None:
        self._texts.append(text[: self._left])
        self._left -= len(text)
        self.last = number
        self.full = self._left <= 0 or time.monotonic() > self._until

    def over(self, number: int) -> bool:
        """Whether nothing from this page on is wanted."""
        return self.full or (self._end is not None and number > self._end)

    def extract(self, unit: str, *, total: int | None, more: bool, notes: list[str]) -> Extract:
        return Extract(
            text="\n".join(self._texts),
            unit=unit,
            first=self.first,
            last=self.last,
            total=total,
            more=more,
            notes=notes,
        )
