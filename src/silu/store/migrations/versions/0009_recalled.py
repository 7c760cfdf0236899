"""Answers kept for clients that send no thinking back."""

import sqlalchemy as sa
from alembic import op

revision = "0009_recalled"
down_revision = "0008_thinking_limit"


def upgrade() -> None:
    op.create_table(
        "recalled",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.Column("continuity", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("used_at", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("key", name="pk_recalled"),
        if_not_exists=True,
    )
    op.create_index("ix_recalled_used_at", "recalled", ["used_at"], if_not_exists=True)
