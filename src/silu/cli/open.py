"""`silu open`: a new link to the running workspace."""

import argparse
import asyncio
import os
import sys

import aiohttp

from silu.cli.browser import open_browser
from silu.cli.exits import OK
from silu.config import Paths
from silu.engine import Owner
from silu.engine.api import OwnerInfo
from silu.gateway.dispatch import parse
from silu.types.api import TokenPost
from silu.types.errors import UserError


def run(args: argparse.Namespace) -> int:
    """Print a link that is good for one browser and ten minutes."""
    paths = Paths.find(dict(os.environ))
    owner = Owner.find(paths.data)
    if owner is None or owner.url is None:
        raise UserError(
            f"No workspace is running for {paths.data}.",
            code="not_running",
            setting="SILU_HOME",
            fix="Start it with `silu serve`.",
        )
    link = asyncio.run(_link(owner))
    sys.stdout.write(f"{link}\n")
    sys.stdout.flush()
    if not args.no_open:
        open_browser(link)
    return OK


async def _link(owner: OwnerInfo) -> str:
    headers = {"authorization": f"Bearer {owner.token() or ''}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.post(f"{owner.url}api/v1/auth/link") as answer,
    ):
        answer.raise_for_status()
        posted: TokenPost = parse(await answer.read(), TokenPost)
    return f"{owner.url}#token={posted.token}"
