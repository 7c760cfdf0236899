"""Signatures the fakes make and check: bound to model, text and place, optionally to the prefix.

A seal needs no memory: it carries a digest of the prefix and a keyed digest over everything, so
that a fake that was restarted with the same secret still knows its own.
"""

import base64
import hashlib
import hmac
from typing import Any, Literal

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def digest(value: object) -> bytes:
    """A short digest of a JSON value, free of key order."""
    return hashlib.sha256(_encoder.encode(value)).digest()[:12]


def strip_marks(value: Any) -> Any:
    """The value without cache marks, which may move between requests."""
    if isinstance(value, dict):
        return {
            key: strip_marks(item)
            for key, item in value.items()  # pyright: ignore[reportUnknownVariableType] -- any JSON
            if key != "cache_control"
        }
    if isinstance(value, list):
        return [strip_marks(item) for item in value]  # pyright: ignore[reportUnknownVariableType] -- any JSON
    return value


def make(secret: str, *, scope: str, text: str, place: int, prefix: bytes) -> str:
    """The signature of a thought; `scope` is the model (and endpoint) that gives it."""
    mac = _mac(secret, scope, text, place, prefix)
    return base64.b64encode(b"\x12\x0c" + prefix + mac).decode()


def check(
    seal: str, secret: str, *, scope: str, text: str, place: int, prefix: bytes
) -> Literal["good", "invalid", "moved"]:
    """`moved`: the seal is ours and untouched, but stands behind another prefix."""
    try:
        raw = base64.b64decode(seal, validate=True)
    except ValueError:
        return "invalid"
    told, mac = raw[2:14], raw[14:]
    if not hmac.compare_digest(mac, _mac(secret, scope, text, place, told)):
        return "invalid"
    return "good" if told == prefix else "moved"


def _mac(secret: str, scope: str, text: str, place: int, prefix: bytes) -> bytes:
    said = "\0".join((scope, str(place), text)).encode() + b"\0" + prefix
    return hmac.new(secret.encode(), said, hashlib.sha256).digest()
