"""Runs a program to its end, bounded in time and output, and never leaves it behind."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_GRACE = 2.0
"""Seconds between the polite and the final signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """`code` is the exit code (negative: the signal). `cut` says that there was more output than
    the cap it ran under; `tail` is the end of it where that was kept, behind `lost` bytes."""

    code: int
    stdout: bytes
    stderr: bytes
    cut: bool = False
    timed_out: bool = False
    tail: bytes = b""
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """`seconds` to run, `stdout` bytes to keep: the program is stopped when either is used up
    (with `drain` it runs on, and of longer output the beginning and the end are kept)."""

    seconds: float = 60.0
    stdout: int = 2_000_000
    drain: bool = False


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    bounds: Bounds,
    stdin: bytes | None = None,
) -> Finished:
    """Run `argv` in its own process group; cancelling ends the whole group at once."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    reads = asyncio.ensure_future(_read_all(process, bounds, stdin))
    timed_out = False
    try:
        try:
            out, err = await asyncio.wait_for(asyncio.shield(reads), bounds.seconds)
        except TimeoutError:
            timed_out = True
            await _end(process)
            out, err = await reads
        code = await process.wait()
    finally:
        # Also children that outlive their parent: they would keep running unseen.
        _signal(process, signal.SIGKILL)
        if not reads.done():
            await _drained(process, reads)
    return Finished(
        code=code,
        stdout=out.kept,
        stderr=err.kept,
        cut=out.cut,
        timed_out=timed_out,
        tail=out.tail,
        lost=out.lost,
    )


async def _drained(process: asyncio.subprocess.Process, reads: "asyncio.Future[Any]") -> None:
    """The pipes of a killed program close by themselves, unless a child left the group."""
    await asyncio.wait({reads}, timeout=_GRACE)
    reads.cancel()
    await asyncio.gather(reads, return_exceptions=True)
    await process.wait()


async def _read_all(
    process: asyncio.subprocess.Process, bounds: Bounds, stdin: bytes | None
) -> "tuple[_Output, _Output]":
    assert process.stdout is not None
    assert process.stderr is not None

    def full() -> None:
        _signal(process, signal.SIGKILL)

    reading = (
        _both_ends(process.stdout, bounds.stdout)
        if bounds.drain
        else _capped(process.stdout, bounds.stdout, full)
    )
    out, err, _ = await asyncio.gather(
        reading, _capped(process.stderr, 64_000, lambda: None), _feed(process, stdin)
    )
    return out, err


async def _feed(process: asyncio.subprocess.Process, data: bytes | None) -> None:
    if process.stdin is None or data is None:
        return
    # A program may end without reading what it was given.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


@dataclass(frozen=True, slots=True)
class _Output:
    """What was kept of a stream: the beginning, and the end where it was asked for."""

    kept: bytes
    cut: bool
    tail: bytes = b""
    lost: int = 0


async def _both_ends(stream: asyncio.StreamReader, limit: int) -> _Output:
    """Read to the end, keep the first and the last half of `limit` bytes."""
    half = limit // 2
    head, tail, size = bytearray(), bytearray(), 0
    while chunk := await stream.read(65_536):
        size += len(chunk)
        room = half - len(head)
        head += chunk[:room]
        tail += chunk[room:]
        if len(tail) > limit:
            del tail[:-half]
    del tail[: max(0, len(tail) - half)]
    lost = size - len(head) - len(tail)
    if lost == 0:
        return _Output(bytes(head + tail), cut=False)
    return _Output(bytes(head), cut=True, tail=bytes(tail), lost=lost)


async def _capped(stream: asyncio.StreamReader, limit: int, full: Callable[[], None]) -> _Output:
    """Read to the end, keep the first `limit` bytes, call `full` when there are more."""
    kept = bytearray()
    cut = False
    while chunk := await stream.read(65_536):
        room = limit - len(kept)
        kept += chunk[: max(0, room)]
        if len(chunk) > room and not cut:
            cut = True
            full()
    return _Output(bytes(kept), cut)


async def _end(process: asyncio.subprocess.Process) -> None:
    _signal(process, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        _signal(process, signal.SIGKILL)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # The group may be gone already: that is what was wanted.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
