"""The one door to vendors: HTTP over aiohttp, which is imported with the first request."""

import asyncio
import contextlib
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from silu.config import Environment
from silu.providers.net import http_proxy, proxy_for
from silu.types.calls import HttpRequest, HttpResponse
from silu.types.errors import Failure, FailureKind, UserError, VendorError

if TYPE_CHECKING:
    import aiohttp

CONNECT_TIMEOUT = 20.0
_USER_AGENT = "silu"


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """How one endpoint is reached. `proxy` is a URL, `""` for none, `None` for what the
    environment says; `ca_file` replaces the system's certificate authorities."""

    proxy: str | None = None
    ca_file: str | None = None
    connect_timeout: float = CONNECT_TIMEOUT


class HttpTransport:
    """Requests of one route. Sessions belong to the event loop they were made in."""

    def __init__(self, env: Environment, route: Route | None = None) -> None:
        self._env = env
        self._route = route or Route()
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(
        self, request: HttpRequest, *, idle_timeout: float
    ) -> AbstractAsyncContextManager[HttpResponse]:
        return self._open(request, idle_timeout)

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    @contextlib.asynccontextmanager
    async def _open(
        self, request: HttpRequest, idle_timeout: float
    ) -> AsyncGenerator[HttpResponse]:
        import aiohttp
        from yarl import URL

        session = self._session_here()
        timeout = aiohttp.ClientTimeout(
            total=None,
            connect=None,
            sock_connect=self._route.connect_timeout,
            sock_read=idle_timeout,
        )
        try:
            response = await session.request(
                request.method,
                # As it stands: a signature covers the very bytes of the path.
                URL(request.url, encoded=True),
                data=request.body or None,
                headers=request.headers,
                timeout=timeout,
                proxy=self._proxy(request.url),
                # A redirect would carry the key to another host; it is reported instead.
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _unreachable(error, request.url, idle_timeout) from error
        held = _Response(response, idle_timeout)
        try:
            yield held
        finally:
            held.stop()
            # After a whole body the connection is already back in the pool; before, this
            # closes the socket at once, so that a vendor stops working for nobody.
            response.close()

    def _proxy(self, url: str) -> str | None:
        proxy = self._route.proxy
        return http_proxy(proxy_for(url, self._env) if proxy is None else proxy)

    def _session_here(self) -> "aiohttp.ClientSession":
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop or self._session.closed:
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=60, ttl_dns_cache=300, ssl=self._ssl()
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"},
                trust_env=False,
            )
        return self._session

    def _ssl(self) -> Any:
        if self._route.ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=self._route.ca_file)
        except OSError as error:
            raise UserError(
                f"The CA file {self._route.ca_file} cannot be read: {error.strerror or error}.",
                code="bad_config",
                setting="ca_file",
            ) from error


class _Response:
    """An answer as the port wants it, and the watch over its silence.

    aiohttp's own limit sets a timer anew with every read, which costs as much as the read. Here
    one timer looks now and then how long the reader has waited; a reader that is busy elsewhere
    is no silence of the vendor's.
    """

    def __init__(self, response: "aiohttp.ClientResponse", idle_timeout: float) -> None:
        self._response = response
        self._idle = idle_timeout
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._loop = asyncio.get_running_loop()
        self._asked_at: float | None = None
        self._silent = False
        self._timer = self._loop.call_later(idle_timeout, self._look)
        connection = response.connection
        if connection is not None and connection.protocol is not None:
            connection.protocol.read_timeout = None
            connection.protocol.start_timeout()

    def stop(self) -> None:
        self._timer.cancel()

    async def chunks(self) -> AsyncIterator[bytes]:
        import aiohttp

        read, clock = self._response.content.readany, self._loop.time
        try:
            while True:
                self._asked_at = clock()
                data = await read()
                self._asked_at = None
                if not data:
                    return
                yield data
        except (aiohttp.ClientError, OSError) as error:
            if self._silent:
                raise VendorError(silent(self._idle)) from error
            raise VendorError(
                Failure(
                    kind="stream_cut",
                    message="The connection broke before the answer was complete.",
                    retryable=True,
                )
            ) from error

    def _look(self) -> None:
        waited = 0.0 if self._asked_at is None else self._loop.time() - self._asked_at
        if waited < self._idle:
            self._timer = self._loop.call_later(self._idle - waited, self._look)
        else:
            # Whoever waits for more of the body is woken with an error.
            self._silent = True
            self._response.close()


def silent(seconds: float, what: str = "nothing came") -> Failure:
    """The failure for an idle limit that ran out."""
    return Failure(
        kind="timeout",
        message=f"The vendor went silent: {what} for {seconds:.0f} seconds.",
        retryable=True,
        setting="idle_timeout",
    )


def _unreachable(error: BaseException, url: str, idle_timeout: float) -> VendorError:
    """Why no answer came, in one sentence that names what to change."""
    import aiohttp

    where = url.split("://", 1)[-1].split("/", 1)[0]
    if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
        return VendorError(silent(idle_timeout))
    setting, retryable = "base_url", True
    match error:
        case aiohttp.ConnectionTimeoutError():
            message = f"{where} did not accept a connection in time."
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            setting, retryable = "ca_file", False
            message = (
                f"The certificate of {where} was not accepted. Set a CA file for this endpoint "
                "if the certificate is your own."
            )
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            setting = "proxy"
            message = f"The proxy did not connect to {where}."
        case aiohttp.ClientConnectorDNSError():
            message = f"There is no host {where}. Check the base URL."
        case aiohttp.ClientConnectorError():
            message = (
                f"Nothing answers at {where}: {_reason(error)}. "
                "Check the base URL and whether the server runs."
            )
        case aiohttp.InvalidURL() | ValueError():
            retryable = False
            message = f"{where!r} is no address."
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            message = f"{where} closed the connection without an answer."
        case _:
            return _failed("not_an_api", f"{where} does not answer in HTTP.", retryable=False)
    return _failed("unreachable", message, setting=setting, retryable=retryable)


def _reason(error: OSError) -> str:
    """The system's own word: asyncio's carries the address a second time."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else "connection refused"


def _failed(
    kind: FailureKind, message: str, *, setting: str = "base_url", retryable: bool = True
) -> VendorError:
    return VendorError(Failure(kind=kind, message=message, retryable=retryable, setting=setting))
