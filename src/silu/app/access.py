"""Tokens for programs, and the record of what a person allowed and denied."""

import asyncio

from silu.app.base import Services
from silu.config.tokens import TokenFile
from silu.types import access
from silu.types.errors import UserError


class Access(Services):
    """Services of the access page."""

    @property
    def token_file(self) -> TokenFile:
        return TokenFile(self.settings.paths.tokens_file)

    async def tokens(self) -> access.TokenList:
        return await asyncio.to_thread(self.token_file.all)

    async def create_token(self, wish: access.TokenCreate) -> access.TokenCreated:
        return await asyncio.to_thread(self.token_file.create, wish)

    async def revoke_token(self, token_id: str) -> None:
        """In force at once, for requests that come from now on. `unknown_token`."""
        if not await asyncio.to_thread(self.token_file.revoke, token_id):
            raise UserError("There is no such token.", code="unknown_token")

    async def approvals(
        self, *, session_id: str | None = None, before: int | None = None, limit: int = 100
    ) -> access.ApprovalList:
        """What was asked and decided, newest first, of one session or of all."""
        if session_id is not None:
            await self.store.session(session_id)
        found = await self.store.approvals(session_id=session_id, before=before, limit=limit)
        return access.ApprovalList(approvals=found)
