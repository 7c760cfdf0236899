"""From a dialect's deltas to our stream events: opens, fills and closes the blocks.

A decoder says what came (`thinking`, `text`, a call's pieces); this keeps the rules of the
stream: one thinking or text block open at a time, every block closed, nothing opened for an
empty piece, tags in the text routed, a text that came twice shown once.
"""

import msgspec

from silu.types.events import (
    BlockData,
    BlockEnd,
    BlockKind,
    BlockStart,
    Citation,
    CitationData,
    ContinuityData,
    FinishReason,
    Reroute,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from silu.types.parts import ThinkingKind
from silu.types.rules import DecodeRules
from silu.wire.think_tags import Marks, Op, Routed, ThinkTags

TAGS = "tags"
"""Continuity kind: what was taken out of the content around this part, as marks."""

NULL = "null"

_dump = msgspec.json.Encoder().encode

_NONE, _FIELD, _TAGGED, _TEXT = range(4)


def json_text(value: object) -> str:
    """A value as JSON text."""
    return _dump(value).decode()


class BlockWriter:
    """Collects events in `out`; the owner takes the list and puts a new one there.

    `unsigned` is the continuity kind kept for thinking in a field of its own that nobody signs:
    its data is `null`, because the part's own text is what goes back. `None` where the dialect
    keeps something of its own.
    """

    __slots__ = (
        "_copy",
        "_dedupe",
        "_field",
        "_field_text",
        "_kind",
        "_lead",
        "_matched",
        "_next",
        "_open",
        "_own",
        "_squeezed",
        "_tags",
        "_unsigned",
        "out",
        "said",
        "summary",
        "thought",
    )

    def __init__(self, rules: DecodeRules, *, unsigned: str | None = None) -> None:
        self.out: list[StreamEvent] = []
        self.thought = False
        """A thinking block has been shown, or known to be withheld."""
        self.said = False
        """Answer text or a call has been shown."""
        self._unsigned = unsigned
        self.summary = rules.summary
        """The next thinking block is a summary."""
        self._tags = ThinkTags(rules.tags) if rules.tags is not None else None
        self._dedupe = rules.tags is not None and rules.tags.drop_copy
        self._next = 0
        self._open = -1
        self._kind = _NONE
        self._field = ""
        self._own: list[str] = []
        self._field_text = ""
        self._copy: list[str] = []
        self._matched = 0
        self._squeezed = 0
        self._lead = ""

    @property
    def last(self) -> int | None:
        """The index of the newest block."""
        return self._next - 1 if self._next else None

    # -- thinking in a field of its own

    def thinking(self, text: str, field: str) -> int:
        """Thinking text as it came in `field`; gives the block's index."""
        if self._kind != _FIELD or field != self._field:
            self._open_field(field)
        self.out.append(ThinkingDelta(self._open, text))
        self._own.append(text)
        return self._open

    def thinking_text(self) -> str:
        """All thinking that came in fields so far."""
        return "".join(self._own)

    def end_thinking(self) -> None:
        """The vendor says that its thinking block is over."""
        if self._kind == _FIELD:
            self._close()

    def hidden_thinking(self, kind: ThinkingKind | None = None) -> int:
        """A thought without text, with opaque data alone: opened here, closed by the next."""
        self._open_field("")
        if kind == "redacted":
            self.out[-1] = BlockStart(self._open, "thinking", "redacted")
        return self._open

    def keep(self, index: int | None, kind: str, data: str, field: str) -> None:
        """Opaque data of a block, or of the message."""
        self.out.append(ContinuityData(index, kind, data, field))

    def _open_field(self, field: str) -> None:
        if self._tags is not None:
            self._route(self._tags.thought_elsewhere())
        self._close()
        self._start("thinking", "summary" if self.summary else "full")
        self._kind, self._field = _FIELD, field
        self.thought = True

    # -- answer text

    def text(self, text: str) -> None:
        """Answer text as it came; think tags in it are routed."""
        tags = self._tags
        if self._kind == _TEXT and (tags is None or tags.passes(text)):
            self.out.append(TextDelta(self._open, text))
        elif tags is not None:
            self._route(tags.feed(text))
        else:
            self._plain(text)

    def cite(self, citation: Citation) -> None:
        """A source of the open text block; opens one where none is."""
        if self._kind != _TEXT:
            self._plain("")
        self.out.append(CitationData(self._open, citation))

    @property
    def open_text(self) -> int | None:
        """The index of the open answer text."""
        return self._open if self._kind == _TEXT else None

    def end_text(self) -> None:
        """The vendor says that its text block is over; also settles what tags left open."""
        if self._tags is not None:
            self._route(self._tags.finish())
        if self._kind in (_TEXT, _TAGGED):
            self._close()

    def _plain(self, text: str) -> None:
        if self._kind != _TEXT:
            self._close()
            self._start("text")
            self._kind = _TEXT
            self.said = True
            if self._lead:
                self._keep_marks([])
        if text:
            self.out.append(TextDelta(self._open, text))

    def _route(self, routed: Routed) -> None:
        for op, text in routed:
            if op == Op.TEXT:
                if self._kind == _TEXT:
                    self.out.append(TextDelta(self._open, text))
                else:
                    self._plain(text)
            elif op == Op.THINK:
                self._tagged(text)
            else:
                self._border(op, text)

    def _border(self, op: Op, text: str) -> None:
        if op == Op.MARK:
            if self._kind == _TEXT:
                self._close()
            self._lead += text
        elif op == Op.CLOSE:
            self._end_tagged(self._marks())
        elif self._kind == _TEXT:
            self.out.append(Reroute(self._open, "thinking"))
            self._keep_marks(self._marks())
            self._close()
            self.thought = True
        else:
            self._marks()

    def _marks(self) -> Marks:
        return self._tags.closed.popleft() if self._tags is not None else []

    # -- thinking inside tags

    def _tagged(self, text: str) -> None:
        if self._kind == _TAGGED:
            self.out.append(ThinkingDelta(self._open, text))
            return
        if self._dedupe and self._own and self._is_copy(text):
            self._copy.append(text)
            return
        if self._copy:
            text = "".join([*self._copy, text])
            self._copy.clear()
        self._close()
        self._start("thinking", "tagged")
        self._kind = _TAGGED
        self.thought = True
        self.out.append(ThinkingDelta(self._open, text))

    def _is_copy(self, text: str) -> bool:
        """Does the tagged thinking so far repeat what came in the field, white space aside?

        MiniMax M3 and llama.cpp's `deepseek-legacy` send a thought both ways.
        """
        new = "".join(self._own[self._squeezed :])
        self._squeezed = len(self._own)
        self._field_text += "".join(new.split())
        piece = "".join(text.split())
        same = self._field_text.startswith(piece, self._matched)
        if same:
            self._matched += len(piece)
        return same

    def _end_tagged(self, marks: Marks) -> None:
        unfinished = self._tags is not None and self._tags.unclosed
        if self._kind == _TAGGED:
            self._keep_marks(marks)
            self._close(unfinished=unfinished)
        self._copy.clear()

    def _keep_marks(self, marks: Marks) -> None:
        if self._lead:
            marks = [(0, self._lead), *marks]
            self._lead = ""
        self.keep(self._open, TAGS, json_text(marks), "content")

    # -- calls and blocks that come whole

    def call(self, call_id: str, name: str, args: str) -> int:
        """Open a tool call and give its index; `args` is the first piece of its arguments."""
        self.settle()
        index = self._next
        self._next += 1
        self.said = True
        self.out.append(BlockStart(index, "tool_call"))
        self.out.append(ToolCallDelta(index, call_id, name, args))
        return index

    def call_args(self, index: int, args: str) -> None:
        self.out.append(ToolCallDelta(index, "", "", args))

    def end(self, index: int, *, unfinished: bool = False) -> None:
        self.out.append(BlockEnd(index, unfinished))

    def whole(self, kind: BlockKind, name: str, data: str, call_id: str | None = None) -> int:
        """A block that comes in one piece; gives its index, the caller closes it."""
        self.settle()
        index = self._next
        self._next += 1
        self.out.append(BlockStart(index, kind))
        self.out.append(BlockData(index, name, data, call_id))
        return index

    # -- the end

    def settle(self) -> None:
        """Another kind of block comes, or none: close the open thinking or text."""
        if self._tags is not None:
            self._route(self._tags.finish())
        self._close()

    def finish(self, reason: FinishReason | None) -> None:
        """The answer is over. Where the template was to open the thinking and no end tag ever
        came, a complete answer (`stop`) was no thought: it moves to the answer."""
        if self._tags is not None:
            self._route_end(reason)
        self._close(unfinished=reason in (None, "length", "error"))

    def _route_end(self, reason: FinishReason | None) -> None:
        tags = self._tags
        assert tags is not None
        routed = tags.finish()
        if tags.unclosed_implicit and reason == "stop":
            self._route([pair for pair in routed if pair[0] != Op.CLOSE])
            self._marks()
            if self._kind == _TAGGED:
                self.out.append(Reroute(self._open, "text"))
                self.said = True
            return
        self._route(routed)

    def _start(self, kind: BlockKind, thinking: ThinkingKind | None = None) -> None:
        self._open = self._next
        self._next += 1
        self.out.append(BlockStart(self._open, kind, thinking))

    def _close(self, *, unfinished: bool = False) -> None:
        if self._kind == _NONE:
            return
        if self._kind == _FIELD and self._unsigned is not None and self._field:
            self.keep(self._open, self._unsigned, NULL, self._field)
        self.out.append(BlockEnd(self._open, unfinished))
        self._kind = _NONE
        self._open = -1
