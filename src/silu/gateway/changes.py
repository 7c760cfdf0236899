"""The routes of what a session changed in files."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.types import api
from silu.types.errors import UserError

_RUN = (Parameter("run_id", "string", "Only this run."),)


async def _changes(app: App, call: Call) -> api.ChangeList:
    return await app.changes(call.path["session_id"], run_id=call.query.get("run_id"))


async def _undo(app: App, call: Call) -> api.Restored:
    return await app.undo(call.path["session_id"], run_id=call.query.get("run_id"))


async def _redo(app: App, call: Call) -> api.Restored:
    return await app.redo(call.path["session_id"], run_id=call.query.get("run_id"))


async def _file(app: App, call: Call) -> api.FileText:
    path = call.query.get("path")
    if not path:
        raise UserError("Name the file by its path.", code="bad_argument", setting="path")
    return await app.file_text(call.path["session_id"], path)


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
        "GET",
        f"{_SESSION}/file",
        "A text file of the workspace, as it is now.",
        _file,
        api.FileText,
        query=(Parameter("path", "string", "Its path in the workspace."),),
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
