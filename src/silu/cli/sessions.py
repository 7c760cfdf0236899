"""`silu sessions`: the list, newest first."""

import argparse
import asyncio
import os
import sys
import time

import msgspec

from silu.cli.exits import OK
from silu.cli.link import Frame, connect


def run(args: argparse.Namespace) -> int:
    """Print the newest sessions."""
    items = asyncio.run(_sessions(max(0, min(args.limit, 1000))))
    if args.json:
        sys.stdout.write(msgspec.json.encode(items).decode() + "\n")
        return OK
    for item in items:
        sys.stdout.write(_line(item) + "\n")
    return OK


async def _sessions(limit: int) -> list[Frame]:
    def tell(text: str) -> None:
        sys.stderr.write(f"· {text}\n")

    link = await connect(dict(os.environ), tell=tell)
    try:
        return await link.sessions(limit)
    finally:
        await link.close()


def _line(item: Frame) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(item["updated_at"] / 1000))
    state = "running" if item["isRunning"] else ""
    return f"{item['id']}  {when}  {state:7}  {item['title'] or '-'}".rstrip()
