"""Keys that never show: a wrapper whose text is stars, and a mask for foreign text."""

import json
import re
from collections.abc import Iterable, Iterator

STARS = "***"

# Beginnings of keys that vendors hand out, bearer values, key parameters in URLs. Long enough
# tails only, so that ordinary words ("sk-learn") stay readable.
_KEY_LIKE = re.compile(
    r"(?:sk|pk|rk|xai|gsk|csk|nvapi|fw|tgp|hf|ak|ms|tp|key)[-_][A-Za-z0-9][A-Za-z0-9_\-.*]{14,}"
    r"|AIza[A-Za-z0-9_\-]{20,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}"
)
_AFTER_NAME = re.compile(
    r"(?i)(\bbearer\s+|\b(?:x-)?(?:goog-)?api[-_]?key[\"']?\s*[:=]\s*[\"']?"
    r"|\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?|[?&](?:key|token)=)"
    r"([A-Za-z0-9_\-.+/=~]{6,})"
)


class Secret:
    """A key. `reveal()` gives it; printing, logging and comparing by text do not."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({STARS})"

    def __str__(self) -> str:
        return STARS

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written out")


def mask(text: str, secrets: Iterable[Secret] = ()) -> str:
    """`text` with every one of `secrets`, and whatever looks like a key, replaced by stars."""
    for value in _maskable(secrets):
        text = text.replace(value, STARS)
    text = _AFTER_NAME.sub(lambda found: found.group(1) + STARS, text)
    return _KEY_LIKE.sub(STARS, text)


def mask_body(body: bytes, secrets: Iterable[Secret]) -> bytes:
    """A JSON body with every one of `secrets` replaced by stars, and nothing else changed: it
    shows what was sent, and a long history must not be searched for patterns at every call."""
    for value in _maskable(secrets):
        escaped = json.dumps(value, ensure_ascii=False)[1:-1].encode()
        body = body.replace(escaped, STARS.encode())
    return body


def _maskable(secrets: Iterable[Secret]) -> Iterator[str]:
    """What of `secrets` is long enough to be told from ordinary words."""
    return (value for secret in secrets if len(value := secret.reveal()) >= 4)
