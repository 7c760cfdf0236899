"""What the command understands. Nothing here imports the rooms behind it."""

import argparse

from silu.types.version import VERSION

DEFAULT_PORT = 8765

_EPILOG = """exit codes: 0 it went well, 1 a vendor failed, 2 a wrong argument or setting, \
130 stopped with Ctrl-C

Data and configuration lie in the XDG folders; SILU_HOME holds both when it is set."""


def parser() -> argparse.ArgumentParser:
    """The parser of everything but `silu mcp` and `silu wire`, which read their own arguments."""
    top = argparse.ArgumentParser(
        prog="silu",
        description="Agents whose thinking you can see, steer and keep, with any vendor.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", "-V", action="version", version=f"silu {VERSION}")
    top.set_defaults(module=None)
    commands = top.add_subparsers(metavar="command", title="commands")
    _serve(commands)
    _ask(commands)
    _models(commands)
    _connect(commands)
    _sessions(commands)
    _open(commands)
    commands.add_parser("mcp", help="list, add, test or remove MCP servers", add_help=False)
    commands.add_parser("tokens", help="make or revoke tokens for programs", add_help=False)
    commands.add_parser("wire", help="decode, encode or replay vendor bodies", add_help=False)
    return top


_Commands = argparse._SubParsersAction  # pyright: ignore[reportPrivateUsage] - no public name


def _serve(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser("serve", help="start the workspace and print its URL")
    p.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    p.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help=f"port, 0 for any ({DEFAULT_PORT})"
    )
    p.add_argument("--no-open", action="store_true", help="do not open a browser")
    p.set_defaults(module="silu.cli.serve")


def _ask(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser(
        "ask",
        help="ask once: thinking to stderr, the answer to stdout",
        description="Ask once. The thinking goes to stderr, the answer to stdout. "
        "Text from a pipe is put after the question; without a question it is the question.",
    )
    p.add_argument("question", nargs="*", help="what to ask; `-` reads it from stdin")
    p.add_argument("--model", help="vendor/model-id (see `silu models`)")
    p.add_argument("--level", help="thinking level: off, minimal, low, medium, high, …")
    p.add_argument("--mode", choices=["plan", "build"], help="(build, or the session's own)")
    p.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="TOOL[:PATTERN]",
        help="let these calls run unasked, such as write_file or 'shell:git *' (repeatable)",
    )
    p.add_argument("--session", help="go on with this session (see `silu sessions`)")
    p.add_argument("--json", action="store_true", help="one JSON object instead of text")
    p.add_argument("--quiet", "-q", action="store_true", help="no thinking, no notices")
    p.set_defaults(module="silu.cli.ask")


def _models(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser("models", help="list the models that can be used, with their levels")
    p.add_argument("--json", action="store_true", help="everything known, with its sources")
    p.add_argument("--refresh", action="store_true", help="ask the vendors again")
    p.add_argument("filter", nargs="?", default="", help="only those that contain this text")
    p.set_defaults(module="silu.cli.models")


def _connect(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser(
        "connect",
        help="add an endpoint of your own",
        description="Add an endpoint: its models are then NAME/model-id. "
        "Without --url it asks for what is missing.",
    )
    p.add_argument("name", nargs="?", metavar="NAME", help="the name you will call it by")
    p.add_argument("--url", help="base URL, e.g. http://127.0.0.1:8000/v1")
    p.add_argument("--dialect", help="wire form, when the vendor of --like does not say it")
    p.add_argument("--key-env", metavar="VAR", help="environment variable that holds the key")
    p.add_argument("--model", action="append", default=[], metavar="ID", help="repeatable")
    p.add_argument("--like", metavar="VENDOR", help="treat it like this vendor")
    p.add_argument("--no-test", action="store_true", help="do not make a test call first")
    p.add_argument("--remove", action="store_true", help="remove the endpoint NAME")
    p.set_defaults(module="silu.cli.connect")


def _sessions(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser("sessions", help="list the sessions")
    p.add_argument("--json", action="store_true", help="as JSON")
    p.add_argument("--limit", type=int, default=20, help="how many (20)")
    p.set_defaults(module="silu.cli.sessions")


def _open(commands: "_Commands[argparse.ArgumentParser]") -> None:
    p = commands.add_parser("open", help="print a new link to the running workspace")
    p.add_argument("--no-open", action="store_true", help="do not open a browser")
    p.set_defaults(module="silu.cli.open")


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (0 to 65535)")
    return port
