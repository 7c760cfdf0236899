"""Routes that find sessions again, put them away, and carry them out and in."""

from typing import cast

from starlette.responses import Response

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, route
from silu.store.carry import Thoughts
from silu.store.search import Filter
from silu.types import api
from silu.types.errors import UserError
from silu.types.search import SearchResult, SearchScope

MOST_IMPORTED = 64 * 1024 * 1024
_YEAR_9999 = 253_402_300_800_000
_SCOPES = ("answer", "thought")
_FORMATS = ("json", "markdown")
_THOUGHTS = ("none", "summary", "full")


async def _search(app: App, call: Call) -> SearchResult:
    query = call.query.get("q", "")
    if not query.strip():
        raise UserError("Say in `q` what to look for.", code="bad_argument", setting="q")
    wanted = Filter(
        scope=cast("SearchScope | None", call.choice("scope", _SCOPES)),
        session_id=call.query.get("session_id"),
        model=call.query.get("model"),
        since=call.number("since", 0, top=_YEAR_9999) or None,
        until=call.number("until", 0, top=_YEAR_9999) or None,
        limit=call.number("limit", 30, top=200),
    )
    return await app.search(query[:1000], wanted)


async def _export(app: App, call: Call) -> Response:
    session_id = call.path["session_id"]
    thoughts = cast("Thoughts", call.choice("thoughts", _THOUGHTS) or "none")
    if call.choice("format", _FORMATS) == "markdown":
        text = await app.export_markdown(session_id, thoughts=thoughts)
        return _file(text.encode(), "text/markdown; charset=utf-8", f"{session_id}.md")
    data = await app.export_json(session_id, opaque=call.flag("opaque"))
    return _file(data, "application/json", f"{session_id}.json")


def _file(data: bytes, media_type: str, name: str) -> Response:
    # Offered as a file, never shown as a page: a title or an answer may hold anything.
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(data, media_type=media_type, headers=headers)


async def _import_session(app: App, call: Call) -> api.SessionView:
    return await app.import_session(call.body, client_id=call.query.get("client_id"))


async def _trash_session(app: App, call: Call) -> api.Ok:
    await app.trash_session(call.path["session_id"])
    return api.Ok()


async def _restore_session(app: App, call: Call) -> api.SessionView:
    return await app.restore_session(call.path["session_id"])


_SESSION = "/sessions/{session_id}"

OPERATIONS: tuple[Operation, ...] = (
    route(
        "GET",
        "/search",
        "Messages in which all words occur, newest first, with the place that was found.",
        _search,
        SearchResult,
        query=(
            Parameter("q", "string", "What to look for.", required=True),
            Parameter(
                "scope", "string", "Only what was said, or only what was thought.", choices=_SCOPES
            ),
            Parameter("session_id", "string", "Only in this session."),
            Parameter("model", "string", "Only answers of this model."),
            Parameter("since", "integer", "Not before (milliseconds since 1970)."),
            Parameter("until", "integer", "Before (milliseconds since 1970)."),
            Parameter("limit", "integer", "How many at most (30)."),
        ),
    ),
    route(
        "GET",
        f"{_SESSION}/export",
        "The session as a file: JSON is whole and can be imported, Markdown is to be read.",
        _export,
        None,
        query=(
            Parameter("format", "string", "JSON unless told.", choices=_FORMATS),
            Parameter(
                "thoughts", "string", "How much of the thoughts Markdown has.", choices=_THOUGHTS
            ),
            Parameter("opaque", "boolean", "With what vendors sealed (JSON)."),
        ),
    ),
    route(
        "POST",
        "/sessions/import",
        "A new session from an exported JSON document, plain or in a zip archive.",
        _import_session,
        api.SessionView,
        body=bytes,
        max_body=MOST_IMPORTED,
        status=201,
        query=(Parameter("client_id", "string", "The same one imports once."),),
    ),
    route(
        "POST",
        f"{_SESSION}/trash",
        "Put a session into the bin, where it stays for 30 days.",
        _trash_session,
        api.Ok,
    ),
    route("POST", f"{_SESSION}/restore", "Take it out again.", _restore_session, api.SessionView),
)
