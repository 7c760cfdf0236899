"""The tools that steer the session itself, tied to one turn's journal."""

from collections.abc import Sequence
from dataclasses import replace

from silu.agent.asking import ask_user_tool
from silu.agent.plan import Plans, plan_tool
from silu.agent.ports import (
    AnswersQuestions,
    Events,
    Journal,
    KeepsPlans,
    Runs,
    RunsChildren,
    TellsEdits,
    TurnState,
)
from silu.agent.skills import Skills
from silu.agent.subagents import MAX_DEPTH, task_tool
from silu.agent.todo import TodoStore, todo_tool
from silu.tools.base import Args, Tool, ToolContext, ToolOutput
from silu.types import facts
from silu.types.facts import FactData
from silu.types.levels import LevelChoice
from silu.types.skills import Skill
from silu.types.todos import Plan


class Control:
    """The session's todos and plan while a turn runs: every change goes through the journal.

    What a person changes meanwhile is taken over before the agent reads or writes.
    """

    def __init__(
        self,
        journal: Journal,
        runs: Runs,
        events: Events,
        state: TurnState,
        *,
        skills: Sequence[Skill] = (),
    ) -> None:
        self._state = state
        self.skills = Skills(skills, state.skills, events.fact) if skills else None
        self._journal = journal
        self._runs = runs
        self._events = events
        self.todos = TodoStore(state.todos, language=state.session.language)
        revisions = state.plans or ([state.plan] if state.plan is not None else [])
        self.plans = Plans(revisions)

    def tools(self) -> list[Tool]:
        made = [todo_tool(self.todos, changed=self._todos_changed)]
        if isinstance(self._journal, KeepsPlans):
            self.plans.todos = self.todos.todos()
            made.append(plan_tool(self.plans, changed=self._drafted))
        if isinstance(self._runs, AnswersQuestions) and self._runs.attended():
            made.append(ask_user_tool(self._runs, self._events.fact))
        children = self._children()
        if children is not None:
            made.append(task_tool(children, self._level))
        if self.skills is not None:
            made.append(self.skills.tool(children, self._level))
        return [self._refreshed(tool) for tool in made]

    def _children(self) -> RunsChildren | None:
        """Who runs sub-agents, where there may be any."""
        runs = self._runs
        return runs if isinstance(runs, RunsChildren) and runs.depth() < MAX_DEPTH else None

    def _level(self) -> LevelChoice:
        """The level in force, for a sub-agent to inherit."""
        return self._runs.level() or self._state.turn_level or self._state.session.level

    def refresh(self) -> None:
        """Take over what a person has changed."""
        edits = self._runs.take_edits() if isinstance(self._runs, TellsEdits) else None
        if edits is None:
            return
        self.todos.replace(edits.todos)
        if edits.plans is not None:
            self.plans.revisions = list(edits.plans)
        self.plans.todos = self.todos.todos()

    def _refreshed(self, tool: Tool) -> Tool:
        async def run(args: Args, context: ToolContext) -> ToolOutput:
            self.refresh()
            return await tool.run(args, context)

        return replace(tool, run=run)

    async def _todos_changed(self) -> None:
        """Write the list; closing the last todo of the approved plan completes the plan."""
        told: list[FactData] = [self._todo_update()]
        self.plans.todos = self.todos.todos()
        done = self.plans.settle()
        if done is not None and isinstance(self._journal, KeepsPlans):
            told.append(plan_update(done))
            await self._journal.put_plans([done], self.todos.todos(), by="agent", facts=told)
        else:
            await self._journal.put_todos(self.todos.todos(), by="agent", facts=told)

    async def _drafted(self, plan: Plan) -> None:
        assert isinstance(self._journal, KeepsPlans)
        self.todos.replace(self.plans.todos)
        told: list[FactData] = [plan_update(plan), self._todo_update()]
        await self._journal.put_plans(
            self.plans.revisions, self.todos.todos(), by="agent", facts=told
        )

    def _todo_update(self) -> FactData:
        return facts.TodoUpdate(todos=self.todos.todos(), summary=self.todos.summary())


def plan_update(plan: Plan) -> FactData:
    return facts.PlanUpdate(
        plan_id=plan.plan_id,
        revision=plan.revision,
        status=plan.status,
        goal=plan.goal,
        steps=plan.steps,
        active_todo_ids=plan.active_todo_ids,
        constraints=plan.constraints,
        open_questions=plan.open_questions,
    )
