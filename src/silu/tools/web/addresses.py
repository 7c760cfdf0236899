"""Which addresses a model may reach: public ones, and hosts the person names.

Everything of the person's own network is refused: loopback, private and link-local ranges, cloud
metadata, in every spelling and also inside IPv6 addresses that carry an IPv4 one.
"""

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass

from yarl import URL

from silu.types.errors import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_OWN_NAMES = re.compile(
    r"(?:.*\.)?(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa)"
)

MAX_URL = 4_000


def is_public(address: Address) -> bool:
    """Whether an address is on the internet, and nobody's own network."""
    if isinstance(address, ipaddress.IPv6Address):
        if (inner := _inner(address)) is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _inner(address: ipaddress.IPv6Address) -> Address | None:
    """The IPv4 address a translated or tunnelled IPv6 address stands for."""
    if (mapped := address.ipv4_mapped) is not None:
        return mapped
    if (relay := address.sixtofour) is not None:
        return relay
    if (tunnel := address.teredo) is not None:
        return tunnel[1]
    low = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if any(address in network for network in _NAT64):
        return low
    # The old "IPv4-compatible" form, ::a.b.c.d; :: and ::1 are their own.
    return low if int(address) >> 32 == 0 and int(address) > 1 else None


def literal(host: str) -> Address | None:
    """The address a host spells out, `None` for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Hosts:
    """`own` are hosts of the person's network that may be reached all the same: `name`,
    `name:port`, `address` or `address:port`."""

    own: Collection[str] = ()

    def named(self, url: URL) -> bool:
        """Whether the person named this host, as it is spelled."""
        host = url.raw_host or ""
        return bool({host, f"{host}:{url.port}"} & {own.lower().strip() for own in self.own})

    def checked(self, text: str) -> URL:
        """A URL that may be asked for, read as the HTTP client reads it; `ToolError` for any
        other. What a name stands for is checked when it is connected to."""
        if len(text) > MAX_URL:
            raise ToolError(f"this URL has {len(text)} characters, more than {MAX_URL}")
        try:
            url = URL(text.strip())
        except (ValueError, IndexError) as error:
            # The parser stumbles over `http://[::1]@` with an IndexError.
            raise ToolError(f"this is no URL: {error}") from error
        host = url.raw_host or ""
        if url.scheme not in {"http", "https"} or not host:
            raise ToolError("only http:// and https:// URLs can be fetched")
        if url.raw_user is not None or url.raw_password is not None:
            raise ToolError("a URL with a name or password in it is not fetched")
        if self.named(url):
            return url
        address = literal(host)
        if address is not None and not is_public(address):
            raise refusal(host)
        if address is None and _OWN_NAMES.fullmatch(host.rstrip(".")):
            raise refusal(host)
        if address is None and host.replace(".", "").isdigit():
            # 2130706433 and 127.1 are 127.0.0.1 to some programs.
            raise refusal(host)
        return url


def refusal(host: str) -> ToolError:
    """What the model is told of a host it may not reach."""
    return ToolError(
        f"{host} is in a private network and was not contacted; only the person can allow such a "
        "host, in the settings"
    )
