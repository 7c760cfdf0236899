"""`silu serve`: the workspace, from the lock on the data folder to the line with its URL."""

import argparse
import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from silu.app import App
from silu.cli.exits import OK
from silu.config import Environment, Paths, mask
from silu.engine import Owner
from silu.gateway.asgi import Gateway
from silu.gateway.auth import Guard
from silu.gateway.logs import JsonLines, Lines
from silu.gateway.server import bind, server
from silu.gateway.ws import HEARTBEAT_SECONDS
from silu.types.errors import UserError


def run(args: argparse.Namespace) -> int:
    """Serve until a signal ends it; turns that run are then put down, not lost."""
    env = dict(os.environ)
    _log_to_stderr(env)
    asyncio.run(_serve(args, env))
    return OK


async def _serve(args: argparse.Namespace, env: Mapping[str, str]) -> None:
    paths = Paths.find(env)
    _refuse_second(paths)
    sock = bind(args.host, args.port)
    port: int = sock.getsockname()[1]
    try:
        app = await App.open(env, paths=paths)
    except BaseException:
        sock.close()
        raise
    try:
        token = env.get("SILU_TOKEN") or secrets.token_urlsafe(32)
        guard = Guard(
            port=port,
            bind=args.host,
            secret=await asyncio.to_thread(_cookie_secret, paths.data / "gateway.secret"),
            owner_token=token,
            hosts=[name.strip() for name in env.get("SILU_HOSTS", "").split(",") if name.strip()],
            scoped=app.token_file.find,
        )
        url = _url(args.host, port)
        gateway = Gateway(app, guard, heartbeat=_heartbeat(env))
        running = server(gateway, on_stopping=gateway.sockets.close_all)

        def ready() -> None:
            app.owner.publish(url, token)
            _announce(f"{url}#token={guard.new_link_token()}", browser=not args.no_open)

        running.on_ready = ready
        await running.serve(sockets=[sock])
    finally:
        await app.close()


def _refuse_second(paths: Paths) -> None:
    """Say who has the folder before the port is tried: the port is then taken as well."""
    owner = Owner.find(paths.data)
    if owner is None or owner.url is None:
        return
    raise UserError(
        f"silu is already running for {paths.data} at {owner.url} (process {owner.pid}).",
        code="owned",
        setting="SILU_HOME",
        fix="Use `silu open` for a new link, or another SILU_HOME for a second workspace.",
    )


def _url(host: str, port: int) -> str:
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _announce(link: str, *, browser: bool) -> None:
    sys.stdout.write(f"silu is ready at {link}\n")
    sys.stdout.flush()
    if browser:
        from silu.cli.browser import open_browser

        open_browser(link)


def _cookie_secret(path: Path) -> bytes:
    """The key that signs cookies: kept, so that a restart signs nobody out."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = path.read_bytes()
        if len(found) >= 32:
            return found
        # A write that was cut left it short: a new key signs everyone out, and nothing else.
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    fresh = secrets.token_bytes(32)
    with os.fdopen(fd, "wb") as file:
        file.write(fresh)
    return fresh


def _heartbeat(env: Mapping[str, str]) -> float:
    word = env.get("SILU_HEARTBEAT") or str(HEARTBEAT_SECONDS)
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= 20:
        raise UserError(
            f"SILU_HEARTBEAT={word!r} is no number of seconds from 0.05 to 20.",
            code="bad_config",
            setting="SILU_HEARTBEAT",
        )
    return seconds


def _log_to_stderr(env: Mapping[str, str]) -> None:
    """Lines on stderr; `SILU_LOG` is debug, info, warning (the default) or error,
    `SILU_LOG_FORMAT` text (the default) or json."""
    word = env.get("SILU_LOG", "warning").upper()
    level = logging.getLevelNamesMapping().get(word)
    if level is None:
        raise UserError(
            f"SILU_LOG={word.lower()!r} is no log level.",
            code="bad_config",
            setting="SILU_LOG",
            fix="Use debug, info, warning or error.",
        )
    match env.get("SILU_LOG_FORMAT", "text"):
        case "text":
            form = Lines
        case "json":
            form = JsonLines
        case other:
            raise UserError(
                f"SILU_LOG_FORMAT={other!r} is no form of a log.",
                code="bad_config",
                setting="SILU_LOG_FORMAT",
                fix="Use text or json.",
            )
    secrets_known = list(Environment(env).secrets())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form(lambda text: mask(text, secrets_known)))
    logging.basicConfig(level=level, handlers=[handler])
