"""How an extract is told: what it is of ahead of it, how to read on behind it."""

from silu.tools.documents.order import Extract


def heading(found: Extract, name: str = "") -> str:
    """The name or title, and which pages or rows of how many follow; "" when nothing is known."""
    what = name or found.title
    if not found.unit:
        return what
    if found.last < found.first:
        return f"{what}: no {found.unit} from {found.first} on".lstrip(": ")
    of = f" of {found.total}" if found.total is not None else ""
    return f"{what}, {found.unit} {found.first}-{found.last}{of}".lstrip(", ")


def footer(found: Extract, *, how: str | None) -> str:
    """What could not be read, and that more follows; `how` says how to read it."""
    lines = [f"[{note}]" for note in found.notes]
    if found.more:
        what = f"more {found.unit} follow" if found.unit else "more text follows"
        lines.append(f"[{what}{f'; {how}' if how else ', which is not shown'}]")
    return "\n".join(lines)
