"""A page's readable text as light Markdown: headings, lists, tables, code, links; no chrome.

What a reader would not see is left out: scripts, forms, navigation, hidden elements (where
instructions to a model like to hide).
"""

import re
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from silu.tools.documents.charsets import decoded
from silu.tools.documents.order import Extract, Order

_UNSEEN = """
script style noscript template svg math iframe object embed canvas audio video source track
form button select textarea input datalist dialog head nav footer aside menu
"""
_BLOCKISH = """
address article blockquote body center dd details div dl dt fieldset figcaption figure header
hgroup html li main ol p pre section summary table tbody tfoot thead tr ul
"""
_SKIPPED = frozenset(_UNSEEN.split())
_BLOCKS = frozenset(_BLOCKISH.split())
_SPACED = frozenset({"blockquote", "dl", "figure", "ol", "p", "pre", "table", "ul"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px)?\s*(?:;|$)"
)
_BLANK = re.compile(r"[ \t\r\n\f]+")
_ENOUGH = 200
"""Characters a page's own main part must have to stand for the page."""


def read(order: Order, data: bytes) -> Extract:
    parser = LexborHTMLParser(decoded(data, order.charset, page=True))
    title = parser.css_first("title")
    text = ""
    for root in _roots(parser):
        text = _Writer(order.base_url).written(root)
        if len(text) >= _ENOUGH:
            break
    return Extract(
        text=text[: order.max_chars],
        title=_BLANK.sub(" ", title.text()).strip() if title is not None else "",
        more=len(text) > order.max_chars,
    )


def _roots(parser: LexborHTMLParser) -> list[LexborNode]:
    """Where the page's own text may be: its main part, a lone article, at last all of it."""
    main = parser.css_first("main, [role=main]")
    articles = parser.css("article") if main is None else []
    found = [main, articles[0] if len(articles) == 1 else None, parser.body]
    return [root for root in found if root is not None]


