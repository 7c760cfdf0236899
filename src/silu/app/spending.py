"""What was used up, and what a session's context is filled with."""

import asyncio

import msgspec

from silu.agent.filling import echoed, filling
from silu.app.base import Services
from silu.store.spending import Wanted
from silu.types import api
from silu.types.errors import UserError
from silu.types.spending import ContextReport, UsageReport


class Spending(Services):
    """Services of the usage page and of the context meter."""

    async def usage(self, wanted: Wanted) -> UsageReport:
        """Sums over model calls; `unknown_session` where one is named that is not there."""
        if wanted.session_id is not None:
            await self.store.session(wanted.session_id)
        return await self.store.usage(wanted)

    async def echoed(self, session_id: str, call_id: str) -> api.EchoList:
        """Which thoughts went back with a call, by the bytes that were sent. `UserError` code
        `unknown_call`."""
        calls = await self.store.calls(session_id)
        call = next((one for one in calls if one.id == call_id), None)
        if call is None:
            raise UserError("There is no such call in this session.", code="unknown_call")
        history = await self.store.history(session_id)
        found = await asyncio.to_thread(echoed, call.body.encode(), history)
        views = [api.EchoView(**msgspec.structs.asdict(one)) for one in found]
        return api.EchoList(thoughts=views)

    async def context(self, session_id: str) -> ContextReport:
        """The last request's tokens and what they went to."""
        session = await self.store.session(session_id)
        call = await self.store.newest_call(session_id)
        if call is None or session.tokens is None:
            return ContextReport(used_tokens=None, max_tokens=None, percent=None, source="unknown")
        used = session.tokens.context
        system, tools = await self.store.system_of(session_id)
        parts = await asyncio.to_thread(
            filling,
            call.body.encode(),
            used=call.usage.input_tokens,
            system=system,
            tools=tools,
            messages=await self.store.history(session_id),
        )
        return ContextReport(
            used_tokens=used.used_tokens,
            max_tokens=used.max_tokens,
            percent=used.percent,
            source=used.source,
            **msgspec.structs.asdict(parts),
        )
