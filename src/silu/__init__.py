"""silu: agents whose thinking you can see, steer and keep, with any vendor.

Names are imported when they are first used, so that `import silu` costs next to nothing.
"""

TYPE_CHECKING = False
"""Type checkers take it for true; `typing` itself costs more than all else here."""

if TYPE_CHECKING:
    from silu import types
    from silu.client import (
        Agent,
        AgentOptions,
        AgentReply,
        CallOptions,
        Client,
        Reply,
        Structured,
        ask,
        models,
    )
    from silu.tools.functions import tool
    from silu.types.errors import SiluError, ToolError, UserError, VendorError
    from silu.types.levels import Level
    from silu.types.parts import Message

    __version__: str

__all__ = [
    "Agent",
    "AgentOptions",
    "AgentReply",
    "CallOptions",
    "Client",
    "Level",
    "Message",
    "Reply",
    "SiluError",
    "Structured",
    "ToolError",
    "UserError",
    "VendorError",
    "__version__",
    "ask",
    "models",
    "tool",
    "types",
]

_PLACES = {
    "Agent": "silu.client",
    "AgentOptions": "silu.client",
    "AgentReply": "silu.client",
    "CallOptions": "silu.client",
    "Client": "silu.client",
    "Level": "silu.types.levels",
    "Message": "silu.types.parts",
    "Reply": "silu.client",
    "SiluError": "silu.types.errors",
    "Structured": "silu.client",
    "ToolError": "silu.types.errors",
    "UserError": "silu.types.errors",
    "VendorError": "silu.types.errors",
    "ask": "silu.client",
    "models": "silu.client",
    "tool": "silu.tools.functions",
}


def __getattr__(name: str) -> object:
    import importlib

    if name == "types":
        return importlib.import_module("silu.types")
    if name == "__version__":
        return importlib.import_module("silu.types.version").VERSION
    if name not in _PLACES:
        raise AttributeError(f"module 'silu' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
