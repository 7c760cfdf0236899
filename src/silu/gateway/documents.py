"""The two documents that describe the gateway, served by it."""

from starlette.responses import Response

from silu.app import App
from silu.gateway import openapi, protocol
from silu.gateway.dispatch import Call, Operation, json_response, route
from silu.gateway.routes import ROUTES
from silu.types.version import VERSION


async def _protocol(app: App, call: Call) -> Response:
    return json_response(protocol.document())


async def _openapi(app: App, call: Call) -> Response:
    return json_response(openapi.document(OPERATIONS, version=VERSION))


OPERATIONS: tuple[Operation, ...] = (
    *ROUTES,
    route("GET", "/protocol.json", "JSON Schema of every frame and body.", _protocol, None),
    route("GET", "/openapi.json", "This document.", _openapi, None),
)
