"""Keys the person saved: in a 0600 file, or in the OS keyring where one is at hand."""

import importlib
from pathlib import Path
from typing import Any

from silu.config.files import SharedFile
from silu.config.secrets import Secret

_SERVICE = "silu"


class KeyStore:
    """Saved keys by vendor or endpoint name.

    `keys.json` maps a name to its key, or to `null` where the OS keyring holds it. Other
    processes' changes are seen at the next look.
    """

    def __init__(self, path: Path, *, keyring: Any = "find") -> None:
        self._file: SharedFile[dict[str, str | None]] = SharedFile(
            path, dict[str, str | None], empty=dict[str, str | None]
        )
        self._keyring_choice = keyring
        self._from_ring: dict[str, Secret] = {}

    def get(self, name: str) -> Secret | None:
        names = self._file.read()
        if name not in names:
            return None
        value = names[name]
        return Secret(value) if value is not None else self._ring_get(name)

    def names(self) -> list[str]:
        return sorted(self._file.read())

    def save(self, name: str, key: str) -> None:
        """Keep a key; an empty one removes it."""
        if not key:
            self.remove(name)
            return
        ring = self._keyring()
        in_ring = ring is not None and _ring_set(ring, name, key)
        self._from_ring.pop(name, None)
        self._file.change(lambda names: {**names, name: None if in_ring else key})

    def remove(self, name: str) -> None:
        names = self._file.read()
        if name not in names:
            return
        ring = self._keyring()
        if names[name] is None and ring is not None:
            ring.delete_password(_SERVICE, name)
        self._from_ring.pop(name, None)
        self._file.change(lambda old: {k: v for k, v in old.items() if k != name})

    def all(self) -> list[Secret]:
        """Every saved key, for masking."""
        found = (self.get(name) for name in self.names())
        return [secret for secret in found if secret is not None]

    def _ring_get(self, name: str) -> Secret | None:
        # Asked once a process: a keyring answers over D-Bus, and every masked text needs it.
        if name not in self._from_ring:
            ring = self._keyring()
            value = ring.get_password(_SERVICE, name) if ring is not None else None
            if value is None:
                return None
            self._from_ring[name] = Secret(value)
        return self._from_ring[name]

    def _keyring(self) -> Any:
        if self._keyring_choice == "find":
            self._keyring_choice = _find_keyring()
        return self._keyring_choice


def _find_keyring() -> Any:
    """The `keyring` module when it is installed and has a real backend, else `None`."""
    try:
        module = importlib.import_module("keyring")
    except ImportError:
        return None
    # Backends that only refuse ("fail", "null") have a priority below 1.
    return module if module.get_keyring().priority >= 1 else None


def _ring_set(ring: Any, name: str, key: str) -> bool:
    """True when the keyring took the key; a locked or failing one leaves it to the file."""
    errors = importlib.import_module(f"{ring.__name__}.errors")
    try:
        ring.set_password(_SERVICE, name, key)
    except errors.KeyringError:
        return False
    return True
