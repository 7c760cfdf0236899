"""Todos and plans, as they are kept and shown."""

from typing import Literal

import msgspec

TodoStatus = Literal["pending", "in_progress", "completed", "cancelled"]
TodoOrigin = Literal["agent", "person", "plan"]


class Todo(msgspec.Struct, kw_only=True):
    id: str
    content: str
    status: TodoStatus
    origin: TodoOrigin = "agent"
    plan_revision: int | None = None
    reason: str | None = None


class TodoSummary(msgspec.Struct, kw_only=True, frozen=True):
    total: int
    pending: int
    in_progress: int
    completed: int
    cancelled: int


def summarise(todos: list[Todo]) -> TodoSummary:
    """Count a list by status."""
    statuses = [todo.status for todo in todos]
    return TodoSummary(
        total=len(statuses),
        pending=statuses.count("pending"),
        in_progress=statuses.count("in_progress"),
        completed=statuses.count("completed"),
        cancelled=statuses.count("cancelled"),
    )


class PlanStep(msgspec.Struct, kw_only=True):
    id: str
    text: str
    todo_ids: list[str] = []


class Plan(msgspec.Struct, kw_only=True):
    plan_id: str
    revision: int
    status: Literal["draft", "approved", "completed", "superseded"]
    goal: str
    steps: list[PlanStep] = []
    active_todo_ids: list[str] = []
    constraints: list[str] = []
    open_questions: list[str] = []
