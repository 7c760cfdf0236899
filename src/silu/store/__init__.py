"""Where everything is kept: sessions, runs, messages, facts, blobs, todos, what was learned."""

from silu.store.api import NewRun, NewSession, RunRef, Session, SessionPage, StaleRunError
from silu.store.store import Store

__all__ = [
    "NewRun",
    "NewSession",
    "RunRef",
    "Session",
    "SessionPage",
    "StaleRunError",
    "Store",
]
