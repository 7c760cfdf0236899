"""A long file has more than one reason to change: split it by reason."""

import warnings

from tests.house.tree import files, show

SOFT, HARD = 400, 600


def test_no_source_file_is_longer_than_600_lines() -> None:
    too_long: list[str] = []
    for path in files(".py", ".ts", ".vue", ".css"):
        if "generated" in path.parts or path.name.endswith(".d.ts"):
            continue
        lines = path.read_bytes().count(b"\n")
        if lines > HARD:
            too_long.append(f"{show(path)} has {lines} lines")
        elif lines > SOFT:
            warnings.warn(f"{show(path)} has {lines} lines, more than {SOFT}", stacklevel=1)
    assert not too_long, "\n".join(too_long)
