"""Workbooks and CSV: rows with their numbers, cells parted by commas."""

import csv
import datetime
import io
from collections.abc import Iterable
from typing import Any

import openpyxl

from silu.tools.documents.archive import checked
from silu.tools.documents.charsets import charset_of
from silu.tools.documents.order import DocumentError, Extract, Order, Pages

_SNIFF = 20_000


def csv_line(cells: Iterable[Any]) -> str:
    """One row as CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().removesuffix("\n")


def read_workbook(order: Order, data: bytes) -> Extract:
    # Twice: what the program that saved it had computed, and the formulas where it had not.
    values = openpyxl.load_workbook(checked(data), read_only=True, data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    names = [sheet.title for sheet in values.worksheets]
    name = order.sheet or (names[0] if names else "")
    if name not in names:
        raise DocumentError(f"it has no sheet {name!r}; its sheets are: {', '.join(names)}")
    computed, written = values[name], formulas[name]
    for sheet in (computed, written):
        # Sizes that other programs write into the file are often wrong.
        sheet.reset_dimensions()
    pages, more = Pages(order), False
    pairs = zip(
        computed.iter_rows(values_only=True), written.iter_rows(values_only=True), strict=False
    )
    for number, (row, source) in enumerate(pairs, start=1):
        if pages.over(number):
            more = True
            break
        if pages.wants(number):
            pages.add(number, f"{number}\t{csv_line(_cells(row, source))}")
    notes = [f"sheet {name!r} of: {', '.join(names)}"] if len(names) > 1 else []
    return pages.extract("rows", total=None, more=more, notes=notes)


def _cells(row: tuple[Any, ...], source: tuple[Any, ...]) -> list[Any]:
    """The values; a formula that was never computed is shown as it is. No empty cells behind."""
    cells = [_cell(value, formula) for value, formula in zip(row, source, strict=False)]
    while cells and cells[-1] == "":
        cells.pop()
    return cells


def _cell(value: Any, formula: Any) -> Any:
    match value if value is not None else formula:
        case None:
            return ""
        case datetime.datetime() as moment:
            midnight = moment.time() == datetime.time()
            return moment.date().isoformat() if midnight else moment.isoformat(sep=" ")
        case other:
            return other


def read_csv(order: Order, data: bytes) -> Extract:
    charset = charset_of(data, order.charset)
    text = data.decode(charset, errors="replace")
    pages, more = Pages(order), False
    csv.field_size_limit(order.max_chars)
    rows = csv.reader(io.StringIO(text, newline=""), _dialect(text, order.name))
    for number, row in enumerate(rows, start=1):
        if pages.over(number):
            more = True
            break
        if pages.wants(number):
            pages.add(number, f"{number}\t{csv_line(row)}")
    unsure = charset == "cp1252" and order.charset is None
    notes = ["it is not UTF-8 and was read as windows-1252; `encoding` says otherwise"]
    return pages.extract("rows", total=None, more=more, notes=notes if unsure else [])


def _dialect(text: str, name: str) -> type[csv.Dialect] | str:
    if name.lower().endswith(".tsv"):
        return "excel-tab"
    try:
        return csv.Sniffer().sniff(text[:_SNIFF], delimiters=",;\t|")
    except csv.Error:
        # One column, or too few rows to tell.
        return "excel"
