"""Tool calls out of OpenAI-style pieces, in every shape vendors send them (vendors.md §18).

The index can be missing or always 0; the id missing, repeated, or only in the first piece; the
name repeated in every piece; whole arguments in one piece, or several calls in one. Pieces are
keyed by index, then by id, else they go on with the last call; a new id on a known index is a
new call (field cases F026–F029).
"""

import hashlib

import msgspec

from silu.wire.blocks import BlockWriter

_parse = msgspec.json.Decoder().decode


def made_id(seed: str, number: int) -> str:
    """A stable id for a call that came without one: 9 letters and digits, which all take."""
    digest = hashlib.blake2s(f"{seed}:{number}".encode(), digest_size=8).hexdigest()
    return f"c{digest[:8]}"


def is_json(text: str) -> bool:
    """Is the text one whole JSON value?"""
    try:
        _parse(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


class _Call:
    __slots__ = ("args", "block", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self.block = -1
        self.args: list[str] = []


class ToolCalls:
    """The calls of one answer; writes their blocks through a `BlockWriter`."""

    __slots__ = ("_by_id", "_by_index", "_calls", "_last", "_writer", "seed")

    def __init__(self, writer: BlockWriter, seed: str) -> None:
        self._writer = writer
        self.seed = seed
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._last: _Call | None = None

    @property
    def any(self) -> bool:
        """Has a call been begun?"""
        return bool(self._calls)

    def piece(self, index: int | None, call_id: str, name: str, args: str) -> None:
        """One piece of a call, as it came; empty strings for what it does not tell."""
        call = self._known(index, call_id, name, args)
        if call is None:
            if not (call_id or name or args):
                return
            call = self._new(index, call_id, name)
        self._last = call
        if name and call.block < 0:
            call.name = name
        if call_id and not call.id:
            call.id = call_id
            self._by_id[call_id] = call
        if call.block < 0:
            self._begin(call, args)
        elif args:
            call.args.append(args)
            self._writer.call_args(call.block, args)

    def finish(self, *, cut: bool = False) -> None:
        """Close all calls; `cut` marks those unfinished whose arguments are no whole JSON."""
        for call in self._calls:
            if call.block < 0:
                self._open(call)
            unfinished = cut and not is_json("".join(call.args) or "{}")
            self._writer.end(call.block, unfinished=unfinished)
        self._calls = []
        self._by_index.clear()
        self._by_id.clear()
        self._last = None

    def _known(self, index: int | None, call_id: str, name: str, args: str) -> _Call | None:
        if index is not None:
            call = self._by_index.get(index)
            if call is None:
                return None
            if call_id and call.id and call_id != call.id:
                return self._same_index(index, call_id)
            return None if self._begins_anew(call, call_id, name, args) else call
        if call_id:
            return self._by_id.get(call_id)
        last = self._last
        if last is None or (name and name != last.name and last.name):
            return None
        return None if self._begins_anew(last, call_id, name, args) else last

    def _same_index(self, index: int, call_id: str) -> _Call | None:
        """The index says one call, the id another: servers whose index is always 0."""
        call = self._by_id.get(call_id)
        if call is not None:
            self._by_index[index] = call
        return call

    @staticmethod
    def _begins_anew(call: _Call, call_id: str, name: str, args: str) -> bool:
        """Without ids, a name behind whole arguments begins another call."""
        if call_id or not name:
            return False
        if call.name and name != call.name:
            return True
        return bool(args and call.args) and is_json("".join(call.args))

    def _new(self, index: int | None, call_id: str, name: str) -> _Call:
        call = _Call(call_id, name)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        return call

    def _begin(self, call: _Call, args: str) -> None:
        """Show the call once its name is known; pieces before that wait."""
        if args:
            call.args.append(args)
        if call.name:
            self._open(call)

    def _open(self, call: _Call) -> None:
        call_id = call.id or made_id(self.seed, self._calls.index(call))
        call.block = self._writer.call(call_id, call.name, "".join(call.args))
