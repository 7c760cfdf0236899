"""Tokens the person gave to programs: one JSON file that a running process follows.

A token's text is shown once and never kept: the file has its digest.
"""

import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from silu.config.files import SharedFile
from silu.types.access import TokenCreate, TokenCreated, TokenList, TokenView

PREFIX = "silu_"
_DAY_MS = 24 * 3600 * 1000


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    models: list[str] = []
    per_minute: int | None = None
    created_at: int = 0
    expires_at: int | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """By the sha256 (hex) of the token's text."""

    tokens: dict[str, _Kept] = {}


class TokenFile:
    """`tokens.json` in the config folder; `clock` gives seconds since 1970."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._file: SharedFile[_File] = SharedFile(path, _File, empty=_File)
        self._clock = clock

    def create(self, wish: TokenCreate) -> TokenCreated:
        text = PREFIX + secrets.token_urlsafe(32)
        now = int(self._clock() * 1000)
        kept = _Kept(
            id=secrets.token_hex(6),
            name=wish.name,
            models=list(wish.models),
            per_minute=wish.per_minute,
            created_at=now,
            expires_at=None if wish.days is None else now + wish.days * _DAY_MS,
        )
        self._file.change(lambda old: _File(tokens={**old.tokens, _digest(text): kept}))
        return TokenCreated(token=_view(kept), text=text)

    def all(self) -> TokenList:
        """Oldest first; those that no longer hold are left out."""
        kept = sorted(self._file.read().tokens.values(), key=lambda one: one.created_at)
        return TokenList(tokens=[_view(one) for one in kept if self._holds(one)])

    def find(self, text: str) -> TokenView | None:
        """The token of that text, when it holds."""
        kept = self._file.read().tokens.get(_digest(text))
        return _view(kept) if kept is not None and self._holds(kept) else None

    def revoke(self, token_id: str) -> bool:
        """Forget a token, from now on; False when there was none."""
        known = token_id in {one.id for one in self._file.read().tokens.values()}
        if known:
            self._file.change(
                lambda old: _File(tokens={k: v for k, v in old.tokens.items() if v.id != token_id})
            )
        return known

    def _holds(self, kept: _Kept) -> bool:
        return kept.expires_at is None or kept.expires_at > self._clock() * 1000


def _view(kept: _Kept) -> TokenView:
    return msgspec.convert(msgspec.to_builtins(kept), TokenView)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
