"""Hooks of the person's: one JSON file that a running process follows."""

from pathlib import Path

import msgspec

from silu.config.files import SharedFile
from silu.types.errors import UserError
from silu.types.hooks import Hook

_MAX_SECONDS = 600.0


class _File(msgspec.Struct, frozen=True, kw_only=True):
    hooks: tuple[Hook, ...] = ()


class HookFile:
    """`hooks.json` in the config folder; every look sees what other processes wrote."""

    def __init__(self, path: Path) -> None:
        self._file: SharedFile[_File] = SharedFile(path, _File, empty=_File)

    @property
    def path(self) -> Path:
        return self._file.path

    def all(self) -> tuple[Hook, ...]:
        """The hooks in order; `UserError` when the file or one of them cannot be used: a guard
        that is written wrongly must not be passed over."""
        hooks = self._file.read().hooks
        for hook in hooks:
            if not hook.command or not hook.command[0].strip():
                raise self._bad("a hook has no command")
            if not 0 < hook.seconds <= _MAX_SECONDS:
                raise self._bad(f"`seconds` of a hook is between 0 and {_MAX_SECONDS:g}")
        return hooks

    def _bad(self, what: str) -> UserError:
        return UserError(
            f"{self.path}: {what}.",
            code="bad_config",
            setting=str(self.path),
            fix="Correct the file; it was left as it is.",
        )
