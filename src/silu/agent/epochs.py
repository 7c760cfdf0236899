"""Opening the context of a run: the session's epoch as it stands, or a new one.

A changed tool set or AGENTS.md does not begin an epoch by itself: the person is told, and takes it
up with "reload" or with the next epoch.
"""

import asyncio
import secrets

import msgspec

from silu.agent.briefs import Source
from silu.agent.context import Context, Reading, epoch_reason, new_epoch
from silu.agent.ports import Compacted, Epoch, Journal, TurnState
from silu.agent.settings import TurnSettings
from silu.agent.turn import Turn
from silu.tools.toolbox import ToolBox
from silu.types import facts
from silu.types.calls import ToolSpec


def new_id() -> str:
    return f"p_{secrets.token_hex(10)}"


async def read_anew(tools: ToolBox, settings: TurnSettings) -> Reading:
    """What an epoch that begins now is made from."""
    brief = await asyncio.to_thread(settings.brief)
    return Reading(tools=tools, brief=brief, today=settings.today())


async def open_context(
    journal: Journal, state: TurnState, tools: ToolBox, settings: TurnSettings
) -> Context:
    """The context a run begins or goes on with."""
    reason = epoch_reason(state)
    if state.epoch is not None and reason is None:
        return Context(state.epoch, state.history, state.compacted)
    reading = await read_anew(tools, settings)
    epoch = new_epoch(state, reading, reason=reason or "first", new_id=new_id)
    await journal.start_epoch(epoch)
    return Context(epoch, state.history, _carried(state))


def _carried(state: TurnState) -> Compacted | None:
    """A compaction holds on in later epochs: what it took out does not come back."""
    if state.compacted is None or not state.history:
        return state.compacted
    return msgspec.structs.replace(state.compacted, sealed=state.history[-1].id)


async def tell_reading(turn: Turn) -> None:
    """Tell the person which files an epoch that begins follows; later, what has changed since
    and is not in force yet."""
    epoch, old = turn.context.epoch, turn.state.epoch
    if old is None or old.id != epoch.id:
        if names := [source.path for source in epoch.sources]:
            _notice(turn, "rules_read", f"Followed here: {', '.join(names)}.", paths=names)
        return
    brief = await asyncio.to_thread(turn.settings.brief)
    if changed := _changed_files(epoch.sources, brief.all_sources()):
        text = f"{', '.join(changed)} changed; reload the conversation to follow it as it is now."
        _notice(turn, "rules_changed", text, paths=changed)
    added, gone = _changed_tools(epoch, turn.tools)
    if added or gone:
        words = [f"new: {', '.join(added)}"] if added else []
        words += [f"gone: {', '.join(gone)}"] if gone else []
        text = f"The tools changed ({'; '.join(words)}); reload the conversation to take them up."
        _notice(turn, "tools_changed", text, added=added, gone=gone)


def _notice(turn: Turn, kind: str, text: str, **params: list[str]) -> None:
    turn.events.fact(facts.Notice(kind=kind, text=text, params=dict(params)))


def _changed_files(before: list[Source], now: list[Source]) -> list[str]:
    """Files that are other ones now, came or went."""
    differ = {(source.path, source.sha256) for source in before} ^ {
        (source.path, source.sha256) for source in now
    }
    return sorted({path for path, _ in differ})


def _changed_tools(epoch: Epoch, tools: ToolBox) -> tuple[list[str], list[str]]:
    """Names that came (or mean something else now) and names that went."""
    told = {spec.name: spec for spec in msgspec.json.decode(epoch.tools_json, type=list[ToolSpec])}
    there = {spec.name: spec for spec in tools.specs()}
    added = sorted(name for name, spec in there.items() if told.get(name) != spec)
    return added, sorted(told.keys() - there.keys())
