"""The `silu` command: arguments first, and only then the code that the chosen command needs.

Exit codes of every command: 0 it went well, 1 a vendor failed, 2 something the person can mend
(a wrong argument or setting), 130 stopped with Ctrl-C.
"""

import os
import sys

from silu.cli.exits import FAULT_OF_USER, FAULT_OF_VENDOR, INTERRUPTED, OK
from silu.types.version import VERSION

_OWN_ARGUMENTS = {
    "mcp": "silu.cli.mcp",
    "tokens": "silu.cli.tokens",
    "wire": "silu.cli.wire",
}
"""Commands that read their arguments themselves: `main(argv)` of the named module."""


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit code is returned."""
    args = sys.argv[1:] if argv is None else argv
    if args in (["--version"], ["-V"]):
        sys.stdout.write(f"silu {VERSION}\n")
        return OK
    try:
        return _run(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _pipe_closed()
    except Exception as exc:
        return _failed(exc)


def _run(args: list[str]) -> int:
    from importlib import import_module

    if args and args[0] in _OWN_ARGUMENTS:
        return import_module(_OWN_ARGUMENTS[args[0]]).main(args[1:])
    from silu.cli.arguments import parser

    chosen = parser().parse_args(args)
    if chosen.module is None:
        parser().print_help()
        return OK
    return import_module(chosen.module).run(chosen)


def _failed(exc: Exception) -> int:
    from silu.types.errors import SiluError, UserError, VendorError

    match exc:
        case VendorError():
            hint = f" (setting: {exc.failure.setting})" if exc.failure.setting else ""
            sys.stderr.write(f"silu: {exc}{hint}\n")
            return FAULT_OF_VENDOR
        case UserError():
            told = str(exc)
            named = not exc.setting or exc.setting in told
            hint = "" if named else f" (setting: {exc.setting})"
            sys.stderr.write(f"silu: {told}{hint}\n")
            return FAULT_OF_USER
        case SiluError():
            sys.stderr.write(f"silu: {exc}\n")
            return FAULT_OF_VENDOR
        case OSError(filename=str() | bytes() as place):
            # A folder that is a file, a file this account may not read: the person's to mend.
            sys.stderr.write(f"silu: {os.fsdecode(place)}: {exc.strerror}.{_home_of(place)}\n")
            return FAULT_OF_USER
        case _:
            raise exc


def _home_of(place: str | bytes) -> str:
    """What to change where a file of our own folders is in the way."""
    from pathlib import Path

    from silu.config import Paths

    paths, at = Paths.find(os.environ), Path(os.fsdecode(place))
    if any(at.is_relative_to(folder) for folder in (paths.data, paths.config)):
        return " Mend that folder, or set SILU_HOME to another one."
    return ""


def _pipe_closed() -> int:
    """The reader of our output has gone (`silu … | head`): nothing to complain about."""
    # Python would complain once more when it flushes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


if __name__ == "__main__":
    sys.exit(main())
