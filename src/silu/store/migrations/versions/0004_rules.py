"""What a person allowed or denied for one session."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004_rules"
down_revision = "0003_search"


def upgrade() -> None:
    inspector: Any = sa.inspect(op.get_bind())
    there = {column["name"] for column in inspector.get_columns("sessions")}
    if "rules" not in there:
        op.add_column("sessions", sa.Column("rules", sa.Text(), nullable=True))
