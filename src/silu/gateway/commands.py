"""What a client frame does: each command is one call of the services."""

from typing import Any

import msgspec

from silu.app import App
from silu.engine.api import HubClientApi, Sent
from silu.types import frames as f
from silu.types.errors import UserError


async def run_command(
    app: App,
    client: HubClientApi,
    session_id: str | None,
    command: msgspec.Struct,
    *,
    by: str,
) -> dict[str, Any]:
    """Do what the frame asks; the answer is the `data` of its `ack`. `by` says who asks, for the
    record of approvals.

    Raises `UserError`; then nothing has changed.
    """
    match command:
        case f.Ping():
            return {}
        case f.Subscribe(list=True):
            await client.subscribe_list(since=command.since)
            return {}
        case f.Unsubscribe(list=True):
            client.unsubscribe_list()
            return {}
        case _:
            known = _needed(session_id)
            await app.require_session(known)
            return await _in_session(app, client, known, command, by=by)


async def _in_session(
    app: App, client: HubClientApi, session_id: str, command: msgspec.Struct, *, by: str
) -> dict[str, Any]:
    match command:
        case f.Subscribe():
            await client.subscribe(session_id, since=command.since, blocks=command.blocks)
        case f.Unsubscribe():
            client.unsubscribe(session_id)
        case f.MarkRead():
            await app.mark_read(session_id)
        case f.Send() | f.Edit() | f.Regenerate():
            return _sent(await _turn(app, session_id, command))
        case f.Cancel():
            stopped = await app.cancel(session_id, command)
            return {"cancelled": stopped}
        case f.Steer():
            return {"taken": await app.steer(session_id, command)}
        case f.AnswerNow():
            return {"taken": await app.answer_now(session_id, command)}
        case f.Approve():
            await app.approve(session_id, command, by=by)
        case f.ApprovePlan():
            await app.approve_plan(session_id, command, by=by)
        case _:
            await _change(app, session_id, command)
    return {}


async def _turn(app: App, session_id: str, command: f.Send | f.Edit | f.Regenerate) -> Sent:
    match command:
        case f.Send():
            return await app.send(session_id, command)
        case f.Edit():
            return await app.edit(session_id, command)
        case f.Regenerate():
            return await app.regenerate(session_id, command)


async def _change(app: App, session_id: str, command: msgspec.Struct) -> None:
    match command:
        case f.SetThinkingLevel():
            await app.set_level(session_id, command)
        case f.SetModel():
            await app.set_model(session_id, command)
        case f.SetMode():
            await app.set_mode(session_id, command)
        case f.AnswerQuestion():
            await app.answer_question(session_id, command)
        case f.TodoEdit():
            await app.todo_edit(session_id, command)
        case f.QueueEdit():
            await app.queue_edit(session_id, command)
        case f.Compact():
            await app.compact(session_id, command)
        case _:
            raise UserError("This command is not known here.", code="bad_argument")


def _sent(sent: Sent) -> dict[str, Any]:
    return {
        "session_id": sent.session_id,
        "run_id": sent.run_id,
        "message_id": sent.message_id,
        "queued": sent.queued,
    }


def _needed(session_id: str | None) -> str:
    if not session_id:
        raise UserError(
            "This frame needs a `session_id` at its top.", code="bad_argument", setting="session_id"
        )
    return session_id
