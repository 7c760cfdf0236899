"""Routes of tokens, and of what was allowed and denied."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.types import access, api

_FAR = 1 << 52


async def _tokens(app: App, call: Call) -> access.TokenList:
    return await app.tokens()


async def _create_token(app: App, call: Call) -> access.TokenCreated:
    return await app.create_token(call.body)


async def _revoke_token(app: App, call: Call) -> api.Ok:
    await app.revoke_token(call.path["token_id"])
    return api.Ok()


async def _approvals(app: App, call: Call) -> access.ApprovalList:
    return await app.approvals(
        session_id=call.query.get("session_id"),
        before=call.number("before", 0, top=_FAR) or None,
        limit=call.number("limit", 100, top=1000),
    )


OPERATIONS: tuple[Operation, ...] = (
    route("GET", "/tokens", "Tokens that open /v1 to programs.", _tokens, access.TokenList),
    route(
        "POST",
        "/tokens",
        "A new token; its text is told this once.",
        _create_token,
        access.TokenCreated,
        body=access.TokenCreate,
        status=201,
    ),
    route("DELETE", "/tokens/{token_id}", "End a token.", _revoke_token, api.Ok),
    route(
        "GET",
        "/approvals",
        "What the agent asked to do, and who decided what about it.",
        _approvals,
        access.ApprovalList,
        query=(
            Parameter("session_id", "string", "Only of this session."),
            Parameter("before", "integer", "Only what was asked before (milliseconds)."),
            Parameter("limit", "integer", "How many at most (100)."),
        ),
    ),
)
