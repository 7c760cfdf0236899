"""Sub-agents: which call of which run each works for, and how it ended."""

import sqlalchemy as sa
from alembic import op

revision = "0007_children"
down_revision = "0006_briefs"


def upgrade() -> None:
    op.create_table(
        "children",
        sa.Column("wait_id", sa.Text(), nullable=False),
        sa.Column("parent_session", sa.Text(), nullable=False),
        sa.Column("parent_run", sa.Text(), nullable=False),
        sa.Column("child_session", sa.Text(), nullable=False),
        sa.Column("child_run", sa.Text(), nullable=False),
        sa.Column("skill_id", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("wait_id", name="pk_children"),
        if_not_exists=True,
    )
    for column in ("parent_session", "child_session", "child_run"):
        op.create_index(f"ix_children_{column}", "children", [column], if_not_exists=True)
