"""`silu tokens`: tokens that open `/v1` to programs. A running workspace sees changes at once."""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from silu.cli.exits import OK
from silu.cli.table import write_table
from silu.config import Paths
from silu.config.tokens import TokenFile
from silu.types.access import TokenCreate, TokenView
from silu.types.errors import UserError

_HEAD = ("ID", "NAME", "MODELS", "PER MINUTE", "UNTIL")
_MOST_PER_MINUTE = 100_000
_MOST_DAYS = 3650


def main(argv: Sequence[str]) -> int:
    """Run `silu tokens …`; gives the exit code."""
    args = _parser().parse_args(argv)
    file = TokenFile(Paths.find(os.environ).tokens_file)
    match args.action:
        case "list":
            return _list(file)
        case "create":
            return _create(args, file)
        case _:
            return _revoke(args.id, file)


def _list(file: TokenFile) -> int:
    tokens = file.all().tokens
    if tokens:
        write_table([_HEAD, *map(_row, tokens)])
    else:
        sys.stdout.write("There are no tokens; `silu tokens create NAME` makes one.\n")
    return OK


def _create(args: argparse.Namespace, file: TokenFile) -> int:
    """The token stands on stdout alone, so that a script can take it."""
    wish = TokenCreate(
        name=args.name,
        models=args.model,
        per_minute=_within(args.per_minute, _MOST_PER_MINUTE, "--per-minute") or None,
        days=_within(args.days, _MOST_DAYS, "--days"),
    )
    made = file.create(wish)
    sys.stderr.write(f"· {made.token.id} was made; the token is shown this once.\n")
    sys.stdout.write(f"{made.text}\n")
    return OK


def _revoke(token_id: str, file: TokenFile) -> int:
    if not file.revoke(token_id):
        raise UserError(
            f"There is no token {token_id!r}.",
            code="unknown_token",
            setting="ID",
            fix="`silu tokens list` lists them.",
        )
    sys.stdout.write(f"{token_id} was revoked.\n")
    return OK


def _row(token: TokenView) -> tuple[str, ...]:
    until = "for good"
    if token.expires_at is not None:
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(token.expires_at / 1000))
    rate = "no limit" if token.per_minute is None else str(token.per_minute)
    return token.id, token.name, ", ".join(token.models) or "all", rate, until


def _within(number: int | None, most: int, option: str) -> int | None:
    lowest = 0 if option == "--per-minute" else 1
    if number is not None and not lowest <= number <= most:
        raise UserError(
            f"{option} is a number from {lowest} to {most}.", code="bad_argument", setting=option
        )
    return number


def _parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="silu tokens",
        description="Tokens for programs that use the compatible routes below /v1.",
    )
    actions = top.add_subparsers(dest="action", required=True, metavar="action", title="actions")
    actions.add_parser("list", help="the tokens and what they open")
    create = actions.add_parser("create", help="make a token; its text is printed once")
    create.add_argument("name", metavar="NAME", help="whose it is")
    create.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only these models, such as 'vendor/*'; repeatable",
    )
    create.add_argument(
        "--per-minute", type=int, default=60, metavar="N", help="calls a minute, 0: no limit (60)"
    )
    create.add_argument("--days", type=int, metavar="N", help="how long it holds (for good)")
    actions.add_parser("revoke", help="end a token").add_argument("id", metavar="ID")
    return top
