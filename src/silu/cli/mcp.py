"""`silu mcp`: MCP servers of your own. A running workspace sees every change at once."""

import argparse
import asyncio
import os
import shlex
import sys
from collections.abc import Sequence

import msgspec

from silu.cli.exits import FAULT_OF_VENDOR, OK
from silu.cli.table import write_table
from silu.config import Paths, Settings
from silu.config.mcp import McpFile, check_server
from silu.tools.mcp import McpPool, ServerStatus
from silu.types.errors import UserError
from silu.types.mcp import McpServer

_HEAD = ("SERVER", "STATE", "TOOLS", "REACHED BY")


def main(argv: Sequence[str]) -> int:
    """Run `silu mcp …`; gives the exit code."""
    args = _parser().parse_args(argv)
    env = dict(os.environ)
    settings = Settings.load(Paths.find(env), env)
    file = McpFile(settings.paths.mcp_file)
    match args.action:
        case "list":
            return _list(file)
        case "add":
            return _add(args, file, settings)
        case "remove":
            return _remove(args.name, file)
        case "test":
            return _test(args.name, file, settings)
        case _:
            return _switch(args.name, file, on=args.action == "enable")


def _list(file: McpFile) -> int:
    servers, problems = file.read()
    if servers:
        write_table([_HEAD, *(_row(server) for server in servers.values())])
    else:
        sys.stdout.write("There are no MCP servers; `silu mcp add` adds one.\n")
    for problem in problems:
        sys.stderr.write(f"· {problem}\n")
    return OK


def _row(server: McpServer) -> tuple[str, ...]:
    way = server.url or shlex.join([server.command or "", *server.args])
    only = "all" if server.tools is None else ", ".join(server.tools)
    return server.name, "on" if server.enabled else "off", only, way


def _add(args: argparse.Namespace, file: McpFile, settings: Settings) -> int:
    """Keep a server; unless told otherwise only when it could be reached."""
    server = _given(args)
    check_server(server)
    if not args.no_test:
        status = asyncio.run(_reached(server, settings))
        if status.error is not None:
            sys.stderr.write(f"silu: {server.name} could not be used: {status.error}\n")
            sys.stderr.write("silu: nothing was added; --no-test adds it all the same\n")
            return FAULT_OF_VENDOR
        _tell_tools(status)
    file.put(server)
    sys.stdout.write(f"{server.name} was added.\n")
    return OK


def _given(args: argparse.Namespace) -> McpServer:
    words = _split(args.command) if args.command else []
    return McpServer(
        name=args.name,
        command=words[0] if words else None,
        args=tuple(words[1:]),
        env=dict(_pair(text, "=", "--env") for text in args.env),
        pass_env=tuple(args.pass_env),
        cwd=args.cwd,
        url=args.url,
        headers=dict(_pair(text, ":", "--header") for text in args.header),
        timeout=args.timeout,
        tools=tuple(args.tool) or None,
    )


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(
            f"The command cannot be read: {error}.", code="bad_argument", setting="--command"
        ) from error


def _pair(text: str, mark: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        # Only the name may be shown: the value is often a key.
        raise UserError(f"{option} wants NAME{mark}VALUE.", code="bad_argument", setting=option)
    return name.strip(), value.strip()


def _remove(name: str, file: McpFile) -> int:
    if not file.remove(name):
        raise _unknown(name)
    sys.stdout.write(f"{name} was removed.\n")
    return OK


def _test(name: str, file: McpFile, settings: Settings) -> int:
    server = _known(name, file)
    status = asyncio.run(_reached(server, settings))
    if status.error is not None:
        sys.stderr.write(f"silu: {name} could not be used: {status.error}\n")
        return FAULT_OF_VENDOR
    _tell_tools(status)
    return OK


def _switch(name: str, file: McpFile, *, on: bool) -> int:
    file.put(msgspec.structs.replace(_known(name, file), enabled=on))
    sys.stdout.write(f"{name} is {'on' if on else 'off'}.\n")
    return OK


def _known(name: str, file: McpFile) -> McpServer:
    server = file.all().get(name)
    if server is None:
        raise _unknown(name)
    return server


def _unknown(name: str) -> UserError:
    return UserError(
        f"There is no MCP server {name!r}.",
        code="unknown_mcp_server",
        setting="NAME",
        fix="`silu mcp list` lists them.",
    )


async def _reached(server: McpServer, settings: Settings) -> ServerStatus:
    pool = McpPool(dict, variable=settings.env.get, mask=settings.mask)
    try:
        return await pool.try_out(server)
    finally:
        await pool.aclose()


def _tell_tools(status: ServerStatus) -> None:
    sys.stdout.write(f"{status.label or 'It'} answers, with {len(status.listing.tools)} tools.\n")
    for tool in status.listing.tools:
        first = tool.description.partition("\n")[0]
        sys.stdout.write(f"  {tool.name}  [{', '.join(sorted(tool.effects))}]  {first[:100]}\n")
    for problem in status.listing.problems:
        sys.stderr.write(f"· {problem}\n")


def _parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="silu mcp", description="MCP servers of your own, kept in mcp.json."
    )
    actions = top.add_subparsers(dest="action", required=True, metavar="action", title="actions")
    actions.add_parser("list", help="the servers and how they are reached")
    add = actions.add_parser(
        "add", help="add a server", description="Add a server: a command that starts it, or a URL."
    )
    add.add_argument("name", metavar="NAME")
    add.add_argument("--command", metavar="LINE", help="e.g. --command 'npx -y some-server /path'")
    add.add_argument("--url", help="of a server that speaks streamable HTTP")
    add.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="repeatable")
    add.add_argument(
        "--pass-env", action="append", default=[], metavar="NAME", help="a variable it may see"
    )
    add.add_argument(
        "--header", action="append", default=[], metavar="NAME:VALUE", help="sent to the URL"
    )
    add.add_argument("--cwd", help="folder the command starts in")
    add.add_argument("--timeout", type=float, metavar="SECONDS", help="for one call")
    add.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="only these tools; repeatable"
    )
    add.add_argument("--no-test", action="store_true", help="do not connect first")
    for action, about in (
        ("remove", "remove a server"),
        ("test", "connect and list the tools"),
        ("enable", "switch a server on"),
        ("disable", "switch a server off"),
    ):
        actions.add_parser(action, help=about).add_argument("name", metavar="NAME")
    return top
