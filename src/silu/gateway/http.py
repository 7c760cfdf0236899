"""Routes of `/api/v1` for sessions, models, settings and blobs: each is one call of a service."""

import re

from starlette.responses import Response

from silu.app import App
from silu.gateway.dispatch import Call, Operation, Parameter, json_response, route
from silu.types import api
from silu.types.errors import UserError
from silu.types.frames import MessagePage
from silu.types.parts import BlobRef
from silu.types.version import VERSION

_STREAM = re.compile(r"/api/v1/sessions/([^/]+)/events")

_SHA256 = re.compile(r"[0-9a-f]{64}")

_SHOWN_AS_THEY_ARE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Blobs of these types may be shown by the page; every other one is only offered as a file."""


def stream_path(path: str) -> str | None:
    """The session whose events a path names, if it is such a path (see `sse`)."""
    found = _STREAM.fullmatch(path)
    return found[1] if found else None


# ---------------------------------------------------------------------------- handlers


async def _health(app: App, call: Call) -> api.Health:
    return api.Health(status="ok", version=VERSION)


async def _ready(app: App, call: Call) -> Response:
    ready = await app.ready()
    return json_response(ready, status=200 if ready.ready else 503)


async def _sessions(app: App, call: Call) -> api.SessionList:
    return await app.list_sessions(
        archived=call.flag("archived"),
        trashed=call.flag("trashed"),
        limit=call.number("limit", 200, top=1000),
    )


async def _create_session(app: App, call: Call) -> api.SessionView:
    # A web page may only name allowed folders; whoever has the token may name any (`silu ask`).
    return await app.create_session(call.body, any_folder=call.principal.via == "bearer")


async def _session(app: App, call: Call) -> api.SessionView:
    return await app.session(call.path["session_id"])


async def _patch_session(app: App, call: Call) -> api.SessionView:
    return await app.patch_session(call.path["session_id"], call.body)


async def _delete_session(app: App, call: Call) -> api.Ok:
    await app.delete_session(call.path["session_id"])
    return api.Ok()


async def _reload_session(app: App, call: Call) -> api.Ok:
    await app.reload_session(call.path["session_id"])
    return api.Ok()


async def _fork_session(app: App, call: Call) -> api.SessionView:
    return await app.fork_session(call.path["session_id"], call.body)


async def _messages(app: App, call: Call) -> MessagePage:
    return await app.messages(
        call.path["session_id"],
        before=call.query.get("before"),
        limit=call.number("limit", 50, top=500),
    )


async def _echoed(app: App, call: Call) -> api.EchoList:
    return await app.echoed(call.path["session_id"], call.path["call_id"])


async def _calls(app: App, call: Call) -> api.CallList:
    return await app.calls(call.path["session_id"], run_id=call.query.get("run_id"))


async def _models(app: App, call: Call) -> api.ModelList:
    return await app.models(refresh=call.flag("refresh"))


async def _endpoints(app: App, call: Call) -> api.EndpointList:
    return await app.endpoints()


async def _add_endpoint(app: App, call: Call) -> api.EndpointReport:
    return await app.add_endpoint(call.body)


async def _test_endpoint(app: App, call: Call) -> api.EndpointReport:
    return await app.test_endpoint(call.body)


async def _remove_endpoint(app: App, call: Call) -> api.Ok:
    await app.remove_endpoint(call.path["name"])
    return api.Ok()


async def _save_key(app: App, call: Call) -> api.Ok:
    await app.save_key(call.path["vendor"], call.body.key)
    return api.Ok()


async def _settings(app: App, call: Call) -> api.SettingsView:
    return await app.settings_view()


async def _patch_settings(app: App, call: Call) -> api.SettingsView:
    return await app.patch_settings(call.body)


async def _learned(app: App, call: Call) -> api.LearnedList:
    return await app.learned()


async def _forget(app: App, call: Call) -> api.Ok:
    endpoint = call.query.get("endpoint")
    if not endpoint:
        raise UserError("Name the `endpoint`.", code="bad_argument", setting="endpoint")
    await app.forget(endpoint, model=call.query.get("model"), fact=call.query.get("fact"))
    return api.Ok()


async def _put_blob(app: App, call: Call) -> BlobRef:
    if not call.body:
        raise UserError("There is nothing in this file.", code="bad_argument", setting="body")
    media_type = call.headers.get("content-type", _OCTETS).partition(";")[0].strip() or _OCTETS
    name = call.query.get("name", "")[:255].rpartition("/")[2] or None
    return await app.put_blob(call.body, media_type=media_type[:100], name=name)


async def _blob(app: App, call: Call) -> Response:
    sha256 = call.path["sha256"]
    if not _SHA256.fullmatch(sha256):
        raise UserError("A blob is named by its sha256.", code="unknown_blob")
    ref, data = await app.blob(sha256)
    # Never a page of ours: what a tool or a person brought is data, whatever it says it is.
    shown = ref.media_type in _SHOWN_AS_THEY_ARE
    is_text = ref.media_type.startswith("text/")
    media_type = ref.media_type if shown else "text/plain" if is_text else _OCTETS
    return Response(
        data,
        media_type=media_type,
        headers={
            "cache-control": "private, max-age=31536000, immutable",
            "content-disposition": "inline" if shown or is_text else "attachment",
            "content-security-policy": "default-src 'none'; sandbox",
        },
    )


_OCTETS = "application/octet-stream"


# ------------------------------------------------------------------------------- table


_LIMIT = Parameter("limit", "integer", "How many at most.")
_SESSION = "/sessions/{session_id}"

OPERATIONS: tuple[Operation, ...] = (
    route("GET", "/health", "The process lives.", _health, api.Health),
    route("GET", "/ready", "Everything needed for a turn works.", _ready, api.Ready),
    route(
        "GET",
        "/sessions",
        "The sessions, newest first.",
        _sessions,
        api.SessionList,
        query=(
            Parameter("archived", "boolean", "The archived ones instead."),
            Parameter("trashed", "boolean", "Those in the bin instead."),
            _LIMIT,
        ),
    ),
    route(
        "POST",
        "/sessions",
        "Begin a session.",
        _create_session,
        api.SessionView,
        body=api.SessionCreate,
        status=201,
    ),
    route("GET", _SESSION, "One session, whole.", _session, api.SessionView),
    route(
        "PATCH",
        _SESSION,
        "Rename, archive, or choose the folder of a session.",
        _patch_session,
        api.SessionView,
        body=api.SessionPatch,
    ),
    route("DELETE", _SESSION, "Delete a session for good.", _delete_session, api.Ok),
    route(
        "POST",
        f"{_SESSION}/reload",
        "Follow AGENTS.md, tools and skills as they are now, from the next turn on.",
        _reload_session,
        api.Ok,
    ),
    route(
        "POST",
        f"{_SESSION}/fork",
        "A sibling that shares earlier messages.",
        _fork_session,
        api.SessionView,
        body=api.SessionFork,
        status=201,
    ),
    route(
        "GET",
        f"{_SESSION}/messages",
        "A page of messages, oldest first; `before` of a page asks for the one before it.",
        _messages,
        MessagePage,
        query=(Parameter("before", "string", "The cursor of the page after."), _LIMIT),
    ),
    route(
        "GET",
        f"{_SESSION}/calls",
        "The model calls of a session, for the inspector.",
        _calls,
        api.CallList,
        query=(Parameter("run_id", "string", "Only those of this run."),),
    ),
    route(
        "GET",
        f"{_SESSION}/calls/{{call_id}}/echoed",
        "The thoughts that went back to their vendor with a call, by the bytes sent.",
        _echoed,
        api.EchoList,
    ),
    route(
        "GET",
        "/models",
        "Models that can be chosen, with what they can do and where that is known from.",
        _models,
        api.ModelList,
        query=(Parameter("refresh", "boolean", "Ask the vendors again."),),
    ),
    route("GET", "/endpoints", "Who answers, and who could.", _endpoints, api.EndpointList),
    route(
        "POST",
        "/endpoints",
        "Add an endpoint of your own.",
        _add_endpoint,
        api.EndpointReport,
        body=api.EndpointCreate,
    ),
    route(
        "POST",
        "/endpoints/test",
        "Make one real call to an endpoint and explain a failure.",
        _test_endpoint,
        api.EndpointReport,
        body=api.EndpointTry,
    ),
    route("DELETE", "/endpoints/{name}", "Remove an endpoint.", _remove_endpoint, api.Ok),
    route("PUT", "/keys/{vendor}", "Save a key.", _save_key, api.Ok, body=api.KeySave),
    route("GET", "/settings", "What the person chose.", _settings, api.SettingsView),
    route(
        "PATCH",
        "/settings",
        "Choose differently.",
        _patch_settings,
        api.SettingsView,
        body=api.SettingsPatch,
    ),
    route("GET", "/learned", "What answers taught silu.", _learned, api.LearnedList),
    route(
        "DELETE",
        "/learned",
        "Forget what was learned about an endpoint, a model or one fact.",
        _forget,
        api.Ok,
        query=(
            Parameter("endpoint", "string", "Whose facts.", required=True),
            Parameter("model", "string", "Only of this model."),
            Parameter("fact", "string", "Only this fact."),
        ),
    ),
    route(
        "POST",
        "/blobs",
        "Keep a file, to be attached to a message by its sha256.",
        _put_blob,
        BlobRef,
        body=bytes,
        max_body=32 * 1024 * 1024,
        status=201,
        query=(Parameter("name", "string", "The file's name."),),
    ),
    route("GET", "/blobs/{sha256}", "The whole of a result or an attachment.", _blob, None),
)
