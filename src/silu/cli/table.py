"""A table for the terminal."""

import sys
from collections.abc import Sequence


def write_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equally many cells, the first being the headings, in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
