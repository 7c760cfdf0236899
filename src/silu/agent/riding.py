"""Telling the model what it has to know: on the last message, never as one of its own."""

from silu.agent import notices
from silu.agent.plan import approved_text
from silu.agent.ports import AnswersNow
from silu.agent.repeats import Repeats
from silu.agent.turn import Turn
from silu.types import facts
from silu.types.parts import Message, NoticePart, Part, TextPart


async def tell_model(turn: Turn, repeats: Repeats) -> None:
    """Let what the model has to know ride on the last message, before it is sent.

    An answer that the vendor paused goes back as it is: nothing rides on it.
    """
    last = turn.context.messages[-1]
    if last.role == "assistant":
        return
    due = [*_mode_notice(turn), *_plan_notice(turn), *_todo_notice(turn)]
    if repeats.warn and last.role == "tool":
        due.append(_notice(turn, "repeated_call", notices.REPEATED))
    if isinstance(turn.runs, AnswersNow) and turn.runs.take_answer_now():
        turn.hurried = True
        due.append(_notice(turn, "answer_now", notices.ANSWER_NOW))
    if said := turn.runs.take_steering():
        due.append(_notice(turn, "steering", notices.steering_text(said)))
        for text in said:
            turn.events.fact(facts.Notice(kind="steering", text=text))
    if due and last.role == "tool":
        await _replace(turn, Message(role="tool", parts=[*last.parts, *due], id=last.id))
    elif due:
        await _replace(turn, _with_head(last, due))


def _with_head(message: Message, due: list[NoticePart]) -> Message:
    at = sum(1 for part in message.parts if isinstance(part, NoticePart))
    parts: list[Part] = [*message.parts[:at], *due, *message.parts[at:]]
    return Message(role="user", parts=parts, id=message.id)


def _notice(turn: Turn, kind: notices.NoticeKind, text: str) -> NoticePart:
    return notices.notice(kind, text, turn.context.epoch.tag, turn.new_id())


def _mode_notice(turn: Turn) -> list[NoticePart]:
    mode = turn.mode()
    if notices.told_mode(turn.context.messages) == mode:
        return []
    return [_notice(turn, "mode", notices.mode_text(mode, turn.statement(mode)))]


def _plan_notice(turn: Turn) -> list[NoticePart]:
    """The approved plan, once: in the next request after the person approved it."""
    plan = turn.plans.newest("approved")
    if plan is None:
        return []
    text = approved_text(plan)
    told = notices.last_notice(turn.context.messages, "plan")
    if told is None and turn.context.in_summary(text):
        return []
    head = text.split("\n", 1)[0]
    return [] if told is not None and head in told.text else [_notice(turn, "plan", text)]


def _todo_notice(turn: Turn) -> list[NoticePart]:
    injected = turn.todos.format_for_injection()
    in_summary = injected is not None and turn.context.in_summary(injected)
    if in_summary and not notices.tells_todos(turn.context.messages):
        return []
    if notices.knows_todos(turn.context.messages, turn.todos, turn.context.epoch.tag):
        return []
    return [_notice(turn, "todo", notices.todo_text(turn.todos))]


async def add_words(turn: Turn, said: list[str]) -> None:
    """Words that came while the last answer was written are the person's next message."""
    text = "\n\n".join(said)
    message = Message(
        role="user", parts=[TextPart(text=text, id=turn.new_id())], id=turn.message_id("s")
    )
    told = facts.MessageAdded(message_id=message.id, role="user", text=text)
    await add(turn, message, [told])


async def add(turn: Turn, message: Message, told: list[facts.FactData] | None = None) -> None:
    await turn.journal.put_message(
        message, step=turn.step, attempt=turn.attempt, final=True, facts=told or []
    )
    turn.context.add(message)


async def _replace(turn: Turn, message: Message) -> None:
    if message.role == "tool":
        # The results belong to the step before the one that reads them.
        await turn.journal.tool_finished(message, step=turn.step - 1)
    else:
        await turn.journal.put_message(message, step=turn.step, attempt=turn.attempt, final=True)
    turn.context.replace_last(message)
