"""`web_fetch`: a page or file of the web as text."""

from urllib.parse import unquote, urlsplit

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.documents import Order, extract
from silu.tools.documents.kinds import kind_of
from silu.tools.documents.telling import footer, heading
from silu.tools.web.http import MAX_BYTES, Answer, Request, Web
from silu.tools.web.untrusted import marked
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

_ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.5"
_LANGUAGES = {"zh": "zh-CN,zh;q=0.9,en;q=0.5"}


def web_fetch_tool(web: Web) -> Tool:
    """The tool over this way to the web."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        languages = _LANGUAGES.get(context.language, "en,*;q=0.5")
        answer = await web.ask(
            Request(
                url=str(args["url"]),
                headers={"Accept": _ACCEPT, "Accept-Language": languages},
            )
        )
        if answer.moved is not None:
            return ToolOutput(text=f"{answer.url} leads to another place: {answer.moved}")
        if not answer.data:
            raise ToolError(f"{answer.url} answered with status {answer.status} and nothing else")
        text = await _text(answer)
        shown = marked(text, source=answer.url)
        if answer.status >= 400:
            return ToolOutput(text=f"status {answer.status}\n{shown}", ok=False)
        return ToolOutput(text=shown)

    return Tool(spec=_SPEC, effects=frozenset({"network"}), run=run, idempotent=True)


async def _text(answer: Answer) -> str:
    name = unquote(urlsplit(answer.url).path.rpartition("/")[2])
    kind = kind_of(answer.data, media_type=answer.media_type, name=name)
    if kind is None:
        raise ToolError(f"{answer.url} is {answer.media_type}, which cannot be read as text")
    if answer.cut and kind not in {"html", "text", "csv"}:
        raise ToolError(f"{answer.url} has more than the {MAX_BYTES} bytes that are fetched")
    order = Order(kind=kind, name=name, charset=answer.charset, base_url=answer.url)
    found = await extract(answer.data, order)
    lines = [heading(found), found.text or "(no text)", footer(found, how=None)]
    if answer.cut:
        lines.append(f"[only the first {MAX_BYTES} bytes were fetched]")
    return "\n".join(line for line in lines if line)


_SPEC = ToolSpec(
    name="web_fetch",
    description=describe(__file__),
    parameters=object_schema({"url": {"type": "string", "minLength": 1}}, required=("url",)),
)
