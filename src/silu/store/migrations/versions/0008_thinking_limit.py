"""Where one call's thinking ends: a session's own limit, and that of a turn."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008_thinking_limit"
down_revision = "0007_children"


def upgrade() -> None:
    inspector: Any = sa.inspect(op.get_bind())
    for table in ("sessions", "runs"):
        if "thinking_limit" not in {there["name"] for there in inspector.get_columns(table)}:
            op.add_column(table, sa.Column("thinking_limit", sa.Text(), nullable=True))
