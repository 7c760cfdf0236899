"""What a person says and changes in a session: turns, level, model, mode, todos."""

from collections.abc import Sequence
from typing import Any

import msgspec

from silu.agent.approvals import Approval
from silu.agent.todo import TodoStore
from silu.app.base import known_level, optional_level
from silu.app.written import WrittenOnes
from silu.engine.api import Sent
from silu.types import frames as f
from silu.types.errors import UserError
from silu.types.parts import FilePart, ImagePart, Part, part_from_object


class Turns(WrittenOnes):
    """Services behind the commands of the socket."""

    async def send(self, session_id: str, command: f.Send) -> Sent:
        if not command.text.strip() and not command.parts:
            raise UserError("There is nothing to send.", code="bad_argument", setting="text")
        kept = await self.expanded(session_id, command.text)
        return await self.engine.send(
            session_id,
            command.text if kept is None else kept.text,
            parts=_parts(command.parts),
            level=optional_level(command.level or (kept and kept.level)),
            mode=command.mode or (kept and kept.mode),
            thinking_limit=command.thinking_limit,
            client_id=command.client_id,
        )

    async def cancel(self, session_id: str, command: f.Cancel) -> bool:
        return await self.engine.cancel(
            session_id, run_id=command.run_id, client_id=command.client_id
        )

    async def steer(self, session_id: str, command: f.Steer) -> bool:
        return await self.engine.steer(session_id, command.text, client_id=command.client_id)

    async def answer_now(self, session_id: str, command: f.AnswerNow) -> bool:
        return await self.engine.answer_now(
            session_id, run_id=command.run_id, client_id=command.client_id
        )

    async def approve(self, session_id: str, command: f.Approve, *, by: str | None = None) -> None:
        """The person's word on a call; `by` says who gave it, for the record."""
        approval = Approval(
            decision=command.decision,
            scope=command.scope,
            pattern=command.pattern,
            reason=command.reason,
        )
        await self.engine.approve(
            session_id, command.approval_id, approval, by=by, client_id=command.client_id
        )

    async def answer_question(self, session_id: str, command: f.AnswerQuestion) -> None:
        if not command.answer.strip():
            raise UserError("The answer is empty.", code="bad_argument", setting="answer")
        await self.engine.answer_question(
            session_id, command.question_id, command.answer, client_id=command.client_id
        )

    async def approve_plan(
        self, session_id: str, command: f.ApprovePlan, *, by: str | None = None
    ) -> None:
        await self.engine.approve_plan(
            session_id, command.plan_id, command.revision, by=by, client_id=command.client_id
        )

    async def compact(self, session_id: str, command: f.Compact) -> None:
        if not (await self.store.messages(session_id, limit=1)).messages:
            raise UserError("There is nothing to make shorter.", code="nothing_to_compact")
        await self.engine.compact(session_id, client_id=command.client_id)

    async def edit(self, session_id: str, command: f.Edit) -> Sent:
        return await self.engine.edit(
            session_id, command.message_id, command.text, client_id=command.client_id
        )

    async def regenerate(self, session_id: str, command: f.Regenerate) -> Sent:
        if command.model is not None:
            self.client.model(command.model)
        return await self.engine.regenerate(
            session_id,
            command.message_id,
            level=optional_level(command.level),
            model=command.model,
            client_id=command.client_id,
        )

    async def queue_edit(self, session_id: str, command: f.QueueEdit) -> None:
        await self.engine.queue_edit(
            session_id,
            command.message_id,
            text=command.text,
            remove=command.remove,
            client_id=command.client_id,
        )

    async def set_level(self, session_id: str, command: f.SetThinkingLevel) -> None:
        session = await self.store.session(session_id)
        level = known_level(command.level)
        await self.engine.set_level(
            session_id,
            level,
            self._level_state(await self._model_of(session), level),
            client_id=command.client_id,
        )

    async def set_model(self, session_id: str, command: f.SetModel) -> None:
        session = await self.store.session(session_id)
        ref = self.client.model(command.model).ref
        await self.engine.set_model(
            session_id,
            ref,
            await self._level_at(ref, session),
            client_id=command.client_id,
        )

    async def set_mode(self, session_id: str, command: f.SetMode) -> None:
        await self.engine.set_mode(session_id, command.mode, client_id=command.client_id)

    async def todo_edit(self, session_id: str, command: f.TodoEdit) -> None:
        """The person's own edit: repaired like the agent's, kept as theirs."""
        before = {todo.id for todo in await self.store.todos(session_id)}
        todos = TodoStore(await self.store.todos(session_id))
        todos.write(command.todos)
        after = todos.todos()
        for todo in after:
            if todo.id not in before:
                todo.origin = "person"
        await self.engine.todo_edit(session_id, after, client_id=command.client_id)


def _parts(items: Sequence[dict[str, Any]]) -> list[Part]:
    """Attachments of a message: pictures and files that were uploaded as blobs before."""
    parts: list[Part] = []
    for item in items:
        try:
            part = part_from_object(item)
        except msgspec.ValidationError as exc:
            raise UserError(f"An attachment is malformed: {exc}.", code="bad_argument") from exc
        if not isinstance(part, ImagePart | FilePart) or part.blob is None:
            raise UserError(
                "An attachment is an `image` or a `file` with its `blob`.", code="bad_argument"
            )
        parts.append(part)
    return parts
