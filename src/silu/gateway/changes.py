"""The routes of what a session changed in files."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.types import api

_RUN = (Parameter("run_id", "string", "Only this run."),)


async def _changes(app: App, call: Call) -> api.ChangeList:
    return await app.changes(call.path["session_id"], run_id=call.query.get("run_id"))


async def _undo(app: App, call: Call) -> api.Restored:
    return await app.undo(call.path["session_id"], run_id=call.query.get("run_id"))


async def _redo(app: App, call: Call) -> api.Restored:
    return await app.redo(call.path["session_id"], run_id=call.query.get("run_id"))


_SESSION = "/sessions/{session_id}"

OPERATIONS: tuple[Operation, ...] = (
    route(
        "GET",
        f"{_SESSION}/changes",
        "The files that each run changed, with diffs.",
        _changes,
        api.ChangeList,
        query=_RUN,
    ),
    route(
        "POST",
        f"{_SESSION}/undo",
        "Put files back to before a run: the newest that is not undone, or the named one.",
        _undo,
        api.Restored,
        query=_RUN,
    ),
    route(
        "POST",
        f"{_SESSION}/redo",
        "Put back what an undo took away.",
        _redo,
        api.Restored,
        query=_RUN,
    ),
)
