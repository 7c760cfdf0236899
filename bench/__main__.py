"""python -m bench [NAME…] [--rounds N] [--peers] [--tiny]"""

import argparse
import asyncio
import os
import platform
import time
from collections.abc import Callable

from bench import calls, decode, gateway, million, peers, start, store


class Wish(argparse.Namespace):
    names: list[str]
    rounds: int
    peers: bool
    tiny: bool
    python: str | None = None
    """The interpreter that has the peers."""


BENCHES: dict[str, Callable[[Wish], None]] = {
    "calls": lambda wish: calls.main(times=wish.rounds, python=wish.python, tiny=wish.tiny),
    "decode": lambda wish: decode.main(times=wish.rounds),
    "start": lambda wish: start.main(times=wish.rounds),
    "p5": lambda wish: asyncio.run(gateway.p5(times=wish.rounds, tiny=wish.tiny)),
    "p6": lambda wish: asyncio.run(gateway.p6(tiny=wish.tiny)),
    "p7": lambda wish: asyncio.run(gateway.p7(times=wish.rounds, tiny=wish.tiny)),
    "p8": lambda wish: asyncio.run(store.p8(times=wish.rounds, tiny=wish.tiny)),
    "million": lambda wish: asyncio.run(million.main(times=wish.rounds, tiny=wish.tiny)),
    "crowd": lambda wish: asyncio.run(gateway.crowd(tiny=wish.tiny)),
}


ON_REQUEST = {"million"}
"""Not part of a run without names: its database takes minutes to build."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios to the floor.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHES)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--peers", action="store_true", help="measure other clients too (installed under build/)"
    )
    parser.add_argument("--tiny", action="store_true", help="only see that everything runs")
    wish = parser.parse_args(namespace=Wish())
    if unknown := set(wish.names) - set(BENCHES):
        parser.error(f"no such bench: {', '.join(unknown)}")
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    if wish.peers:
        wish.python = peers.installed()
        print(f"peers: {peers.versions(wish.python)}")
    for name in wish.names or [name for name in BENCHES if name not in ON_REQUEST]:
        BENCHES[name](wish)


if __name__ == "__main__":
    main()
