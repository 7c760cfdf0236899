"""One file a family: `facts(model)` gives a generation's facts, or `None` for a foreign model.

A file here is found by being here. Model ids come normalised (`bare`): lower case, without the
host's prefixes.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from silu.providers.facts import Facts

Finder = Callable[[str], Facts | None]

_REGION = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|openai|deepseek|qwen|meta|moonshotai|"
    r"moonshot|minimax|zai|mistral|google|xai|nvidia)\."
)


def bare(model: str) -> str:
    """A model id without what hosts put around it.

    `deepseek-ai/DeepSeek-V3.1` → `deepseek-v3.1`, `us.anthropic.claude-opus-5-v1:0` →
    `claude-opus-5-v1`, `x-ai/grok-4:free` → `grok-4`, `claude-opus-4-5@2025` → `claude-opus-4-5`.
    """
    name = model.lower().rstrip("/").rsplit("/", 1)[-1]
    # Bedrock: `us.deepseek.r1-v1:0`, whose model has no name without its maker's.
    name = re.sub(r"^(?:[a-z]{2,6}\.)?deepseek\.(?=[rv]\d)", "deepseek-", name)
    name = _REGION.sub("", name).removeprefix("zai-")
    return name.split("@", 1)[0].split(":", 1)[0]


def find(model: str) -> Facts | None:
    """The facts of a model by its id, from whichever family knows it."""
    name = bare(model)
    for finder in _finders():
        facts = finder(name)
        if facts is not None:
            return facts
    return None


@cache
def _finders() -> tuple[Finder, ...]:
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").facts for name in names)
