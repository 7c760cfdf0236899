"""The tables. Times are milliseconds since 1970 UTC, JSON is text, ids are text.

Alembic's files in `migrations/versions` make the same tables step by step; a test compares the
two. What must stay small and fast on every append (`facts`, `deltas`, `history`) is clustered by
its key and has no foreign keys: deleting a session removes those rows by name.
"""

from typing import Any

import sqlalchemy as sa

from silu.store.escaping import escape, unescape

HEAD = "0009_recalled"
"""The revision this program writes."""

KNOWN = (
    "0001_base",
    "0002_thinking",
    "0003_search",
    "0004_rules",
    "0005_search_due",
    "0006_briefs",
    "0007_children",
    "0008_thinking_limit",
    "0009_recalled",
)
"""Every revision it can read, oldest first; any other is a newer program's."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class SafeText(sa.types.TypeDecorator[str]):
    """Text in which a NUL may stand: PostgreSQL takes none and models write them."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else escape(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else unescape(value)


_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _id(name: str, *args: Any, **kw: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, *args, **kw)


def _null_text(name: str) -> sa.Column[str | None]:
    return sa.Column(name, sa.Text, nullable=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _words(name: str, *args: Any, **kw: Any) -> sa.Column[Any]:
    """Text that a person, a model or a client wrote."""
    return sa.Column(name, SafeText, *args, **kw)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0")


def _null_int(name: str) -> sa.Column[int | None]:
    return sa.Column(name, sa.BigInteger, nullable=True)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false())


def _of_session() -> sa.Column[str]:
    return _id("session_id", sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False)


sessions = sa.Table(
    "sessions",
    metadata,
    _id("id", primary_key=True),
    _id("kind", nullable=False),
    _null_text("parent_id"),
    _null_text("forked_at"),
    _words("title", nullable=False, server_default=""),
    _id("mode", nullable=False),
    _null_text("build_model"),
    _null_text("build_level"),
    _null_text("plan_model"),
    _null_text("plan_level"),
    _words("workspace", nullable=False, server_default=""),
    _flag("workspace_locked"),
    _text("language"),
    _null_int("max_tokens"),
    sa.Column("temperature", sa.Float, nullable=True),
    sa.Column("top_p", sa.Float, nullable=True),
    _int("fence"),
    _int("head"),
    _int("log_start"),
    _int("read_n"),
    _int("attention_n"),
    _null_text("running_run"),
    _flag("waiting"),
    _words("last_message", nullable=True),
    _null_text("todo_summary"),
    _null_text("tokens"),
    _int("changed"),
    _int("created_at"),
    _int("updated_at"),
    _flag("archived"),
    _null_int("trashed_at"),
    _null_text("rules"),
    _null_text("agent"),
    _words("prompt", nullable=True),
    _flag("renew"),
    _null_text("thinking_limit"),
    sa.Index("ix_sessions_changed", "changed"),
    sa.Index("ix_sessions_parent_id", "parent_id"),
)

gone = sa.Table(
    "gone",
    metadata,
    _id("session_id", primary_key=True),
    _int("changed"),
    sa.Index("ix_gone_changed", "changed"),
)
"""Sessions that were deleted: nothing but the id, so that open sidebars can drop them."""

messages = sa.Table(
    "messages",
    metadata,
    _id("id", primary_key=True),
    _id("session_id", nullable=False),
    _null_text("run_id"),
    _null_int("step"),
    _int("attempt"),
    _id("role", nullable=False),
    _id("parts", nullable=False),
    _flag("interrupted"),
    _flag("final"),
    _null_text("metadata"),
    _int("created_at"),
    _null_text("thinking_content"),
    _null_text("thinking_metadata"),
    sa.Index("ix_messages_run_id", "run_id"),
)
"""`thinking_content` has the text of all thoughts, `parts` only their lengths in code points;
`thinking_metadata` is the vendors' continuity. `session_id` is where it was written; branches
share it through `history`."""

