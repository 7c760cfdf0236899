"""Search engines: how each is asked and how its answer is read. No I/O."""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import msgspec

from silu.tools.web.http import Request
from silu.types.errors import ToolError

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
TAVILY_URL = "https://api.tavily.com/search"

MAX_HITS = 20
_MAX_SNIPPET = 1_000
_CAP = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A search engine: `ask` makes its request for a query and a number of hits, `field` is
    where its answer has the hits and `snippet` the field of a hit that has words of the page."""

    name: str
    ask: Callable[[str, int], Request]
    field: tuple[str, ...]
    snippet: str

    def hits(self, data: bytes, count: int) -> list[Hit]:
        """The hits of an answer; `ToolError` when it is none of this engine's."""
        try:
            found: Any = msgspec.json.decode(data)
            for name in self.field:
                # An engine that found nothing leaves the place out.
                found = found.get(name) or ({} if name != self.field[-1] else [])
            return [self._hit(item) for item in list(found)[:count]]
        except (msgspec.DecodeError, AttributeError, TypeError, KeyError) as error:
            raise ToolError(f"the answer of {self.name} cannot be read") from error

    def _hit(self, item: Mapping[str, Any]) -> Hit:
        return Hit(
            title=_plain(item.get("title")) or "(no title)",
            url=str(item["url"]),
            snippet=_plain(item.get(self.snippet))[:_MAX_SNIPPET],
        )


def _plain(text: object) -> str:
    """Without the marks some engines put around the words that were looked for."""
    words = re.sub(r"</?(?:strong|em|b|mark)>", "", cast("str", text or ""))
    return re.sub(r"\s+", " ", html.unescape(words)).strip()


def searxng(url: str) -> Engine:
    """A SearXNG server of the person's; its settings must allow the `json` format.

    https://docs.searxng.org/dev/search_api
    """

    def ask(query: str, count: int) -> Request:
        words = urlencode({"q": query, "format": "json"})
        return Request(url=f"{url.rstrip('/')}/search?{words}", cap=_CAP)

    return Engine(name="SearXNG", ask=ask, field=("results",), snippet="content")


def brave(key: str, url: str = BRAVE_URL) -> Engine:
    """https://api-dashboard.search.brave.com/app/documentation/web-search"""

    def ask(query: str, count: int) -> Request:
        words = urlencode({"q": query, "count": count})
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return Request(url=f"{url}?{words}", headers=headers, cap=_CAP)

    return Engine(name="Brave", ask=ask, field=("web", "results"), snippet="description")


def tavily(key: str, url: str = TAVILY_URL) -> Engine:
    """https://docs.tavily.com/documentation/api-reference/endpoint/search"""

    def ask(query: str, count: int) -> Request:
        body = msgspec.json.encode({"query": query, "max_results": count})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        return Request(url=url, method="POST", headers=headers, body=body, cap=_CAP)

    return Engine(name="Tavily", ask=ask, field=("results",), snippet="content")
