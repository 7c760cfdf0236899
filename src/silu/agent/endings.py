"""What a step without tool calls means: an answer, a nudge, or an honest end."""

from dataclasses import dataclass
from typing import Literal

from silu.agent import notices
from silu.agent.settings import RunOutcome
from silu.agent.steps import StepResult
from silu.agent.turn import Turn
from silu.types.parts import Message, NoticePart, ThinkingPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Nudge:
    """The run goes on after the model has read this."""

    kind: notices.NoticeKind
    text: str


Verdict = RunOutcome | Nudge | Literal["again"]
"""The run ends, goes on with a word from silu, or calls the model again as it is."""


_CUT = frozenset({"length", "context_overflow"})
"""The answer ended where the output limit, or the model's window, did."""


_HELD_BACK = frozenset({"content_filter", "refusal"})
"""The vendor or the model held the answer back, or the rest of it."""


def after_answer(turn: Turn, result: StepResult) -> Verdict:
    """Judge a finished model call that asked for no tools."""
    reason = result.finish.reason if result.finish else "unknown"
    if reason == "pause":
        return "again"
    if not result.has_text:
        return _without_text(turn, result, reason)
    turn.empty_answers = 0
    if reason in _CUT:
        return RunOutcome(status="incomplete", reason="token_limit", finish_reason=reason)
    if reason in _HELD_BACK:
        # None of the reasons a run has: the finish reason says it.
        return RunOutcome(status="incomplete", finish_reason=reason)
    return _with_todos(turn, reason)


def _without_text(turn: Turn, result: StepResult, reason: str) -> Verdict:
    thought = any(isinstance(part, ThinkingPart) for part in result.message.parts)
    if reason in _CUT:
        why = "thinking_used_limit" if thought else "token_limit"
        return RunOutcome(status="incomplete", reason=why, finish_reason=reason)
    turn.empty_answers += 1
    if reason in _HELD_BACK or turn.empty_answers >= turn.settings.limits.empty_answers:
        return RunOutcome(status="incomplete", reason="no_answer", finish_reason=reason)
    return Nudge(kind="no_answer", text=notices.NO_ANSWER)


def _with_todos(turn: Turn, reason: str) -> Verdict:
    """Open todos of its own are put to the model once; then the run ends as it is."""
    left = turn.todos.open_items(turn.todos.touched)
    if not left or turn.mode() == "plan":
        return RunOutcome(status="completed", finish_reason=reason)
    this_run = turn.context.since(turn.state.user_message_id)
    if notices.last_notice(this_run, "open_todos") is not None:
        return RunOutcome(status="incomplete", reason="open_todos", finish_reason=reason)
    items = [(todo.id, todo.content, todo.status) for todo in left]
    return Nudge(kind="open_todos", text=notices.open_todos_text(items))


def nudge_message(turn: Turn, nudge: Nudge) -> Message:
    """The carrier of a nudge behind an answer: there is no tool result it could ride on."""
    part = notices.notice(nudge.kind, nudge.text, turn.context.epoch.tag, turn.new_id())
    parts: list[NoticePart] = [part]
    return Message(role="user", parts=[*parts], id=turn.message_id("n"))
