"""`silu ask`: one turn. The thinking goes to stderr, the answer to stdout.

Exit codes: 0 answered, 1 the vendor failed, 2 something the person can mend, 130 stopped.
"""

import argparse
import asyncio
import os
import select
import signal
import sys
import uuid
from pathlib import Path

import msgspec

from silu.cli import person
from silu.cli.exits import FAULT_OF_USER, FAULT_OF_VENDOR, INTERRUPTED, OK
from silu.cli.link import Frame, Link, connect
from silu.cli.show import Collected, Printer, Sink
from silu.types import api
from silu.types.errors import SiluError, UserError
from silu.types.levels import parse_level
from silu.types.policy import Rule

SILENT_PIPE_SECONDS = 3.0

STOP_SECONDS = 5.0
"""How long a stopped turn may take to say that it has ended."""


def run(args: argparse.Namespace) -> int:
    """Ask once and print what comes."""
    question = _question(args.question)
    if args.level is not None:
        _check_level(args.level)
    allowed = person.rules(args.allow)
    return asyncio.run(_ask(args, question, allowed))


def _question(words: list[str]) -> str:
    """The question: arguments, stdin, or both with the piped text behind; `-` waits for stdin."""
    text = " ".join(word for word in words if word != "-").strip()
    must = "-" in words or (not text and not sys.stdin.isatty())
    piped = sys.stdin.read().strip() if must or _something_comes() else ""
    question = "\n\n".join(part for part in (text, piped) if part)
    if not question:
        raise UserError(
            "There is no question.",
            code="bad_argument",
            setting="question",
            fix="Write it behind `silu ask`, in quotes, or pipe it in.",
        )
    return question


def _something_comes() -> bool:
    """True when stdin is a file or a pipe that speaks (or ends) within a few seconds.

    A command started by another program often inherits a pipe that nobody writes to or closes.
    """
    if sys.stdin.isatty():
        return False
    if select.select([sys.stdin], [], [], SILENT_PIPE_SECONDS)[0]:
        return True
    sys.stderr.write("· stdin is open but silent and was not read; use `-` to wait for it\n")
    return False


def _check_level(level: str) -> None:
    try:
        parse_level(level)
    except ValueError as exc:
        raise UserError(f"{exc}.", code="bad_level", setting="--level") from exc


async def _ask(args: argparse.Namespace, question: str, allowed: list[Rule]) -> int:
    sink: Sink = Collected() if args.json else Printer(quiet=args.quiet)
    link = await connect(dict(os.environ), tell=sink.notice)
    try:
        session_id = args.session or await _begin(link, args, allowed, sink)
        if args.session and allowed:
            await _allow(link, session_id, allowed)
        if args.session and args.model:
            await _command(link, "set_model", session_id, {"model": args.model})
        how = {"level": args.level, "mode": args.mode}
        done = await _turn(link, session_id, question, sink, how=how)
    except SiluError:
        sink.broken()
        raise
    finally:
        await link.close()
    sink.finish(session_id, done)
    return _code(done)


async def _begin(link: Link, args: argparse.Namespace, allowed: list[Rule], sink: Sink) -> str:
    """A new session that works where the person is, but not where silu's own keys lie."""
    wish = api.SessionCreate(
        model=args.model,
        mode=args.mode or "build",
        level=args.level,
        workspace=str(Path.cwd()),
        approvals=allowed,
    )
    try:
        return await link.create_session(wish)
    except UserError as refused:
        if refused.code != "own_folder":
            raise
        sink.notice("silu's own keys lie in this folder: the session works in one of its own.")
        return await link.create_session(msgspec.structs.replace(wish, workspace=None))


async def _allow(link: Link, session_id: str, allowed: list[Rule]) -> None:
    """Put rules behind those the session has: the last one that matches decides."""
    kept = msgspec.convert((await link.session(session_id))["approvals"], list[Rule])
    older = [rule for rule in kept if rule not in allowed]
    await link.patch_session(session_id, api.SessionPatch(approvals=[*older, *allowed]))


async def _turn(
    link: Link, session_id: str, question: str, sink: Sink, *, how: dict[str, str | None]
) -> Frame:
    """Send, follow to the `done` of our run, and give its data. Ctrl-C stops the run."""
    # What was said before is not printed again.
    head = (await link.session(session_id))["head"]
    await link.command("subscribe", session_id, {"since": head})
    sent = await _command(link, "send", session_id, {"text": question, **how})
    sink.run_id = sent["run_id"]
    asked = person.Person(lambda kind, data: link.command(kind, session_id, data))
    following = asyncio.create_task(_follow(link, sink, asked))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            await _command(link, "cancel", session_id, {"run_id": sent["run_id"]})
            await asyncio.wait({following}, timeout=STOP_SECONDS)
        if not following.done():
            return {"status": "cancelled", "reason": "person"}
        return following.result()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        for task in (following, stopping):
            task.cancel()
        await asyncio.gather(following, stopping, return_exceptions=True)


async def _command(link: Link, kind: str, session_id: str, data: Frame) -> Frame:
    return await link.command(kind, session_id, {"client_id": uuid.uuid4().hex, **data})


async def _follow(link: Link, sink: Sink, asked: person.Person) -> Frame:
    async for frame in link.frames():
        if frame.get("run_id") != sink.run_id:
            continue
        sink.take(frame)
        await asked.take(frame)
        if frame["type"] == "done":
            return frame["data"]
    raise UserError(
        "The workspace stopped while it answered; the turn goes on when it is started again.",
        code="unreachable_workspace",
    )


def _code(done: Frame) -> int:
    """The exit code for how the run ended."""
    error: Frame = done.get("error") or {}
    match done["status"]:
        case "cancelled":
            return INTERRUPTED
        case "failed":
            return FAULT_OF_USER if error.get("kind") == "user" else FAULT_OF_VENDOR
        case "incomplete" if done.get("reason") in ("stream_cut", "vendor_error"):
            return FAULT_OF_VENDOR
        case "interrupted":
            return FAULT_OF_VENDOR
        case _:
            return OK
