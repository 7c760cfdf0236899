"""Bytes to text: by a byte order mark, what was told, what the page says of itself, UTF-8."""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE
)
_SNIFF = 4_096

_MEANT = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
}
"""What browsers read where pages say the left-hand name (WHATWG Encoding, names and labels)."""


def decoded(data: bytes, told: str | None = None, *, page: bool = False) -> str:
    """The text; what cannot be decoded becomes a replacement character."""
    return data.decode(charset_of(data, told, page=page), errors="replace")


def charset_of(data: bytes, told: str | None = None, *, page: bool = False) -> str:
    """Python's name of the encoding; `page` lets an HTML page speak for itself."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    said = _META.search(data[:_SNIFF]) if page else None
    for name in (told, said[1].decode("ascii") if said else None):
        if name and (known := _known(name)):
            return known
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _known(name: str) -> str | None:
    """Python's codec of a charset's name, if it has one that makes text."""
    name = name.strip().lower()
    try:
        found = codecs.lookup(_MEANT.get(name, name))
        b"a".decode(found.name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return found.name
