"""PDF, page by page."""

import io

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from silu.tools.documents.order import DocumentError, Extract, Order, Pages

_EMPTY = "these pages hold no text: they may be scanned pictures"


def read(order: Order, data: bytes) -> Extract:
    reader = PdfReader(io.BytesIO(data), strict=False)
    _unlock(reader)
    total = len(reader.pages)
    if order.start > total:
        raise DocumentError(f"it has {total} pages; there is no page {order.start}")
    pages, notes, found = Pages(order), list[str](), False
    for number in range(order.start, total + 1):
        if pages.over(number):
            break
        try:
            text = reader.pages[number - 1].extract_text().strip()
        except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            # One damaged page must not take the others with it.
            notes.append(f"page {number} could not be read ({type(error).__name__})")
            text = ""
        found = found or bool(text)
        pages.add(number, f"--- page {number} ---\n{text}\n")
    if not found:
        notes.append(_EMPTY)
    made = pages.extract("pages", total=total, more=pages.last < total, notes=notes)
    made.title = str((reader.metadata and reader.metadata.title) or "")
    return made


def _unlock(reader: PdfReader) -> None:
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError("it is locked with a password")
    except DependencyError as error:
        raise DocumentError("it is encrypted in a way that cannot be read here") from error
