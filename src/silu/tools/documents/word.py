"""Word documents: paragraphs and tables in their order."""

import re

import docx
from docx.table import Table
from docx.text.paragraph import Paragraph

from silu.tools.documents.archive import checked
from silu.tools.documents.order import Extract, Order, Pages
from silu.tools.documents.sheets import csv_line

_HEADING = re.compile(r"Heading ([1-6])")


def read(order: Order, data: bytes) -> Extract:
    document = docx.Document(checked(data))
    pages, more = Pages(order), False
    for number, block in enumerate(document.iter_inner_content(), start=1):
        if pages.over(number):
            more = True
            break
        if pages.wants(number):
            pages.add(number, _table(block) if isinstance(block, Table) else _paragraph(block))
    made = pages.extract("paragraphs", total=None, more=more, notes=[])
    made.title = document.core_properties.title or ""
    return made


def _paragraph(block: Paragraph) -> str:
    name = (block.style.name if block.style is not None else None) or ""
    text = block.text
    if (found := _HEADING.fullmatch(name)) and text:
        return f"{'#' * int(found[1])} {text}"
    if name == "Title" and text:
        return f"# {text}"
    return f"- {text}" if name.startswith("List") and text else text


def _table(table: Table) -> str:
    return "\n".join(csv_line([cell.text for cell in row.cells]) for row in table.rows)
