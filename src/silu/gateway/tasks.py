"""Ending the tasks that serve one connection."""

import asyncio
import contextlib
from typing import Any


async def ended(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks and wait for them; what one of them failed with is raised."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task
