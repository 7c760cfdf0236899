"""`silu models`: what can be chosen, with the levels and where each fact is known from."""

import argparse
import asyncio
import os
import sys

import msgspec

from silu.cli.exits import OK
from silu.cli.table import write_table
from silu.config import Paths, Settings
from silu.providers.client import Client
from silu.types.capabilities import Capability, ModelInfo
from silu.types.errors import UserError

_HEAD = ("MODEL", "THINKING", "LEVELS", "DEFAULT", "CONTEXT", "FROM")


def run(args: argparse.Namespace) -> int:
    """Print the models as a table, or everything known of them as JSON."""
    models, default, problems = asyncio.run(_look(refresh=args.refresh))
    wanted = [m for m in models if args.filter.lower() in f"{m.ref} {m.label}".lower()]
    if args.json:
        told = {"models": wanted, "default": default, "problems": problems}
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        return OK
    if models and not wanted:
        sys.stderr.write(f"silu: no model contains {args.filter!r}; without it all are listed\n")
    else:
        write_table([_HEAD, *(_row(model, default) for model in wanted)])
    for problem in problems:
        sys.stderr.write(f"· {problem}\n")
    return OK


async def _look(*, refresh: bool) -> tuple[list[ModelInfo], str | None, list[str]]:
    env = dict(os.environ)
    async with Client(Settings.load(Paths.find(env), env)) as client:
        models = await client.models(refresh=refresh)
        try:
            default = client.default_model()
        except UserError:
            # Nothing to choose from: the empty table says so.
            default = None
        return models, default, client.problems()


def _row(model: ModelInfo, default: str | None) -> tuple[str, ...]:
    capability = model.capability
    mark = " *" if model.ref == default else ""
    return (
        f"{model.ref}{mark}",
        capability.thinking,
        _levels(capability),
        capability.thinking_default_level or "-",
        _count(capability.context_window),
        capability.sources.get("thinking", "default"),
    )


def _levels(capability: Capability) -> str:
    levels = [str(level) for level in capability.thinking_levels]
    if capability.switch_only:
        levels = [word if word == "off" else "on" for word in levels]
    if capability.adaptive:
        levels.append("adaptive")
    return ",".join(levels) or "-"


def _count(tokens: int | None) -> str:
    if tokens is None:
        return "-"
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens / 1000:.4g}K" if tokens >= 1000 else str(tokens)
