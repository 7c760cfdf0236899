"""What a file is: by its content first, by what is said of it where that does not tell."""

import io
import zipfile

from silu.tools.documents.order import Kind

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_CSV = frozenset({"text/csv", "text/tab-separated-values"})
_TEXTS = ("json", "xml", "javascript", "yaml", "toml", "x-sh", "sql", "ld+json")
_SNIFF = 4_096


def kind_of(data: bytes, *, media_type: str = "", name: str = "") -> Kind | None:
    """How to read these bytes, `None` for what cannot be read as text."""
    head = data[:_SNIFF]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return _office(data)
    if media_type in _HTML or _looks_like_html(head):
        return "html"
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    if media_type in _CSV or name.lower().endswith((".csv", ".tsv")):
        return "csv"
    said = not media_type or media_type.startswith("text/") or media_type.endswith(_TEXTS)
    return "text" if said or _is_utf8(head) else None


def _office(data: bytes) -> Kind | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        return None
    if "word/document.xml" in names:
        return "docx"
    return "xlsx" if "xl/workbook.xml" in names else None


def _looks_like_html(head: bytes) -> bool:
    return (
        head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith((b"<!doctype html", b"<html"))
    )


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that our own cut went through is no fault of the text.
        return len(head) == _SNIFF and error.start > len(head) - 4
    return True
