"""`web_search`: a search engine the person chose."""

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.web.engines import MAX_HITS, Engine, Hit
from silu.tools.web.http import Web
from silu.tools.web.untrusted import marked
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

_HITS = 8
_REFUSED = {
    401: "it does not accept the key",
    403: "it refuses the request; a SearXNG server must have `json` among its search formats",
    429: "too many searches for now",
}


def web_search_tool(engine: Engine, web: Web) -> Tool:
    """The tool on this engine, reached by this way to the web."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        count = int(args.get("count", _HITS))
        answer = await web.ask(engine.ask(str(args["query"]), count))
        if answer.status != 200:
            why = _REFUSED.get(answer.status, f"it answered with status {answer.status}")
            raise ToolError(f"{engine.name} did not search: {why}")
        hits = engine.hits(answer.data, count)
        if not hits:
            return ToolOutput(text=f"{engine.name} found nothing")
        return ToolOutput(text=marked(_listed(hits), source=f"a search with {engine.name}"))

    return Tool(spec=_SPEC, effects=frozenset({"network"}), run=run, idempotent=True)


def vendor_search_tool() -> Tool:
    """The search that the model's own vendor runs: asked for in the request, answered within the
    model's answer. No call for it reaches silu, unless a model takes it for a function."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        raise ToolError("web_search is run by your vendor within your answer; it is no function")

    spec = msgspec.structs.replace(_SPEC, vendor_run=True)
    return Tool(spec=spec, effects=frozenset({"read"}), run=run, idempotent=True, source="vendor")


def _listed(hits: list[Hit]) -> str:
    return "\n".join(
        f"{number}. {hit.title}\n   {hit.url}\n   {hit.snippet}".rstrip()
        for number, hit in enumerate(hits, start=1)
    )


_SPEC = ToolSpec(
    name="web_search",
    description=describe(__file__),
    parameters=object_schema(
        {
            "query": {"type": "string", "minLength": 1, "maxLength": 400},
            "count": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_HITS,
                "description": f"How many hits; {_HITS} when left out.",
            },
        },
        required=("query",),
    ),
)
