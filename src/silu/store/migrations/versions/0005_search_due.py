"""Messages that are still to be indexed: a turn does not wait for that."""

import sqlalchemy as sa
from alembic import op

revision = "0005_search_due"
down_revision = "0004_rules"


def upgrade() -> None:
    op.create_table(
        "search_due",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_search_due"),
        if_not_exists=True,
    )
