"""The plan of a session: revisions, their approval, and the todos that belong to them.

Every revision is kept. A new draft supersedes an older draft at once and cancels its open todos;
an approved revision and its todos stay in force until a new one is approved.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.schema import faults
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError
from silu.types.todos import Plan, PlanStep, Todo

NAME = "plan"
_OPEN = frozenset({"pending", "in_progress"})


class Plans:
    """All revisions of a session, oldest first, and the todo list they refer to."""

    def __init__(self, revisions: Sequence[Plan] = (), todos: Sequence[Todo] = ()) -> None:
        self.revisions = list(revisions)
        self.todos = list(todos)

    def newest(self, *statuses: str) -> Plan | None:
        """The newest revision of one of these states."""
        return next((plan for plan in reversed(self.revisions) if plan.status in statuses), None)

    @property
    def current(self) -> Plan | None:
        """The revision that counts: the draft under way, else the approved one."""
        return self.newest("draft", "approved")

    def propose(self, args: Args) -> Plan:
        """Add a draft; `ToolError` when it names todos that do not exist."""
        steps = [_step(number, item) for number, item in enumerate(args["steps"], start=1)]
        self._check_links(steps)
        last = self.revisions[-1] if self.revisions else None
        goes_on = last is not None and last.status != "completed"
        # Numbers never begin again: todos name their plan by its revision alone.
        revision = last.revision + 1 if last is not None else 1
        plan = Plan(
            plan_id=last.plan_id if last is not None and goes_on else _new_id(),
            revision=revision,
            status="draft",
            goal=str(args["goal"]),
            steps=steps,
            constraints=list(args.get("constraints") or []),
            open_questions=list(args.get("open_questions") or []),
        )
        linked = {todo_id for step in steps for todo_id in step.todo_ids}
        old = self.newest("draft")
        if old is not None:
            self._supersede(old, revision, keep=linked)
        self._belong(linked, revision)
        self.revisions.append(plan)
        self._refresh(plan)
        return plan

    def approve(self, plan_id: str, revision: int) -> Plan:
        """The person's approval: the draft comes into force, the plan before it is superseded.

        Steps without a todo get one. `UserError` (`stale_plan`) when that revision is no draft.
        """
        plan = self.newest("draft")
        if plan is None or (plan.plan_id, plan.revision) != (plan_id, revision):
            raise UserError(
                f"Revision {revision} of the plan is not the draft that is up for approval.",
                code="stale_plan",
                fix="Look at the newest revision and approve that one.",
            )
        linked = {todo_id for step in plan.steps for todo_id in step.todo_ids}
        old = self.newest("approved")
        if old is not None:
            self._supersede(old, revision, keep=linked)
        plan.status = "approved"
        for step in plan.steps:
            if not step.todo_ids:
                step.todo_ids = [self._new_todo(step, revision)]
        self._refresh(plan)
        return plan

    def settle(self) -> Plan | None:
        """The approved plan when its last todo has just been closed: it is completed."""
        plan = self.newest("approved")
        if plan is None:
            return None
        own = [todo for todo in self.todos if todo.plan_revision == plan.revision]
        if not own or any(todo.status in _OPEN for todo in own):
            self._refresh(plan)
            return None
        plan.status = "completed"
        plan.active_todo_ids = []
        return plan

    # ------------------------------------------------------------------------ inside

    def _check_links(self, steps: list[PlanStep]) -> None:
        known = {todo.id for todo in self.todos}
        missing = sorted({i for step in steps for i in step.todo_ids} - known)
        if missing:
            raise ToolError(f"there are no todos {', '.join(missing)}; nothing changed")

    def _supersede(self, plan: Plan, revision: int, *, keep: set[str]) -> None:
        plan.status = "superseded"
        plan.active_todo_ids = []
        for todo in self.todos:
            theirs = todo.plan_revision == plan.revision and todo.origin != "person"
            if theirs and todo.status in _OPEN and todo.id not in keep:
                todo.status = "cancelled"
                todo.reason = f"superseded_by_revision: {revision}"

    def _belong(self, ids: set[str], revision: int) -> None:
        for todo in self.todos:
            if todo.id in ids and todo.origin != "person":
                todo.plan_revision = revision

    def _new_todo(self, step: PlanStep, revision: int) -> str:
        taken = {todo.id for todo in self.todos}
        todo_id = next(i for n in range(len(taken) + 1) if (i := _todo_id(step, n)) not in taken)
        self.todos.append(
            Todo(
                id=todo_id,
                content=step.text,
                status="pending",
                origin="plan",
                plan_revision=revision,
            )
        )
        return todo_id

    def _refresh(self, plan: Plan) -> None:
        linked = {todo_id for step in plan.steps for todo_id in step.todo_ids}
        plan.active_todo_ids = [
            todo.id for todo in self.todos if todo.id in linked and todo.status in _OPEN
        ]


def _new_id() -> str:
    return f"plan_{secrets.token_hex(6)}"


def _todo_id(step: PlanStep, number: int) -> str:
    return step.id if number == 0 else f"{step.id}-{number + 1}"


def _step(number: int, item: dict[str, Any]) -> PlanStep:
    return PlanStep(
        id=str(item.get("id") or number),
        text=str(item["text"]),
        todo_ids=list(item.get("todo_ids") or []),
    )


def rendered(plan: Plan) -> str:
    """The plan as text for the model."""
    lines = [f"Goal: {plan.goal}", "Steps:"]
    for step in plan.steps:
        todos = f" (todos: {', '.join(step.todo_ids)})" if step.todo_ids else ""
        lines.append(f"{step.id}. {step.text}{todos}")
    for title, items in (("Constraints", plan.constraints), ("Open", plan.open_questions)):
        lines += [f"{title}:", *(f"- {item}" for item in items)] if items else []
    return "\n".join(lines)


def approved_text(plan: Plan) -> str:
    """What the model is told once when the person has approved a revision."""
    head = f"The person approved revision {plan.revision} of {plan.plan_id}. Carry it out."
    return f"{head}\n{rendered(plan)}"


# ------------------------------------------------------------------------------ the tool


def plan_tool(plans: Plans, *, changed: Callable[[Plan], Awaitable[None]]) -> Tool:
    """The tool on a session's plan; `changed` is awaited with every new draft."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        if not args:
            return _output(plans.current)
        plan = plans.propose(args)
        await changed(plan)
        return _output(plan)

    return Tool(spec=_SPEC, effects=frozenset(), run=run, check=_check)


def _output(plan: Plan | None) -> ToolOutput:
    text = msgspec.json.encode({"plan": plan}).decode()
    return ToolOutput(text=text, whole=True, media_type="application/json")


def _check(args: Args) -> list[str]:
    return faults(args, {**_SCHEMA, "required": ["goal", "steps"]}) if args else []


_TEXTS = {"type": "array", "items": {"type": "string"}}
_SCHEMA = object_schema(
    {
        "goal": {"type": "string", "minLength": 1},
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string", "minLength": 1},
                    "todo_ids": _TEXTS,
                },
                "required": ["text"],
            },
        },
        "constraints": _TEXTS,
        "open_questions": _TEXTS,
    }
)
_SPEC = ToolSpec(name=NAME, description=describe(__file__), parameters=_SCHEMA)
