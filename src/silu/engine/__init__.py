"""Where turns run, and how what they say reaches people: engine, hub, flusher, owner."""

from silu.engine.api import Done, Execute, HubClientApi, Out, OwnerInfo, Parked, Sent, TurnPorts
from silu.engine.hub import Hub
from silu.engine.local import LocalEngine
from silu.engine.owner import Owner

__all__ = [
    "Done",
    "Execute",
    "Hub",
    "HubClientApi",
    "LocalEngine",
    "Out",
    "Owner",
    "OwnerInfo",
    "Parked",
    "Sent",
    "TurnPorts",
]
