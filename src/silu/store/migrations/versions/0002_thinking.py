"""Thoughts and the vendors' opaque data get columns of their own; old rows stay as they are."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002_thinking"
down_revision = "0001_base"

_COLUMNS = ("thinking_content", "thinking_metadata")


def upgrade() -> None:
    inspector: Any = sa.inspect(op.get_bind())
    there = {column["name"] for column in inspector.get_columns("messages")}
    # A database that was stamped too low has them already: each step may be done twice (F140).
    for name in _COLUMNS:
        if name not in there:
            op.add_column("messages", sa.Column(name, sa.Text, nullable=True))