history = sa.Table(
    "history",
    metadata,
    _id("session_id", primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("message_id", nullable=False),
    sa.Index("ix_history_message_id", "message_id"),
    sqlite_with_rowid=False,
)
"""Which messages a session has, in order: branches refer to the same message."""

runs = sa.Table(
    "runs",
    metadata,
    _id("id", primary_key=True),
    _of_session(),
    _id("status", nullable=False),
    _null_text("outcome"),
    _null_text("reason"),
    _null_text("user_message_id"),
    _null_text("input"),
    _null_text("turn_level"),
    _null_text("turn_mode"),
    _int("fence"),
    _int("attempts"),
    _int("stalled"),
    _int("last_attempt"),
    _null_text("usage"),
    _null_text("error"),
    _words("wait_id", nullable=True),
    _int("created_at"),
    _null_int("started_at"),
    _null_int("ended_at"),
    _null_text("thinking_limit"),
    sa.Index("ix_runs_session_id_status", "session_id", "status"),
    sa.Index("ix_runs_status", "status"),
)
"""`attempts` counts how often a worker took it up, `stalled` those since a step last ended,
`last_attempt` is the highest attempt number of a model call."""

steps = sa.Table(
    "steps",
    metadata,
    _id("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("step", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("status", nullable=False),
    _null_text("message_id"),
    _int("attempt"),
    _int("started_at"),
    _null_int("ended_at"),
)

calls = sa.Table(
    "calls",
    metadata,
    _id("id", primary_key=True),
    _of_session(),
    _id("run_id", nullable=False),
    _int("step"),
    _int("attempt"),
    _null_text("message_id"),
    _id("record", nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    _int("started_at"),
    sa.UniqueConstraint("run_id", "step", "attempt"),
    sa.Index("ix_calls_session_id", "session_id"),
)
"""One model call for the inspector; `body` is compressed (zlib)."""

usage = sa.Table(
    "usage",
    metadata,
    _id("run_id", primary_key=True),
    sa.Column("step", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("attempt", sa.BigInteger, primary_key=True, autoincrement=False),
    _of_session(),
    _id("model", nullable=False),
    _null_int("input_tokens"),
    _null_int("output_tokens"),
    _null_int("reasoning_tokens"),
    _null_int("cache_read_tokens"),
    _null_int("cache_write_tokens"),
    sa.Column("cost", sa.Float, nullable=True),
    _int("ts"),
    sa.Index("ix_usage_ts", "ts"),
    sa.Index("ix_usage_session_id", "session_id"),
)

facts = sa.Table(
    "facts",
    metadata,
    _id("session_id", primary_key=True),
    sa.Column("n", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("type", nullable=False),
    _id("data", nullable=False),
    _int("ts"),
    _null_text("run_id"),
    sqlite_with_rowid=False,
)

deltas = sa.Table(
    "deltas",
    metadata,
    _id("session_id", primary_key=True),
    _id("block_id", primary_key=True),
    sa.Column("attempt", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("run_id", nullable=False),
    _id("message_id", nullable=False),
    _id("kind", nullable=False),
    _id("text", nullable=False),
    _int("at"),
    sqlite_with_rowid=False,
)
"""Text of blocks that are still open; `start` counts code points, `at` (ns) orders blocks."""

tool_journal = sa.Table(
    "tool_journal",
    metadata,
    _id("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("step", sa.BigInteger, primary_key=True, autoincrement=False),
    _words("call_id", primary_key=True),
    _id("session_id", nullable=False),
    _null_text("message_id"),
    _words("name", nullable=False),
    _id("status", nullable=False),
    _null_text("result_status"),
    _int("proposed_at"),
    _null_int("started_at"),
    _null_int("finished_at"),
)
"""`status`: proposed → (waiting → approved | denied) → started → finished | unknown."""

blobs = sa.Table(
    "blobs",
    metadata,
    _id("sha256", primary_key=True),
    _int("size"),
    _words("media_type", nullable=False),
    _words("name", nullable=True),
    _int("created_at"),
)

blob_refs = sa.Table(
    "blob_refs",
    metadata,
    _id("message_id", primary_key=True),
    _id("sha256", primary_key=True),
    sa.Index("ix_blob_refs_sha256", "sha256"),
)

todos = sa.Table(
    "todos",
    metadata,
    _id("session_id", sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
    _words("todo_id", nullable=False),
    _words("content", nullable=False, server_default=""),
    _id("status", nullable=False),
    _id("origin", nullable=False),
    _null_int("plan_revision"),
    _words("reason", nullable=True),
)

todo_history = sa.Table(
    "todo_history",
    metadata,
    sa.Column("id", _SERIAL, primary_key=True),
    _of_session(),
    _null_text("run_id"),
    _words("by", nullable=False),
    _id("todos", nullable=False),
    _int("ts"),
    sa.Index("ix_todo_history_session_id", "session_id"),
)

plans = sa.Table(
    "plans",
    metadata,
    _id("session_id", sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    _words("plan_id", primary_key=True),
    sa.Column("revision", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("status", nullable=False),
    _id("data", nullable=False),
    _int("created_at"),
    _int("updated_at"),
)

skills = sa.Table(
    "skills",
    metadata,
    _id("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    _words("skill_id", primary_key=True),
    _id("session_id", nullable=False),
    _words("name", nullable=False, server_default=""),
    _words("label", nullable=False, server_default=""),
    _id("status", nullable=False),
    _words("result", nullable=True),
    _null_text("result_type"),
    _int("started_at"),
    _null_int("ended_at"),
)

approvals = sa.Table(
    "approvals",
    metadata,
    _words("id", primary_key=True),
    _of_session(),
    _null_text("run_id"),
    _id("kind", nullable=False),
    _words("call_id", nullable=True),
    _id("data", nullable=False),
    _id("status", nullable=False),
    _words("decision", nullable=True),
    _words("scope", nullable=True),
    _null_text("answer"),
    _int("created_at"),
    _null_int("decided_at"),
    sa.Index("ix_approvals_session_id_status", "session_id", "status"),
)
"""What a run asked a person, and what they said: `kind` is the fact's type."""

children = sa.Table(
    "children",
    metadata,
    _words("wait_id", primary_key=True),
    _id("parent_session", nullable=False),
    _id("parent_run", nullable=False),
    _id("child_session", nullable=False),
    _id("child_run", nullable=False),
    _words("skill_id", nullable=True),
    _null_text("status"),
    _null_text("reason"),
    _words("answer", nullable=True),
    sa.Index("ix_children_parent_session", "parent_session"),
    sa.Index("ix_children_child_session", "child_session"),
    sa.Index("ix_children_child_run", "child_run"),
)
"""Sub-agents by the call they work for; `status` is set once the child's run is over."""

learned = sa.Table(
    "learned",
    metadata,
    _words("endpoint", primary_key=True),
    _words("model", primary_key=True),
    _words("fact", primary_key=True),
    _id("value", nullable=False),
    _words("evidence", nullable=False, server_default=""),
    _int("ts"),
)

settings = sa.Table(
    "settings",
    metadata,
    _words("name", primary_key=True),
    _id("value", nullable=False),
)

epochs = sa.Table(
    "epochs",
    metadata,
    _id("session_id", sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    _id("id", nullable=False),
    _id("reason", nullable=False),
    _id("model", nullable=False),
    _words("system", nullable=False, server_default=""),
    _words("tools_json", nullable=False, server_default=""),
    _text("tag"),
    _null_text("first_message"),
    _int("created_at"),
    _null_text("compacted"),
    _null_text("sources"),
)
"""`sources` (JSON) are the files that the system text was made from, with their digests."""

commands = sa.Table(
    "commands",
    metadata,
    _words("client_id", primary_key=True),
    _null_text("session_id"),
    _id("type", nullable=False),
    _id("result", nullable=False),
    _int("ts"),
    sa.Index("ix_commands_session_id", "session_id"),
)
"""What was done for a `client_id`, so that it is done once."""

steers = sa.Table(
    "steers",
    metadata,
    sa.Column("id", _SERIAL, primary_key=True),
    _of_session(),
    _id("run_id", nullable=False),
    _words("text", nullable=False),
    _flag("taken"),
    _int("ts"),
    sa.Index("ix_steers_run_id", "run_id"),
)

search_rows = sa.Table(
    "search_rows",
    metadata,
    sa.Column("id", _SERIAL, primary_key=True),
    _id("message_id", nullable=False),
    _id("scope", nullable=False),
    sa.Index("ix_search_rows_message_id", "message_id"),
)
"""What the search index has; the index itself is `search_text`, see `search.py`."""

search_due = sa.Table("search_due", metadata, _id("message_id", primary_key=True))
"""Messages that are still to be indexed."""

recalled = sa.Table(
    "recalled",
    metadata,
    _id("key", primary_key=True),
    _id("parts", nullable=False),
    _id("continuity", nullable=False),
    _int("size"),
    _int("used_at"),
    sa.Index("ix_recalled_used_at", "used_at"),
)
"""Answers kept for clients of the compatible routes, which send no thinking back."""
