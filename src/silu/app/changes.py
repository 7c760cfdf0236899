"""What a session's runs did to files, and taking it back."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from silu.app.base import Services
from silu.tools import checkpoints as kept
from silu.tools.paths import inside, open_inside
from silu.types import api
from silu.types.errors import ToolError, UserError

MOST_TEXT = 512 * 1024
"""Bytes of a file that a page shows."""


class Changes(Services):
    """Services of the files panel, of `/undo` and of `/redo`."""

    def checkpoints(self, session_id: str) -> kept.Checkpoints:
        """What is kept for undo of a session's runs: a folder of silu's own."""
        return kept.Checkpoints(self.settings.paths.data / "checkpoints" / session_id)

    async def changes(self, session_id: str, *, run_id: str | None = None) -> api.ChangeList:
        """The files each run changed, with diffs; of one run only when it is named."""
        await self.store.session(session_id)
        found = self.checkpoints(session_id)
        await self._close_ended(session_id, found)
        return api.ChangeList(runs=await asyncio.to_thread(_changes, found, run_id))

    async def file_text(self, session_id: str, path: str) -> api.FileText:
        """A text file of the session's workspace, as it is now.

        `UserError` codes: `not_found` for what is missing, lies outside or is no file, `not_text`.
        """
        session = await self.store.session(session_id)
        return await asyncio.to_thread(_text_of, Path(session.workspace), path)

    async def undo(self, session_id: str, *, run_id: str | None = None) -> api.Restored:
        """Put files back to what they were before a run: the newest that is not undone yet.

        `UserError` codes: `running` while a run is on, `nothing_to_undo`.
        """
        found = await self._at_rest(session_id)
        chosen = run_id or await asyncio.to_thread(_newest_done, found)
        if chosen is None:
            raise UserError("No run of this session has changes to undo.", code="nothing_to_undo")
        return await asyncio.to_thread(_restored, chosen, found.undo)

    async def redo(self, session_id: str, *, run_id: str | None = None) -> api.Restored:
        """Put files back to what a run made of them: the oldest of those undone last.

        `UserError` codes: `running` while a run is on, `nothing_to_redo`.
        """
        found = await self._at_rest(session_id)
        chosen = run_id or await asyncio.to_thread(_oldest_undone, found)
        if chosen is None:
            raise UserError("Nothing of this session was undone.", code="nothing_to_redo")
        return await asyncio.to_thread(_restored, chosen, found.redo)

    async def _at_rest(self, session_id: str) -> kept.Checkpoints:
        """The checkpoints of a session in which nothing works on files."""
        await self.store.session(session_id)
        if await self.engine.list(session_id):
            raise UserError(
                "A run of this session is not over; undo is for what has ended.",
                code="running",
                fix="Wait for the run or stop it.",
            )
        found = self.checkpoints(session_id)
        await self._close_ended(session_id, found)
        return found

    async def _close_ended(self, session_id: str, found: kept.Checkpoints) -> None:
        """A run that ended without its second picture (a crash, a failure) gets it now."""
        on = {run.run_id for run in await self.engine.list(session_id)}
        await asyncio.to_thread(_close, found, on)


def _text_of(workspace: Path, path: str) -> api.FileText:
    try:
        place = inside(workspace, path)
        with open(open_inside(workspace, place), "rb") as file:  # noqa: PTH123 - a descriptor
            size = os.fstat(file.fileno()).st_size
            data = file.read(MOST_TEXT)
    except ToolError as error:
        raise UserError(str(error), code="not_found", setting="path") from error
    if b"\0" in data[:8_192]:
        raise UserError(f"{place.as_posix()} is not text.", code="not_text", setting="path")
    text = data.decode("utf-8", errors="replace")
    return api.FileText(path=place.as_posix(), text=text, size=size, truncated=size > len(data))


def _changes(found: kept.Checkpoints, run_id: str | None) -> list[api.RunChanges]:
    runs = found.runs() if run_id is None else [run_id]
    return [
        api.RunChanges(
            run_id=run,
            state=found.state(run),
            files=[
                api.FileChange(path=one.path, kind=one.kind, diff=one.text)
                for one in found.changes(run)
            ],
        )
        for run in runs
    ]


def _close(found: kept.Checkpoints, on: set[str]) -> None:
    for run in found.runs():
        if run not in on and found.state(run) == "open":
            found.end(run)


def _newest_done(found: kept.Checkpoints) -> str | None:
    return next((run for run in reversed(found.runs()) if found.state(run) == "done"), None)


def _oldest_undone(found: kept.Checkpoints) -> str | None:
    return next((run for run in found.runs() if found.state(run) == "undone"), None)


def _restored(run_id: str, restore: Callable[[str], kept.Restored]) -> api.Restored:
    done = restore(run_id)
    return api.Restored(run_id=run_id, done=done.done, left=done.left)
