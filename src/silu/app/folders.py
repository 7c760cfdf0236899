"""Folders a person names."""

from pathlib import Path

from silu.types.errors import UserError


def resolved(root: str) -> Path:
    return Path(root).expanduser().resolve()


def existing_folder(wish: str) -> Path:
    folder = resolved(wish)
    if not folder.is_dir():
        raise UserError(f"{wish} is no folder.", code="bad_argument", setting="workspace")
    return folder
