"""The routes of what was used up and of what a context is filled with."""

from typing import cast, get_args

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.store.spending import Wanted
from silu.types.spending import ContextReport, Grouping, UsageReport

_GROUPINGS: tuple[str, ...] = get_args(Grouping)
_LATEST = 1 << 53


async def _usage(app: App, call: Call) -> UsageReport:
    by = call.choice("by", _GROUPINGS) or "day"
    return await app.usage(
        Wanted(
            by=cast("Grouping", by),
            session_id=call.query.get("session_id"),
            since=call.number("since", 0, top=_LATEST),
            until=call.number("until", _LATEST, top=_LATEST),
            minutes_east=call.number("minutes_east", 0, top=14 * 60)
            - call.number("minutes_west", 0, top=12 * 60),
        )
    )


async def _context(app: App, call: Call) -> ContextReport:
    return await app.context(call.path["session_id"])


OPERATIONS: tuple[Operation, ...] = (
    route(
        "GET",
        "/usage",
        "Tokens and cost of the model calls so far, interrupted ones too.",
        _usage,
        UsageReport,
        query=(
            Parameter("by", "string", "What a row stands for.", choices=_GROUPINGS),
            Parameter("session_id", "string", "Only of this session and its sub-agents."),
            Parameter("since", "integer", "From here on, milliseconds since 1970."),
            Parameter("until", "integer", "Up to here, not included."),
            Parameter("minutes_east", "integer", "Where days begin, east of Greenwich."),
            Parameter("minutes_west", "integer", "The same, west of it."),
        ),
    ),
    route(
        "GET",
        "/sessions/{session_id}/context",
        "What the last request of a session was filled with.",
        _context,
        ContextReport,
    ),
)
