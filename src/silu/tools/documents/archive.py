"""Office files are ZIP archives: what is allowed in one before any of it is unpacked."""

import io
import zipfile

from silu.tools.documents.order import DocumentError

MAX_FILES = 10_000
MAX_UNPACKED = 300_000_000
"""Bytes all files of an archive may have; `zipfile` never unpacks more than a file declares."""


def checked(data: bytes) -> io.BytesIO:
    """The archive as a file, unless it is a bomb."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = archive.infolist()
    except zipfile.BadZipFile as error:
        raise DocumentError("it is damaged: its archive cannot be opened") from error
    if len(files) > MAX_FILES or sum(file.file_size for file in files) > MAX_UNPACKED:
        raise DocumentError("unpacked it would be far too large")
    return io.BytesIO(data)
