"""Who may speak to the gateway: one-time links, cookies, bearer tokens, Host and Origin.

The owner's browser gets a link with a one-time token in the URL fragment (which no server or
proxy log sees), posts it once and gets a cookie. Programs send a bearer token. A page of another
site can do neither: every handshake and every request that changes something needs an exactly
equal `Origin`, or none and a bearer token; `Host` is checked against DNS rebinding.
"""

import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Literal

import msgspec

from silu.types.access import TokenView

LINK_SECONDS = 600
COOKIE_SECONDS = 30 * 24 * 3600
SAFE_METHODS = frozenset({"GET", "HEAD"})
"""OPTIONS is not among them: a preflight from another site gets a plain refusal."""

_FAILURES_PER_MINUTE = 20
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class RefusalError(Exception):
    """This request is not let in: HTTP `status`, a stable `code`, one sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class Principal(msgspec.Struct, frozen=True):
    """Whoever speaks: the owner, known by cookie or by bearer token, or a program with a token
    of its own (`scoped`), which opens the compatible routes only."""

    name: str
    via: Literal["cookie", "bearer"]
    scoped: TokenView | None = None


def _no_tokens(text: str) -> TokenView | None:
    return None


class Guard:
    """The gateway's door for one listening address.

    `secret` signs cookies and outlives restarts; `owner_token` is the owner's bearer token;
    `hosts` are further names (`name` or `name:port`) under which the gateway is reached, for
    instance behind a proxy. `scoped` finds a token that a program was given, by its text.
    `clock` gives seconds since 1970.
    """

    def __init__(
        self,
        *,
        port: int,
        bind: str,
        secret: bytes,
        owner_token: str,
        hosts: Iterable[str] = (),
        scoped: Callable[[str], TokenView | None] = _no_tokens,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cookie_name = f"silu_{port}"
        self._secret = secret
        self._owner_token = owner_token.encode()
        self._hosts = frozenset(host.lower() for host in hosts)
        self._bind = bind.strip("[]").lower()
        self._scoped = scoped
        self._clock = clock
        self._links: dict[str, float] = {}
        self._failures: list[float] = []

    # ------------------------------------------------------------------ one-time links

    def new_link_token(self) -> str:
        """A token for one browser, good for one use within ten minutes."""
        token = secrets.token_urlsafe(24)
        now = self._clock()
        self._links = {k: until for k, until in self._links.items() if until > now}
        self._links[_digest(token)] = now + LINK_SECONDS
        return token

    def trade(self, token: str) -> str:
        """A `Set-Cookie` value for a one-time token or the owner's bearer token."""
        until = self._links.pop(_digest(token), 0.0)
        if until > self._clock() or self._is_owner_token(token):
            return self._cookie(self._signed(self._clock() + COOKIE_SECONDS), COOKIE_SECONDS)
        self._count_failure()
        raise RefusalError(
            401,
            "bad_token",
            "This link has been used or is older than ten minutes. Run `silu open` for a new one.",
        )

    def farewell(self) -> str:
        """A `Set-Cookie` value that ends the browser's session."""
        return self._cookie("", 0)

    # ------------------------------------------------------------------------ requests

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse a `Host` that is not ours: a rebound DNS name carries the attacker's name."""
        host = headers.get("host", "").lower()
        name = _host_name(host)
        if name and (name in _LOCAL_NAMES or host in self._hosts or name in self._hosts):
            return
        if name and self._bound_to(name):
            return
        raise RefusalError(
            403,
            "wrong_host",
            "This address is not known to the gateway. Add it to SILU_HOSTS to allow it.",
        )

    def check_origin(self, method: str, headers: Mapping[str, str], *, handshake: bool) -> bool:
        """True when the request names an equal origin; refuses a different one.

        Without `Origin`, anything but a plain read must carry a bearer token.
        """
        origin = headers.get("origin")
        if origin is not None:
            if origin.lower() in self._own_origins(headers.get("host", "")):
                return True
            raise RefusalError(403, "wrong_origin", "Requests from another site are refused.")
        changes = handshake or method not in SAFE_METHODS
        if changes and _bearer(headers) is None:
            raise RefusalError(
                403, "no_origin", "Without an Origin header a bearer token is needed for this."
            )
        return False

    def identify(self, headers: Mapping[str, str], *, bearer_only: bool = False) -> Principal:
        """The speaker of a request whose host and origin have been checked."""
        token = _bearer(headers)
        if token is not None:
            if self._is_owner_token(token):
                return Principal("owner", "bearer")
            scoped = self._scoped(token)
            if scoped is not None and bearer_only:
                return Principal(scoped.name, "bearer", scoped)
            if scoped is not None:
                raise RefusalError(403, "wrong_scope", "This token opens the routes of /v1 only.")
            self._count_failure()
            raise RefusalError(401, "bad_token", "The bearer token is not valid. Check SILU_TOKEN.")
        if bearer_only:
            raise RefusalError(401, "no_token", "Send `Authorization: Bearer …` with a token.")
        if self._cookie_valid(headers.get("cookie", "")):
            return Principal("owner", "cookie")
        raise RefusalError(
            401, "signed_out", "Open the link that `silu serve` printed, or run `silu open`."
        )

    # ------------------------------------------------------------------------- details

    def _own_origins(self, host: str) -> tuple[str, ...]:
        host = host.lower()
        if _host_name(host) in _LOCAL_NAMES:
            return (f"http://{host}",)
        return (f"http://{host}", f"https://{host}")

    def _bound_to(self, name: str) -> bool:
        """An address literal cannot be rebound; it is ours when we listen on it or on all."""
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name == self._bind
        return self._bind in (name, "0.0.0.0", "::")

    def _count_failure(self) -> None:
        now = self._clock()
        self._failures = [at for at in self._failures if at > now - 60]
        if len(self._failures) >= _FAILURES_PER_MINUTE:
            raise RefusalError(429, "too_many_tries", "Too many tries; wait a minute.")
        self._failures.append(now)

    def _is_owner_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._owner_token)

    def _signed(self, until: float) -> str:
        text = f"{int(until)}.{secrets.token_urlsafe(12)}"
        return f"{text}.{self._mac(text)}"

    def _mac(self, text: str) -> str:
        message = f"{self.cookie_name}:{text}".encode()
        return hmac.new(self._secret, message, sha256).hexdigest()

    def _cookie(self, value: str, max_age: int) -> str:
        return f"{self.cookie_name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age}"

    def _cookie_valid(self, header: str) -> bool:
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(header)
        except CookieError:
            return False
        if self.cookie_name not in jar:
            return False
        text, _, mac = jar[self.cookie_name].value.rpartition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(text).encode()):
            return False
        return float(text.partition(".")[0]) > self._clock()


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _host_name(host: str) -> str:
    """The name in a `Host` value, without port and brackets; empty when it is malformed."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name if bracket and (not rest or _is_port(rest)) else ""
    name, colon, port = host.partition(":")
    return name if not colon or _is_port(f":{port}") else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


def _bearer(headers: Mapping[str, str]) -> str | None:
    """The token of a header that no page of another site can set: `Authorization: Bearer`, or
    `x-api-key`, as some clients of the compatible routes send it."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key", "").strip() or None


def content_policy(host: str) -> str:
    """The page's Content-Security-Policy: no inline script, nothing from other hosts.

    `host` is the checked `Host` value; WebSocket addresses are named because not every browser
    counts them as `'self'`. Inline styles stay allowed: formulas and diagrams are drawn with them.
    """
    sockets = f"ws://{host} wss://{host}"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob:; "
        f"connect-src 'self' {sockets}; worker-src 'self' blob:; manifest-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    )
