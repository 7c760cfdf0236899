"""What a session's system text is made from, and the person's wish to have it made anew."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006_briefs"
down_revision = "0005_search_due"

_NEW = (
    ("sessions", sa.Column("agent", sa.Text(), nullable=True)),
    ("sessions", sa.Column("prompt", sa.Text(), nullable=True)),
    ("sessions", sa.Column("renew", sa.Boolean(), nullable=False, server_default=sa.false())),
    ("epochs", sa.Column("sources", sa.Text(), nullable=True)),
)


def upgrade() -> None:
    inspector: Any = sa.inspect(op.get_bind())
    for table, column in _NEW:
        if column.name not in {there["name"] for there in inspector.get_columns(table)}:
            op.add_column(table, column)
