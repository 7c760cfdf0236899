"""The search index, and how an epoch that began with a compaction sends the history.

Messages that are already there are indexed while the program runs.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003_search"
down_revision = "0002_thinking"

_SQLITE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_text USING fts5("
    "tokens, tokenize = \"unicode61 remove_diacritics 0\", prefix = '2 3')",
)
_POSTGRES = (
    "CREATE TABLE IF NOT EXISTS search_text (rowid BIGINT PRIMARY KEY, tokens tsvector NOT NULL)",
    "CREATE INDEX IF NOT EXISTS ix_search_text_tokens ON search_text USING gin (tokens)",
)


def upgrade() -> None:
    connection: Any = op.get_bind()
    op.create_table(
        "search_rows",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_search_rows"),
        if_not_exists=True,
    )
    op.create_index("ix_search_rows_message_id", "search_rows", ["message_id"], if_not_exists=True)
    for statement in _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES:
        op.execute(statement)
    there = {column["name"] for column in sa.inspect(connection).get_columns("epochs")}
    if "compacted" not in there:
        op.add_column("epochs", sa.Column("compacted", sa.Text(), nullable=True))
