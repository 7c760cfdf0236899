"""python -m bench [decode] [start] [--rounds N]"""

import argparse

from bench import decode, start

BENCHES = {"decode": decode.main, "start": start.main}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios to the floor.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHES)}; default: all"
    )
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(BENCHES):
        parser.error(f"no such bench: {', '.join(unknown)}")
    for name in chosen.names or BENCHES:
        BENCHES[name](times=chosen.rounds)


if __name__ == "__main__":
    main()