class _Writer:
    """Walks the tree without recursion: pages may be nested deeper than Python's stack."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._out: list[str] = []
        self._line: list[str] = []
        self._lists: list[int | None] = []
        self._mark = ""
        self._quotes = 0
        self._pre = 0
        self._cells = 0
        self._links: list[int] = []
        self._rows: list[bool] = []

    def written(self, root: LexborNode) -> str:
        node: LexborNode | None = root
        while node is not None:
            entered = self._enter(node)
            if entered and node.child is not None:
                node = node.child
                continue
            if entered:
                self._leave(node)
            node = self._next(node, root)
        self._flush()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._out)).strip()

    def _next(self, node: LexborNode, root: LexborNode) -> LexborNode | None:
        while node.mem_id != root.mem_id:
            if node.next is not None:
                return node.next
            parent = node.parent
            assert parent is not None
            self._leave(parent)
            node = parent
        return None

    # --------------------------------------------------------------------------- nodes

    def _enter(self, node: LexborNode) -> bool:
        """Begin a node; False leaves it out with all that is in it."""
        if node.is_text_node:
            self._text(node.text_content or "")
            return False
        tag = node.tag or ""
        if not node.is_element_node or tag in _SKIPPED or _is_hidden(node):
            return False
        if tag in _HEADINGS:
            self._space()
            self._line.append(f"{'#' * _HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self._block(node, tag)
        else:
            self._inline(node, tag)
        return True

    def _block(self, node: LexborNode, tag: str) -> None:
        self._part(tag)
        match tag:
            case "ul" | "ol":
                self._lists.append(0 if tag == "ol" else None)
            case "li":
                self._mark = self._next_mark()
            case "blockquote":
                self._quotes += 1
            case "pre":
                self._put("```")
                self._pre += 1
            case "table":
                # A table that lays out a page holds blocks, and its cells are none of a row.
                inner = node.css("table, h1, h2, h3, ul, ol, pre")
                self._rows.append(all(one.mem_id == node.mem_id for one in inner))
            case _:
                pass

    def _inline(self, node: LexborNode, tag: str) -> None:
        match tag:
            case "br":
                self._break()
            case "hr":
                self._space()
                self._put("---")
            case "img":
                if alt := (node.attributes.get("alt") or "").strip():
                    self._text(f"[image: {alt}]")
            case "a":
                self._links.append(len(self._line))
            case "code" | "kbd" | "samp":
                self._quote()
            case "td" | "th":
                if self._rows and self._rows[-1]:
                    self._cells += 1
                    self._line.append("| ")
                else:
                    self._flush()
            case _:
                pass

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        match tag:
            case "a":
                self._end_link(node)
            case "code" | "kbd" | "samp":
                self._quote()
            case "td" | "th":
                self._cells = max(0, self._cells - 1)
                self._line.append(" ")
            case "tr":
                if self._rows and self._rows[-1] and self._line:
                    self._line.append("|")
                self._flush()
            case "pre":
                self._pre -= 1
                self._flush(verbatim=True)
                self._put("```")
            case _:
                if tag in _BLOCKS or tag in _HEADINGS:
                    self._flush()
        self._end_block(tag)

    def _end_block(self, tag: str) -> None:
        match tag:
            case "table":
                self._rows.pop()
            case "ul" | "ol":
                self._lists.pop()
                self._mark = ""
            case "blockquote":
                self._part(tag)
                self._quotes -= 1
            case _:
                pass
        self._part(tag)

    def _part(self, tag: str) -> None:
        """End the line where a block begins or ends, with an empty line where it stands alone."""
        if tag in _HEADINGS or (tag in _SPACED and not (tag in {"ul", "ol"} and self._lists)):
            self._space()
        elif tag in _BLOCKS:
            self._flush()

    def _end_link(self, node: LexborNode) -> None:
        begin = self._links.pop()
        words = _BLANK.sub(" ", "".join(self._line[begin:])).strip()
        href = (node.attributes.get("href") or "").strip()
        target = _target(self._base, href)
        if not words or target is None or begin >= len(self._line) or self._pre:
            return
        space = " " if self._line[begin][:1].isspace() else ""
        self._line[begin:] = [f"{space}[{words}]({target})"]

    # ---------------------------------------------------------------------------- text

    def _text(self, text: str) -> None:
        self._line.append(text if self._pre else _BLANK.sub(" ", text))

    def _quote(self) -> None:
        if not self._pre:
            self._line.append("`")

    def _next_mark(self) -> str:
        if not self._lists:
            return "- "
        count = self._lists[-1]
        if count is None:
            return "- "
        self._lists[-1] = count + 1
        return f"{count + 1}. "

    def _break(self) -> None:
        if self._pre:
            self._line.append("\n")
        elif self._cells:
            self._line.append(" ")
        else:
            self._flush()

    def _flush(self, *, verbatim: bool = False) -> None:
        """End the line under way; inside a cell lines run on, inside code they stand."""
        if self._pre:
            return
        if self._cells:
            self._line.append(" ")
            return
        text = "".join(self._line)
        self._line.clear()
        # A link that a block cuts in two has no beginning any more.
        self._links = [0] * len(self._links)
        if verbatim:
            for line in text.strip("\n").split("\n"):
                self._put(line.rstrip())
        elif text := re.sub(" {2,}", " ", text).strip():
            indent = "  " * max(0, len(self._lists) - 1)
            inner = "" if self._mark or not self._lists else "  "
            mark, self._mark = self._mark, ""
            self._put(f"{indent}{inner}{mark}{text}")

    def _space(self) -> None:
        self._flush()
        if self._out and not self._cells and not self._pre and self._out[-1] != "":
            self._out.append("")

    def _put(self, line: str) -> None:
        self._out.append(f"{'> ' * self._quotes}{line}")


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return _HIDDEN.search((attributes.get("style") or "").lower()) is not None


def _target(base: str, href: str) -> str | None:
    """Where a link leads, if that is another page."""
    if not href or href.startswith("#"):
        return None
    try:
        target = urljoin(base, href)
        return target if urlsplit(target).scheme in {"http", "https"} else None
    except ValueError:
        return None
