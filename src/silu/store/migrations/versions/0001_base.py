"""The first schema: sessions, messages, runs, the log of facts and what belongs to them."""

import sqlalchemy as sa
from alembic import op

revision = "0001_base"
down_revision = None


def upgrade() -> None:
    _blob_refs()
    _blobs()
    _commands()
    _deltas()
    _facts()
    _gone()
    _history()
    _learned()
    _messages()
    _sessions()
    _settings()
    _approvals()
    _calls()
    _epochs()
    _plans()
    _runs()
    _steers()
    _todo_history()
    _todos()
    _usage()
    _skills()
    _steps()
    _tool_journal()


def _blob_refs() -> None:
    op.create_table(
        "blob_refs",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", "sha256", name="pk_blob_refs"),
        if_not_exists=True,
    )
    op.create_index("ix_blob_refs_sha256", "blob_refs", ["sha256"], if_not_exists=True)


def _blobs() -> None:
    op.create_table(
        "blobs",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_blobs"),
        if_not_exists=True,
    )


def _commands() -> None:
    op.create_table(
        "commands",
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("client_id", name="pk_commands"),
        if_not_exists=True,
    )
    op.create_index("ix_commands_session_id", "commands", ["session_id"], if_not_exists=True)


def _deltas() -> None:
    op.create_table(
        "deltas",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("block_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("session_id", "block_id", "attempt", "start", name="pk_deltas"),
        sqlite_with_rowid=False,
        if_not_exists=True,
    )


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "n", name="pk_facts"),
        sqlite_with_rowid=False,
        if_not_exists=True,
    )


def _gone() -> None:
    op.create_table(
        "gone",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("changed", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_gone"),
        if_not_exists=True,
    )
    op.create_index("ix_gone_changed", "gone", ["changed"], if_not_exists=True)


def _history() -> None:
    op.create_table(
        "history",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "seq", name="pk_history"),
        sqlite_with_rowid=False,
        if_not_exists=True,
    )
    op.create_index("ix_history_message_id", "history", ["message_id"], if_not_exists=True)


def _learned() -> None:
    op.create_table(
        "learned",
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), server_default="", nullable=False),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("endpoint", "model", "fact", name="pk_learned"),
        if_not_exists=True,
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.Column("interrupted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("final", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        if_not_exists=True,
    )
    op.create_index("ix_messages_run_id", "messages", ["run_id"], if_not_exists=True)


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text(), nullable=True),
        sa.Column("forked_at", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("build_model", sa.Text(), nullable=True),
        sa.Column("build_level", sa.Text(), nullable=True),
        sa.Column("plan_model", sa.Text(), nullable=True),
        sa.Column("plan_level", sa.Text(), nullable=True),
        sa.Column("workspace", sa.Text(), server_default="", nullable=False),
        sa.Column("workspace_locked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("temperature", sa.Float(), nullable=True),
        sa.Column("top_p", sa.Float(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("head", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("log_start", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("read_n", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attention_n", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("running_run", sa.Text(), nullable=True),
        sa.Column("waiting", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_message", sa.Text(), nullable=True),
        sa.Column("todo_summary", sa.Text(), nullable=True),
        sa.Column("tokens", sa.Text(), nullable=True),
        sa.Column("changed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("trashed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        if_not_exists=True,
    )
    op.create_index("ix_sessions_changed", "sessions", ["changed"], if_not_exists=True)
    op.create_index("ix_sessions_parent_id", "sessions", ["parent_id"], if_not_exists=True)


def _settings() -> None:
    op.create_table(
        "settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
        if_not_exists=True,
    )


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("scope", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_approvals_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_approvals_session_id_status", "approvals", ["session_id", "status"], if_not_exists=True
    )


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_calls_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_calls"),
        sa.UniqueConstraint("run_id", "step", "attempt", name="uq_calls_run_id_step_attempt"),
        if_not_exists=True,
    )
    op.create_index("ix_calls_session_id", "calls", ["session_id"], if_not_exists=True)


def _epochs() -> None:
    op.create_table(
        "epochs",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), server_default="", nullable=False),
        sa.Column("tools_json", sa.Text(), server_default="", nullable=False),
        sa.Column("tag", sa.Text(), server_default="", nullable=False),
        sa.Column("first_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_epochs_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "number", name="pk_epochs"),
        if_not_exists=True,
    )


def _plans() -> None:
    op.create_table(
        "plans",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_plans_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "plan_id", "revision", name="pk_plans"),
        if_not_exists=True,
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("user_message_id", sa.Text(), nullable=True),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("turn_level", sa.Text(), nullable=True),
        sa.Column("turn_mode", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("stalled", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("usage", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("wait_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_runs_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_runs_session_id_status", "runs", ["session_id", "status"], if_not_exists=True
    )
    op.create_index("ix_runs_status", "runs", ["status"], if_not_exists=True)


def _steers() -> None:
    op.create_table(
        "steers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("taken", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_steers_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_steers"),
        if_not_exists=True,
    )
    op.create_index("ix_steers_run_id", "steers", ["run_id"], if_not_exists=True)


def _todo_history() -> None:
    op.create_table(
        "todo_history",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("todos", sa.Text(), nullable=False),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_todo_history_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_todo_history"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_todo_history_session_id", "todo_history", ["session_id"], if_not_exists=True
    )


def _todos() -> None:
    op.create_table(
        "todos",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("todo_id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("plan_revision", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_todos_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "position", name="pk_todos"),
        if_not_exists=True,
    )


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("reasoning_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("ts", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_usage_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "step", "attempt", name="pk_usage"),
        if_not_exists=True,
    )
    op.create_index("ix_usage_session_id", "usage", ["session_id"], if_not_exists=True)
    op.create_index("ix_usage_ts", "usage", ["ts"], if_not_exists=True)


def _skills() -> None:
    op.create_table(
        "skills",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("skill_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("label", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("result_type", sa.Text(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_skills_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "skill_id", name="pk_skills"),
        if_not_exists=True,
    )


def _steps() -> None:
    op.create_table(
        "steps",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_steps_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "step", name="pk_steps"),
        if_not_exists=True,
    )


def _tool_journal() -> None:
    op.create_table(
        "tool_journal",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("result_status", sa.Text(), nullable=True),
        sa.Column("proposed_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_tool_journal_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "step", "call_id", name="pk_tool_journal"),
        if_not_exists=True,
    )
