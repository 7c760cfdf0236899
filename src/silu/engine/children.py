"""Sub-agents of runs: begun in the store's own transaction, looked after like any other run."""

from collections.abc import Callable

from silu.agent.ports import ChildEnd, ChildWish, Stale
from silu.engine import ops
from silu.store import StaleRunError, Store
from silu.store.api import RunRef


class RunChildren:
    """The sub-agents of one attempt at a run; `spawn` sets a run going."""

    def __init__(
        self, store: Store, ref: RunRef, *, depth: int, spawn: Callable[[ops.Begun], None]
    ) -> None:
        self.depth = depth
        self._store = store
        self._ref = ref
        self._spawn = spawn

    async def child(self, wish: ChildWish) -> ChildEnd | None:
        """Begin it, or tell how it ended; `None` while it works."""
        try:
            row, begun = await self._store.write(lambda tx: ops.child(tx, self._ref, wish))
        except StaleRunError as error:
            raise Stale from error
        if begun is not None:
            self._spawn(begun)
        if row.status is None:
            return None
        return ChildEnd(status=row.status, reason=row.reason, answer=row.answer or "")
