"""The reading program: an order and a document on its input, an answer on its output.

It opens no file and no connection. Parsers of foreign formats may fail in any way; whatever
happens in here ends with this process.
"""

import contextlib
import resource
import sys

import msgspec

from silu.tools.documents.order import DocumentError, Extract, Order

_MEMORY = 1_500_000_000
_CPU_SECONDS = 120


def main() -> None:
    _limit_itself()
    line, _, data = sys.stdin.buffer.read().partition(b"\n")
    order = msgspec.json.decode(line, type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(answer(order, data)))


def answer(order: Order, data: bytes) -> Extract:
    """The document's text, or why there is none."""
    try:
        return _read(order, data)
    except DocumentError as error:
        return Extract(error=str(error))
    except MemoryError:
        return Extract(error="reading it needed more memory than it may have")
    except Exception as error:
        return Extract(error=f"it is damaged, or not what it says ({type(error).__name__})")


def _read(order: Order, data: bytes) -> Extract:
    match order.kind:
        case "pdf":
            from silu.tools.documents import pdf

            return pdf.read(order, data)
        case "docx":
            from silu.tools.documents import word

            return word.read(order, data)
        case "xlsx":
            from silu.tools.documents import sheets

            return sheets.read_workbook(order, data)
        case "csv":
            from silu.tools.documents import sheets

            return sheets.read_csv(order, data)
        case "html":
            from silu.tools.documents import html

            return html.read(order, data)
        case "text":
            from silu.tools.documents.charsets import decoded

            text = decoded(data, order.charset)
            return Extract(text=text[: order.max_chars], more=len(text) > order.max_chars)


def _limit_itself() -> None:
    limits = (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
    )
    for which, value in limits:
        # Some systems do not let a process set all of them; the time limit outside still holds.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    main()
