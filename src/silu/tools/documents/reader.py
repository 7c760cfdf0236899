"""Starts the reading program and takes its answer."""

import sys
import tempfile
from pathlib import Path

import msgspec

from silu.tools.documents.order import Extract, Order
from silu.tools.process import Bounds, run_process
from silu.types.errors import ToolError

MAX_BYTES = 50_000_000
SECONDS = 60.0
_MAX_ANSWER = 16_000_000

_decode = msgspec.json.Decoder(Extract).decode


async def extract(data: bytes, order: Order, *, seconds: float = SECONDS) -> Extract:
    """The document's text; `ToolError` says why there is none."""
    if len(data) > MAX_BYTES:
        raise ToolError(f"it has {len(data)} bytes, more than the {MAX_BYTES} that are read")
    done = await run_process(
        [sys.executable, "-I", "-m", "silu.tools.documents.worker"],
        cwd=Path(tempfile.gettempdir()),
        env={"LC_ALL": "C.UTF-8"},
        bounds=Bounds(seconds=seconds, stdout=_MAX_ANSWER),
        stdin=msgspec.json.encode(order) + b"\n" + data,
    )
    if done.timed_out:
        raise ToolError(f"reading it took more than {seconds:g} seconds; ask for less of it")
    if done.code != 0 or done.cut:
        # Killed by a limit, or by the system for its memory.
        raise ToolError("reading it needed more memory than it may have")
    answer = _decode(done.stdout)
    if answer.error is not None:
        raise ToolError(answer.error)
    return answer
