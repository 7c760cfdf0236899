"""Token counts of model calls, on one footing for all vendors."""

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Tokens of one model call, normalised.

    `input_tokens` include cached reads and writes; `output_tokens` include reasoning.
    `None` means the vendor did not tell: it is never an estimate and never zero by default.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


def merge(old: Usage, new: Usage) -> Usage:
    """The later report wins, field by field; a field it does not tell keeps its last value."""
    return Usage(
        input_tokens=_last(new.input_tokens, old.input_tokens),
        output_tokens=_last(new.output_tokens, old.output_tokens),
        reasoning_tokens=_last(new.reasoning_tokens, old.reasoning_tokens),
        cache_read_tokens=_last(new.cache_read_tokens, old.cache_read_tokens),
        cache_write_tokens=_last(new.cache_write_tokens, old.cache_write_tokens),
    )


def add(a: Usage, b: Usage) -> Usage:
    """The sum of two calls; a field no call told stays `None`."""
    return Usage(
        input_tokens=_sum(a.input_tokens, b.input_tokens),
        output_tokens=_sum(a.output_tokens, b.output_tokens),
        reasoning_tokens=_sum(a.reasoning_tokens, b.reasoning_tokens),
        cache_read_tokens=_sum(a.cache_read_tokens, b.cache_read_tokens),
        cache_write_tokens=_sum(a.cache_write_tokens, b.cache_write_tokens),
    )


def _last(new: int | None, old: int | None) -> int | None:
    return old if new is None else new


def _sum(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
