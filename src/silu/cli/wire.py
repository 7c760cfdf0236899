"""`silu wire decode | encode | replay`: what travels between silu and a vendor, in the open.

`decode` reads a recorded body as silu would, `encode` shows the request silu would send. JSON in,
JSON out; both have `--batch` for one JSON object a line. No network, no key.
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from silu.types.errors import SiluError, UserError

if TYPE_CHECKING:
    from silu.config import Settings

_BAD_INPUT = 2


def main(argv: list[str]) -> int:
    """Run `silu wire …` with the arguments behind `wire`; gives the exit code."""
    if argv[:1] == ["replay"]:
        from silu.cli import replay

        return replay.main(argv[1:])
    args = _parser().parse_args(argv)
    try:
        return cast("Callable[[argparse.Namespace], int]", args.run)(args)
    except (SiluError, OSError, ValueError) as error:
        return _complain(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="silu wire", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_decode(commands.add_parser("decode", help="read a recorded vendor answer"))
    _add_encode(commands.add_parser("encode", help="show the request silu would send"))
    commands.add_parser("replay", help="serve recorded answers as a vendor would", add_help=False)
    return parser


def _add_decode(p: argparse.ArgumentParser) -> None:
    p.add_argument("file", nargs="?", metavar="FILE", help="the body; - for standard input")
    p.add_argument("--dialect", help="the wire form, such as openai-chat")
    p.add_argument("--vendor", default="", help="who sent it; any id")
    p.add_argument("--model", default="", help="the model that was asked for")
    p.add_argument("--status", type=int, default=200, help="HTTP status it came with")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--stream", dest="streaming", action="store_true", default=True)
    form.add_argument("--no-stream", dest="streaming", action="store_false")
    p.add_argument("--batch", action="store_true", help="one JSON object a line on stdin")
    p.set_defaults(run=_decode)


def _add_encode(p: argparse.ArgumentParser) -> None:
    p.add_argument("--model", help="vendor/model-id")
    p.add_argument("--level", default="default", help="thinking level")
    p.add_argument("--dialect", help="the wire form; the vendor's own by default")
    p.add_argument("--messages", metavar="FILE", help="JSON list of silu messages")
    p.add_argument("--tools", metavar="FILE", help="JSON list of tools")
    p.add_argument("--tool-choice", default="auto", help="auto, none, required or a tool's name")
    p.add_argument("--max-tokens", type=int)
    p.add_argument("--temperature", type=float)
    p.add_argument("--stream", action="store_true")
    p.add_argument("--batch", action="store_true", help="one JSON object a line on stdin")
    p.set_defaults(run=_encode)


def _decode(args: argparse.Namespace) -> int:
    from silu.cli.wire_forms import DecodeJob

    if args.batch:
        return _batch(DecodeJob, _decoded)
    if not args.dialect or not args.file:
        raise UserError("`silu wire decode` needs --dialect and FILE.", code="bad_argument")
    job = DecodeJob(
        dialect=args.dialect,
        vendor=args.vendor,
        model=args.model,
        streaming=args.streaming,
        status=args.status,
        path=args.file,
    )
    _print(_decoded(job, _settings()))
    return 0


def _encode(args: argparse.Namespace) -> int:
    from silu.cli.wire_forms import EncodeJob

    if args.batch:
        return _batch(EncodeJob, _encoded)
    if not args.model:
        raise UserError("`silu wire encode` needs --model vendor/model-id.", code="bad_argument")
    job = EncodeJob(
        model=args.model,
        level=args.level,
        dialect=args.dialect,
        messages=_json_file(args.messages) if args.messages else None,
        tools=_json_file(args.tools) if args.tools else [],
        tool_choice=args.tool_choice,
        max_tokens=args.max_tokens,
        temperature=args.temperature,
        stream=args.stream,
    )
    _print(_encoded(job, _settings()))
    return 0


def _decoded(job: Any, settings: "Settings") -> dict[str, Any]:
    from silu.cli.wire_forms import decoded

    return decoded(job, _read(job.path), settings)


def _encoded(job: Any, settings: "Settings") -> dict[str, Any]:
    from silu.cli.wire_forms import encoded

    return encoded(job, settings)


def _batch(form: type, work: "Callable[[Any, Settings], dict[str, Any]]") -> int:
    """One result a line, in order; a bad line gives `{"error": …}` and exit code 2 at the end."""
    settings = _settings()
    code = 0
    for line in _lines():
        try:
            result = work(msgspec.json.decode(line, type=form), settings)
        except (SiluError, OSError, ValueError) as error:
            code = _BAD_INPUT
            result = {"error": {"type": "bad_input", "code": None, "message": _sentence(error)}}
        _print(result)
    return code


def _lines() -> Iterable[bytes]:
    for line in sys.stdin.buffer:
        if line.strip():
            yield line


def _settings() -> "Settings":
    import os

    from silu.config import Paths, Settings

    return Settings.load(Paths.find(os.environ), os.environ)


def _read(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def _json_file(path: str) -> Any:
    try:
        return msgspec.json.decode(_read(path))
    except msgspec.DecodeError as error:
        raise UserError(f"{path} is no JSON: {error}.", code="bad_argument") from error


def _print(result: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
    sys.stdout.buffer.flush()


def _complain(error: Exception) -> int:
    sys.stderr.write(f"silu wire: {_sentence(error)}\n")
    return _BAD_INPUT


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__
