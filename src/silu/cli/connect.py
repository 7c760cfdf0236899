"""`silu connect`: add an endpoint of your own. A running server sees it at once."""

import argparse
import asyncio
import getpass
import os
import sys

import msgspec

from silu.cli.exits import FAULT_OF_VENDOR, OK
from silu.config import Endpoint, Paths, Settings
from silu.config.endpoints import check_endpoint
from silu.providers.client import Client
from silu.providers.trial import EndpointTest, Trial
from silu.types.errors import UserError
from silu.wire import DIALECTS


def run(args: argparse.Namespace) -> int:
    """Add or remove an endpoint; a failed test call leaves everything as it was."""
    env = dict(os.environ)
    settings = Settings.load(Paths.find(env), env)
    if args.remove:
        return _remove(args.name, settings)
    endpoint, key = _asked(args) if args.url is None else (_given(args), None)
    check_endpoint(endpoint)
    _check_dialect(endpoint.dialect)
    if not args.no_test:
        found = asyncio.run(_test(endpoint, key, settings))
        if not found.ok:
            sys.stderr.write(f"silu: {found.message}{_setting(found)}\n")
            sys.stderr.write("silu: nothing was added; --no-test adds it all the same\n")
            return FAULT_OF_VENDOR
        endpoint = msgspec.structs.replace(endpoint, dialect=found.dialect)
        sys.stderr.write(f"· {found.message}\n")
    settings.endpoints.put(endpoint)
    if key:
        settings.keys.save(endpoint.name, key)
    names = ", ".join(f"{endpoint.name}/{model}" for model in endpoint.models)
    sys.stdout.write(f"{endpoint.name} was added{f': {names}' if names else ''}.\n")
    return OK


def _given(args: argparse.Namespace) -> Endpoint:
    if not args.name:
        raise UserError("The endpoint needs a name.", code="bad_argument", setting="NAME")
    return Endpoint(
        name=args.name,
        url=args.url.rstrip("/"),
        dialect=args.dialect,
        like=args.like,
        key_env=args.key_env,
        models=tuple(args.model),
    )


def _asked(args: argparse.Namespace) -> tuple[Endpoint, str | None]:
    """Ask for what the arguments leave out; needs a person at a terminal."""
    if not sys.stdin.isatty():
        raise UserError(
            "There is no --url, and nobody to ask.",
            code="bad_argument",
            setting="--url",
            fix="Give the base URL with --url.",
        )
    args.name = args.name or input("Name: ").strip()
    args.url = input("Base URL (e.g. http://127.0.0.1:8000/v1): ").strip()
    if not args.model:
        line = input("Model ids, separated by blanks (empty: ask the server): ")
        args.model = line.replace(",", " ").split()
    key = None
    if args.key_env is None:
        key = getpass.getpass("Key (empty: none; it is not shown): ").strip() or None
    return _given(args), key


def _check_dialect(dialect: str | None) -> None:
    if dialect is not None and dialect not in DIALECTS:
        raise UserError(
            f"There is no dialect {dialect!r}.",
            code="bad_argument",
            setting="--dialect",
            fix=f"Use one of: {', '.join(DIALECTS)}.",
        )


async def _test(endpoint: Endpoint, key: str | None, settings: Settings) -> EndpointTest:
    async with Client(settings) as client:
        return await client.test_endpoint(Trial(endpoint=endpoint, key=key))


def _setting(found: EndpointTest) -> str:
    return f" (setting: {found.failure.setting})" if found.failure and found.failure.setting else ""


def _remove(name: str | None, settings: Settings) -> int:
    if not name or not settings.endpoints.remove(name):
        raise UserError(f"There is no endpoint {name!r}.", code="unknown_endpoint", setting="NAME")
    settings.keys.remove(name)
    sys.stdout.write(f"{name} was removed.\n")
    return OK
