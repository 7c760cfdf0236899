"""Every route of `/api/v1`, in one table: routing, schema and the OpenAPI document follow it."""

from silu.gateway import access, archive, changes, http, mcp, spending, written
from silu.gateway.dispatch import Operation

ROUTES: tuple[Operation, ...] = (
    *http.OPERATIONS,
    *archive.OPERATIONS,
    *access.OPERATIONS,
    *changes.OPERATIONS,
    *mcp.OPERATIONS,
    *written.OPERATIONS,
    *spending.OPERATIONS,
)
