"""Endpoints of the person's own: one JSON file that a running server follows."""

import re
from pathlib import Path

import msgspec

from silu.config.files import SharedFile
from silu.types.errors import UserError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server that speaks a known dialect: `name/model-id` from then on.

    `like` borrows the form of a known vendor. `key_env` names the variable with the key; a
    saved key stands in the key store under `name`. `proxy` is a URL, or `""` for none at all.
    Timeouts are seconds: `connect_timeout` until the connection stands, `idle_timeout` without
    any byte (at every level), `total_timeout` for one call.
    """

    name: str
    url: str
    dialect: str | None = None
    like: str | None = None
    key_env: str | None = None
    models: tuple[str, ...] = ()
    proxy: str | None = None
    ca_file: str | None = None
    headers: dict[str, str] = {}
    account: str = ""
    connect_timeout: float | None = None
    idle_timeout: float | None = None
    total_timeout: float | None = None


class EndpointFile:
    """The endpoints file; every look sees what other processes wrote."""

    def __init__(self, path: Path) -> None:
        self._file: SharedFile[dict[str, Endpoint]] = SharedFile(
            path, dict[str, Endpoint], empty=dict[str, Endpoint]
        )

    @property
    def path(self) -> Path:
        return self._file.path

    def all(self) -> dict[str, Endpoint]:
        return self._file.read()

    def get(self, name: str) -> Endpoint | None:
        return self._file.read().get(name)

    def put(self, endpoint: Endpoint) -> None:
        """Add or replace an endpoint; raises `UserError` on a name or URL that cannot work."""
        check_endpoint(endpoint)
        self._file.change(lambda old: {**old, endpoint.name: endpoint})

    def remove(self, name: str) -> bool:
        """Forget an endpoint; False when there was none of that name."""
        if name not in self._file.read():
            return False
        self._file.change(lambda old: {k: v for k, v in old.items() if k != name})
        return True


def check_endpoint(endpoint: Endpoint) -> None:
    if not _NAME.fullmatch(endpoint.name):
        raise UserError(
            f"{endpoint.name!r} is no name for an endpoint.",
            code="bad_argument",
            setting="name",
            fix="Use letters, digits, dots, dashes and underscores, without a slash.",
        )
    if not re.match(r"https?://[^/\s]+", endpoint.url):
        raise UserError(
            f"{endpoint.url!r} is not the address of a server.",
            code="bad_argument",
            setting="url",
            fix="Give the base URL, such as http://127.0.0.1:8000/v1.",
        )
