"""The facts that tell clients of a block, a level, a wait."""

from typing import Any

from silu.agent.blocks import Block
from silu.types import calls, facts
from silu.types import events as ev
from silu.types.capabilities import Resolution
from silu.types.own_tools import asked_of


def block_start(block: Block, message_id: str, attempt: int) -> facts.FactData | None:
    """The fact that opens a thinking or text block; a block that changed its kind opens anew."""
    match block.kind:
        case "thinking":
            return facts.ThinkingStart(
                message_id=message_id,
                block_id=block.id,
                attempt=attempt,
                kind=block.thinking_kind,
                started_at=block.started_at,
            )
        case "content":
            return facts.ContentStart(message_id=message_id, block_id=block.id, attempt=attempt)
        case _:
            return None


def call_start(
    block: Block, message_id: str, attempt: int, *, effect: list[facts.Effect]
) -> facts.FactData:
    return facts.ToolCallStart(
        call_id=block.call_id,
        message_id=message_id,
        block_id=block.id,
        attempt=attempt,
        name=block.name,
        effect=effect,
    )


def block_done(
    block: Block, message_id: str, attempt: int, *, interrupted: bool = False
) -> facts.FactData | None:
    """The fact that closes a block; `None` for kinds clients are not told of."""
    match block.kind:
        case "thinking":
            return facts.ThinkingDone(
                message_id=message_id,
                block_id=block.id,
                attempt=attempt,
                kind=block.thinking_kind,
                duration_ms=block.duration,
                tokens=None,
                length=block.length,
                interrupted=interrupted,
            )
        case "content":
            return facts.ContentDone(
                message_id=message_id,
                block_id=block.id,
                attempt=attempt,
                duration_ms=block.duration,
                length=block.length,
                interrupted=interrupted,
            )
        case "tool_call":
            return facts.ToolCallDone(
                call_id=block.call_id,
                message_id=message_id,
                block_id=block.id,
                attempt=attempt,
                name=block.name,
                arguments="".join(block.pieces),
                length=block.length,
                interrupted=interrupted,
            )
        case "other":
            return None


def level_state(resolution: Resolution) -> facts.LevelState:
    return facts.LevelState(
        requested=resolution.requested,
        effective=resolution.effective,
        source=resolution.source,
        notes=list(resolution.notes),
    )


def wait_notice(event: calls.CallWait) -> facts.Notice:
    params: dict[str, Any] = {
        "seconds": event.seconds,
        "reason": event.reason,
        "model": event.model,
    }
    if event.model is not None:
        text = f"Going on with {event.model}: {event.reason}"
        return facts.Notice(kind="fallback", text=text, params=params)
    text = f"Waiting {event.seconds:.1f} s: {event.reason}"
    return facts.Notice(kind="wait", text=text, params=params)


def own_tool_notice(event: ev.BlockData) -> facts.Notice:
    """The vendor ran a tool itself, within its answer."""
    query = asked_of(event.data)
    return facts.Notice(
        kind="own_tool",
        text=f"{event.name}: {query}",
        params={"name": event.name, "query": query},
    )


def learned_notice(event: calls.LearnedFact) -> facts.Notice:
    learned = event.learned
    params: dict[str, Any] = {
        "endpoint": learned.endpoint,
        "model": learned.model,
        "fact": learned.fact,
        "evidence": learned.evidence,
    }
    text = f"Learned about {learned.model}: {learned.fact} ({learned.evidence})"
    return facts.Notice(kind="learned", text=text, params=params)
