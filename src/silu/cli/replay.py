"""`silu wire replay`: recorded or written answers as a vendor's endpoint on 127.0.0.1."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from silu.cli.exits import OK
from silu.types.errors import UserError

if TYPE_CHECKING:
    from silu.fakes.recordings import Exchange

_DESCRIPTION = """Serve recorded or written answers as a vendor's endpoint on 127.0.0.1. A case with
turn-1, turn-2 is served turn by turn; after the last answer the first one follows again.
With --strict the endpoint refuses what the real vendor refuses, and any earlier thinking that does
not come back byte for byte and in place; each refusal is told in one line on stderr."""


def main(argv: list[str]) -> int:
    """Run `silu wire replay …` with the arguments behind `replay`."""
    parser = argparse.ArgumentParser(prog="silu wire replay", description=_DESCRIPTION)
    _add_arguments(parser)
    return run(parser.parse_args(argv))


def _add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--dialect", required=True, help="the answers' wire form")
    p.add_argument("--port", type=int, default=0, help="port (any free one)")
    p.add_argument("--rate", type=float, default=0.0, help="deltas a second (as fast as possible)")
    p.add_argument("--strict", action="store_true", help="refuse what the real vendor refuses")
    p.add_argument("path", nargs="+", type=Path, help="response file, exchange or case folder")


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; prints one line with the URL."""
    from silu.fakes.recordings import load
    from silu.wire import DIALECTS

    if args.rate < 0 or not 0 <= args.port <= 65535:
        setting = "--rate" if args.rate < 0 else "--port"
        raise UserError(f"{setting} is out of range.", code="bad_argument", setting=setting)
    if args.dialect not in DIALECTS:
        raise UserError(
            f"There is no dialect {args.dialect!r}.",
            code="bad_argument",
            setting="--dialect",
            fix=f"Use one of: {', '.join(DIALECTS)}.",
        )
    exchanges = load(args.dialect, args.path)
    asyncio.run(_serve(args, exchanges))
    return OK


async def _serve(args: argparse.Namespace, exchanges: "list[Exchange]") -> None:
    from silu.fakes.http import listening
    from silu.fakes.replay import Replay

    def told(line: str) -> None:
        sys.stderr.write(f"replay: {line}\n")
        sys.stderr.flush()

    replay = Replay(args.dialect, exchanges, rate=args.rate or None, strict=args.strict, told=told)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with contextlib.AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(listening(replay.handle, port=args.port))
        except OSError as error:
            raise UserError(
                f"Port {args.port} cannot be used: {_why(error)}.",
                code="port_in_use",
                setting="--port",
                fix="Choose another port, or leave --port out.",
            ) from error
        sys.stdout.write(f"{url}{replay.base}\n")
        sys.stdout.flush()
        await stopped.wait()


def _why(error: OSError) -> str:
    """The system's own word: asyncio wraps it in one of its own."""
    return os.strerror(error.errno) if error.errno else str(error)
