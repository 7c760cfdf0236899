"""Ending a thought by the vendor's own way, while its answer is being read."""

import asyncio
import logging

import msgspec

from silu.config import Settings
from silu.providers.prepare import address_headers, join
from silu.providers.profile import Profile
from silu.types.calls import HttpRequest, Transport
from silu.types.errors import VendorError

log = logging.getLogger(__name__)

_PATIENCE = 3.0
"""Seconds; after them the call is put down and made again, which always works."""
_MOST = 64 * 1024


class _Done(msgspec.Struct):
    success: bool = False


async def end_thinking(
    profile: Profile, response_id: str, *, settings: Settings, transport: Transport
) -> bool:
    """True when the vendor says that it has ended the thought."""
    if profile.door.end_thinking is None or not response_id:
        return False
    path, body = profile.door.end_thinking(response_id)
    request = HttpRequest(
        method="POST",
        url=join(profile.base_url, path),
        headers=address_headers(profile, settings),
        body=msgspec.json.encode(body),
    )
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _asked(request, transport)
    except (VendorError, TimeoutError) as error:
        log.info("the thought was not ended by %s: %s", profile.name, type(error).__name__)
        return False


async def _asked(request: HttpRequest, transport: Transport) -> bool:
    async with transport.open(request, idle_timeout=_PATIENCE) as response:
        data = b""
        async for chunk in response.chunks():
            data += chunk
            if len(data) > _MOST:
                return False
    if response.status != 200:
        return False
    try:
        return msgspec.json.decode(data, type=_Done).success
    except msgspec.DecodeError:
        return False
