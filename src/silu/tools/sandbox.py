"""The sandbox of commands: bubblewrap with the workspace, the system's programs and nothing else.

No network unless allowed, no home folder, no keys in the environment, own process tree. Without
bubblewrap commands are refused, until the person switches the sandbox off where they can see it.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from silu.types.errors import ToolError

State = Literal["on", "missing", "off"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix")
_ETC = """
alternatives ca-certificates group hosts java* ld.so.cache ld.so.conf ld.so.conf.d localtime
manpath.config mime.types nsswitch.conf passwd pki profile protocols python* resolv.conf services
ssl terminfo
"""
"""What programs need of the system's settings; nothing in it is secret."""

_PROTECTED = (".git/hooks", ".git/config")
"""Written by a command, these would run later outside the sandbox, by the person's own git."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """How commands run. `read_only` are more folders they may see; `path` is their search path.

    `program` is bubblewrap; `None` with `state` "missing" (not usable here) or "off".
    """

    program: str | None
    state: State
    read_only: tuple[Path, ...] = ()
    path: str = "/usr/local/bin:/usr/bin:/bin"

    def argv(self, command: list[str], workspace: Path, *, write: bool, network: bool) -> list[str]:
        """The program to start for `command`; `ToolError` when it must not run here."""
        if self.state == "off":
            return command
        if self.program is None:
            raise ToolError(
                "commands cannot run here: bubblewrap is missing or not permitted, and the person "
                "has not switched the sandbox off"
            )
        argv = [self.program, "--unshare-all", "--die-with-parent", "--new-session"]
        argv += ["--share-net"] if network else []
        argv += ["--cap-drop", "ALL", "--clearenv"]
        for name, value in self.environment("/tmp").items():
            argv += ["--setenv", name, value]
        argv += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        for place in self._visible():
            argv += ["--ro-bind-try", place, place]
        root = str(workspace.resolve())
        argv += ["--bind" if write else "--ro-bind", root, root]
        argv += _git_guard(Path(root)) if write else []
        argv += ["--remount-ro", "/"]
        return [*argv, "--chdir", root, "--", *command]

    def environment(self, home: str) -> dict[str, str]:
        """All that a command knows of the outside: no keys, no names."""
        return {
            "PATH": self.path,
            "HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
            "PAGER": "cat",
        }

    def _visible(self) -> list[str]:
        etc = [str(place) for name in _ETC.split() for place in sorted(Path("/etc").glob(name))]
        return [*_SYSTEM, *etc, *(str(place) for place in self.read_only)]


def _git_guard(root: Path) -> list[str]:
    """Mounts that keep the person's git as it is set up: its folder cannot be moved away either,
    and of a worktree not be pointed elsewhere."""
    git = root / ".git"
    if git.is_symlink() or not git.exists():
        return []
    mounts = ["--bind" if git.is_dir() else "--ro-bind", str(git), str(git)]
    for name in _PROTECTED:
        if (root / name).exists():
            mounts += ["--ro-bind", f"{root}/{name}", f"{root}/{name}"]
    return mounts


def find_sandbox(*, wanted: bool = True, environ: dict[str, str] | None = None) -> Sandbox:
    """Look whether bubblewrap works on this machine (it starts a program: blocking).

    `environ` is where the search path and the programs outside the system's folders are from.
    """
    env = dict(os.environ) if environ is None else environ
    path = env.get("PATH", "/usr/bin:/bin")
    if not wanted:
        return Sandbox(program=None, state="off", path=path)
    program = shutil.which("bwrap", path=path)
    made = Sandbox(
        program=program,
        state="on" if program and _works(program) else "missing",
        read_only=_toolchains(path, Path(env.get("HOME", "/"))),
        path=path,
    )
    return made if made.state == "on" else Sandbox(program=None, state="missing", path=path)


def _works(program: str) -> bool:
    argv = [program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        done = subprocess.run([*argv, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _toolchains(path: str, home: Path) -> tuple[Path, ...]:
    """Programs the person has outside the system's folders: `~/.x/bin` brings `~/.x` along."""
    found: list[Path] = []
    for entry in path.split(":"):
        folder = Path(entry)
        if not folder.is_absolute() or not folder.is_dir() or entry.startswith(_SYSTEM):
            continue
        parent = folder.parent
        # A folder that holds more than one tool, such as ~/.local, would show too much.
        shared = parent in {home, home / ".local", Path("/")} or home.is_relative_to(parent)
        found.append(folder if shared else parent)
    return tuple(dict.fromkeys(found))
