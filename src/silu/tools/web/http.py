"""One request, bounded; what may be reached is checked where a name has become an address.

Every socket is made for an address that was just looked up and checked, so there is no second
look-up that could answer differently. Nothing is followed to another host: nobody agreed to that.
"""

import asyncio
import socket
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from yarl import URL

from silu.tools.web.addresses import Hosts, is_public, literal, refusal
from silu.types.errors import ToolError
from silu.types.version import VERSION

if TYPE_CHECKING:
    import aiohttp

MAX_BYTES = 8_000_000
SECONDS = 30.0
MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`cap` is the most bytes of the answer that are read, `seconds` the time for all of it."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    cap: int = MAX_BYTES
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`cut` says that there was more than the cap; `moved` is another host's URL the answer
    leads to, which was not followed."""

    url: str
    status: int
    media_type: str
    charset: str | None
    data: bytes
    cut: bool = False
    moved: str | None = None


def _no_proxy(url: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """How the web is reached. `proxy` gives the proxy for a URL; one that is used looks up names
    itself, so that only what this machine can look up is checked then."""

    hosts: Hosts = field(default_factory=Hosts)
    proxy: Callable[[str], str | None] = _no_proxy

    async def ask(self, request: Request) -> Answer:
        """The answer, whatever its status; `ToolError` when there is none."""
        url = self.hosts.checked(request.url)
        try:
            async with asyncio.timeout(request.seconds):
                return await self._following(request, url)
        except TimeoutError as error:
            raise ToolError(
                f"{url.raw_host} did not answer within {request.seconds:g} seconds"
            ) from error

    async def _following(self, request: Request, url: URL) -> Answer:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._once(request, url)
            if answer.moved is None:
                return answer
            target = self.hosts.checked(answer.moved)
            if not _same_place(url, target):
                return answer
            url = target
        raise ToolError(f"{url.raw_host} redirects more than {MAX_REDIRECTS} times")

    async def _once(self, request: Request, url: URL) -> Answer:
        import aiohttp

        proxy = self.proxy(str(url))
        free = self.hosts.named(url)
        if proxy is not None and not free:
            await _check_as_far_as_known(url)
        door = _Door(checks=proxy is None and not free)
        headers = {"User-Agent": f"silu/{VERSION}", "Accept-Encoding": "gzip", **request.headers}
        try:
            async with (
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(socket_factory=door.socket, use_dns_cache=False),
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                    timeout=aiohttp.ClientTimeout(total=None),
                ) as session,
                session.request(
                    request.method,
                    url,
                    data=request.body,
                    headers=headers,
                    proxy=proxy,
                    allow_redirects=False,
                ) as response,
            ):
                return await _answer(response, request.cap)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if door.refused:
                raise refusal(url.raw_host or "") from error
            if isinstance(error, TimeoutError):
                raise
            raise _told(error, url.raw_host or "") from error


class _Door:
    """Makes the sockets of one request: none to an address that may not be reached."""

    def __init__(self, *, checks: bool) -> None:
        self.refused = False
        self._checks = checks

    def socket(self, place: tuple[Any, ...]) -> socket.socket:
        """A socket for one resolved address, as `TCPConnector` asks for it."""
        family, kind, protocol, _, where = place
        if self._checks:
            address = literal(str(where[0]))
            # What is no address here would be looked up once more, by whoever connects.
            if address is None or not is_public(address):
                self.refused = True
                raise PermissionError("this address may not be reached")
        return socket.socket(family, kind, protocol)


async def _check_as_far_as_known(url: URL) -> None:
    """For a proxy that looks names up: refuse what this machine knows to be private."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(url.raw_host or "", url.port, type=socket.SOCK_STREAM)
    except OSError:
        # Behind a proxy names are often known to the proxy alone.
        return
    for *_, where in found:
        address = literal(str(where[0]))
        if address is None or not is_public(address):
            raise refusal(url.raw_host or "")


def _same_place(old: URL, new: URL) -> bool:
    """The same host (with or without `www.`), and never from https down to http."""
    if (old.scheme, new.scheme) == ("https", "http"):
        return False
    hosts = {(url.raw_host or "").removeprefix("www.") for url in (old, new)}
    return len(hosts) == 1 and old.explicit_port == new.explicit_port


async def _answer(response: "aiohttp.ClientResponse", cap: int) -> Answer:
    url, moved = str(response.url), None
    if response.status in _REDIRECTS and (place := response.headers.get("Location")):
        moved = urljoin(url, place)
    data, cut = (b"", False) if moved else await _body(response, cap)
    return Answer(
        url=url,
        status=response.status,
        media_type=response.content_type.lower(),
        charset=response.charset,
        data=data,
        cut=cut,
        moved=moved,
    )


async def _body(response: "aiohttp.ClientResponse", cap: int) -> tuple[bytes, bool]:
    """The body, unpacked, `cap` bytes of it: neither a long nor a well-packed one fills memory."""
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in {"identity", "gzip", "x-gzip", ""}:
        raise ToolError(f"the answer is packed in a way that was not asked for ({packing[:20]})")
    unpack = zlib.decompressobj(31) if "gzip" in packing else None
    kept = bytearray()
    try:
        async for chunk in response.content.iter_any():
            kept += chunk if unpack is None else unpack.decompress(chunk, cap + 1 - len(kept))
            if len(kept) > cap:
                return bytes(kept[:cap]), True
    except zlib.error as error:
        raise ToolError("the answer is damaged: it cannot be unpacked") from error
    return bytes(kept), False


def _told(error: Exception, host: str) -> ToolError:
    """Why there is no answer, in a sentence."""
    import aiohttp

    match error:
        case aiohttp.ClientConnectorDNSError() | socket.gaierror():
            return ToolError(f"there is no host {host}")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return ToolError(f"the certificate of {host} is not valid")
        case aiohttp.ClientConnectorError():
            return ToolError(f"nothing answers at {host}")
        case aiohttp.InvalidURL() | ValueError():
            return ToolError("this is no URL that can be asked for")
        case _:
            return ToolError(f"the connection to {host} failed ({type(error).__name__})")
