"""Whether a call may run: arguments, the mode in force, then the approval policy."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from silu.agent.approvals import Policy, judge, placed, rule_of, suggestions
from silu.agent.planning import decide, refusal
from silu.agent.ports import Approves, Stale, WaitsError
from silu.agent.turn import Turn
from silu.tools.base import Args, Tool, ToolContext
from silu.tools.toolbox import read_arguments
from silu.types.errors import ToolError, place_of
from silu.types.facts import ApprovalRequest, Mode
from silu.types.parts import ToolCallPart, ToolResultPart

log = logging.getLogger(__name__)

ASK_ALL = Policy()


class DeniedError(ToolError):
    """The mode in force or the person does not allow the call."""


@contextmanager
def guarded(tool: Tool) -> Generator[None]:
    """Around a tool's own code. A fault of a tool must not end the run: the model is told
    (`ToolError`), the log names the place."""
    try:
        yield
    except (ToolError, Stale, WaitsError):
        raise
    except Exception as error:
        log.error(  # noqa: TRY400 - a trace ends in the error's text, which may be a person's
            "tool %s failed: %s", tool.name, place_of(error)
        )
        text = f"{tool.name} failed with an internal error ({type(error).__name__})"
        raise ToolError(text) from error


def admit(turn: Turn, call: ToolCallPart) -> tuple[Tool, Args]:
    """The tool and its checked arguments, if the mode in force at this moment allows it."""
    tool = turn.tools.find(call.name)
    if turn.last_finish == "length" and not _is_json(call.arguments):
        raise ToolError("the output limit cut this call's arguments off; nothing was done")
    with guarded(tool):
        args = read_arguments(tool, call.arguments)
        _check_mode(turn, tool, args)
    return tool, args


def still_allowed(turn: Turn, tool: Tool, args: Args, *, admitted: Mode) -> None:
    """Look once more, right before a call runs, at the mode: the person may have switched it
    since the call was admitted. Raises `DeniedError`."""
    mode = turn.mode()
    if mode != admitted and decide(mode, tool, args) != "allow":
        raise DeniedError(refusal(mode, tool, turn.known_tools()))


async def prepared(
    turn: Turn, call: ToolCallPart, tool: Tool, args: Args, *, wait_id: str
) -> tuple[ToolCallPart, Args]:
    """The call as its hooks want it; changed arguments are checked like the model's own.

    Asked again when a parked run is taken up. Raises `DeniedError` where a hook refuses.
    """
    assert tool.prepare is not None
    try:
        changed = await tool.prepare(args, context_of(turn, call, wait_id=wait_id))
    except ToolError as error:
        raise DeniedError(str(error)) from error
    if changed == args:
        return call, args
    text = msgspec.json.encode(changed).decode()
    args = read_arguments(tool, text)
    _check_mode(turn, tool, args)
    return msgspec.structs.replace(call, arguments=text), args


async def may_run(
    turn: Turn, call: ToolCallPart, tool: Tool, args: Args, *, approval_id: str
) -> bool:
    """True when the call may run, False when a person still has to say so.

    Raises `DeniedError` where they, or a rule of theirs, said no.
    """
    runs = turn.runs
    asks = decide(turn.mode(), tool, args) == "ask"
    policy = turn.settings.policy
    if policy is None and not asks:
        return True
    rules = runs.rules() if isinstance(runs, Approves) else ()
    named = placed(args, turn.state.session.workspace)
    verdict = judge(policy or ASK_ALL, tool, named, rules)
    if verdict == "deny":
        raise DeniedError(f"{tool.name} was not run: a rule of the person's forbids this call.")
    if verdict == "allow":
        return True
    if not isinstance(runs, Approves):
        raise DeniedError(f"{tool.name} was not run: it needs approval and nobody can be asked.")
    approval = runs.answered(approval_id)
    if approval is None:
        request = await _request(turn, call, tool, args, approval_id=approval_id)
        turn.events.fact(request)
        approval = await runs.approval(request)
    if approval is None:
        return False
    if (rule := rule_of(tool, named, approval)) is not None:
        await runs.add_rule(rule, approval.scope)
    if approval.decision == "deny":
        why = f" They said: {approval.reason}" if approval.reason else ""
        raise DeniedError(f"{tool.name} was not run: the person did not allow it.{why}")
    # They may have taken their time, and the mode may be another one by now.
    _check_mode(turn, tool, args)
    return True


def context_of(turn: Turn, call: ToolCallPart, *, wait_id: str) -> ToolContext:
    """What a tool is given to run this call."""

    async def read_result(part_id: str) -> str | None:
        return await _kept_result(turn, part_id)

    return ToolContext(
        workspace=turn.state.session.workspace,
        call_id=call.call_id,
        session_id=turn.state.session.id,
        run_id=turn.state.run_id,
        wait_id=wait_id,
        language=turn.state.session.language,
        mode=turn.mode(),
        cancelled=turn.stopped.is_set,
        read_result=read_result,
    )


def _check_mode(turn: Turn, tool: Tool, args: Args) -> None:
    mode = turn.mode()
    if decide(mode, tool, args) == "deny":
        raise DeniedError(refusal(mode, tool, turn.known_tools()))


async def _request(
    turn: Turn, call: ToolCallPart, tool: Tool, args: Args, *, approval_id: str
) -> ApprovalRequest:
    """What the person is shown; a call whose change cannot even be made fails here."""
    request = ApprovalRequest(
        approval_id=approval_id,
        call_id=call.call_id,
        name=call.name,
        arguments=call.arguments,
        suggested_patterns=suggestions(tool, placed(args, turn.state.session.workspace)),
    )
    if tool.preview is not None:
        with guarded(tool):
            request.diff = await tool.preview(args, context_of(turn, call, wait_id=approval_id))
    return request


async def _kept_result(turn: Turn, name: str) -> str | None:
    """The whole of a result by the id of its part (or of its call, as it was written before)."""
    for message in reversed(turn.context.messages):
        for part in message.parts:
            if isinstance(part, ToolResultPart) and name in {part.id, part.call_id}:
                if part.full is None:
                    return part.shown
                return (await turn.blobs.get(part.full)).decode("utf-8", errors="replace")
    return None


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
