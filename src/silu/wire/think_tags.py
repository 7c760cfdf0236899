"""Think tags inside answer text: one incremental parser for all dialects.

It routes text to thinking or answer and never loses a character that is not white space, tags
that do their work apart. Text may be cut anywhere: the longest tail that could still become a
tag is held back. What a tag looked like is kept as *marks*, so that a vendor that wants its
tags back gets its content byte for byte (`rebuild`).

Where a tag counts (field cases F012–F020):
- an opening tag at the start of the content, directly after a closed thinking block, or, where
  the profile allows late blocks, anywhere outside code;
- an end tag inside thinking; nested opening tags are counted;
- a lone end tag in the first answer text, where it cannot be a word about tags: what stood
  before it was a thought (`REROUTE`). At the very start of the content, after thinking came in
  a field of its own, it is dropped.
"""

from collections import deque
from enum import IntEnum

from silu.types.rules import TagRules
from silu.wire.code_places import CodePlaces


class Op(IntEnum):
    """What to do with a stretch of text, or with what was said before it."""

    TEXT = 0
    THINK = 1
    CLOSE = 2
    """The open thinking segment is over; its marks are next in `closed`."""
    REROUTE = 3
    """The answer text since the last thinking was a thought, and it is over; marks likewise."""
    MARK = 4
    """A literal was taken out here, before the answer text that follows (an empty thought)."""


_START, _AFTER, _TEXT, _THINK, _PLAIN = range(5)

Marks = list[tuple[int, str]]
"""Literals taken out of the content: (offset in code points within the part's text, literal)."""

Routed = list[tuple[Op, str]]


class ThinkTags:
    """One answer's content. `feed` and `finish` give `(op, text)` pairs in order.

    `closed` holds the marks of the segments that `CLOSE` and `REROUTE` ended, oldest first.
    `unclosed` is true when `finish` met an open thinking segment, `unclosed_implicit` when no
    tag at all had been seen in it.
    """

    __slots__ = (
        "_at",
        "_close",
        "_code",
        "_depth",
        "_ends",
        "_first",
        "_firsts",
        "_held",
        "_implicit",
        "_last",
        "_late",
        "_literal_opens",
        "_lone",
        "_marks",
        "_n",
        "_open",
        "_opens",
        "_pairs",
        "_pending",
        "_said",
        "_solid",
        "_spaces",
        "_thought_before",
        "closed",
        "unclosed",
        "unclosed_implicit",
    )

    def __init__(self, rules: TagRules) -> None:
        self._pairs = dict(rules.pairs)
        self._opens = tuple(self._pairs)
        self._ends = tuple(dict.fromkeys(self._pairs.values()))
        self._firsts = tuple({tag[0] for tag in (*self._opens, *self._ends)})
        self._first = self._firsts[0] if len(self._firsts) == 1 else ""
        self._late = rules.late_blocks
        self._implicit = rules.implicit_open
        self._at = _THINK if self._implicit else _START
        self._open = self._close = self._held = self._spaces = self._last = ""
        self._depth = 1 if self._implicit else 0
        self._pending = self._n = self._literal_opens = 0
        self._lone = True
        self._said = self._solid = self._thought_before = False
        self._marks: Marks = []
        self._code = CodePlaces()
        self.closed: deque[Marks] = deque()
        self.unclosed = self.unclosed_implicit = False

    def passes(self, text: str) -> bool:
        """Is this plain answer text that goes on from plain answer text? Then it is taken note
        of, and `feed` must not be called: the hot path."""
        if self._at == _PLAIN:
            return True
        if self._at != _TEXT or self._held or not self._quiet(text):
            return False
        self._code.later(text)
        self._last = text[-1:] or self._last
        return True

    def feed(self, text: str) -> Routed:
        if self.passes(text):
            return [(Op.TEXT, text)]
        if self._at == _THINK and self._n and not self._held and self._quiet(text):
            self._n += len(text)
            self._last = text[-1:] or self._last
            return [(Op.THINK, text)]
        out: Routed = []
        rest, self._held = self._held + text, ""
        while rest:
            rest = self._step(rest, out)
        return out

    def thought_elsewhere(self) -> Routed:
        """Thinking comes in a field of its own: the template opens none in the content."""
        out: Routed = []
        self._thought_before = True
        if self._at == _AFTER:
            self._leave(out)
            self._at = _TEXT if self._said else _START
        elif self._at == _TEXT and self._held:
            out.append((Op.TEXT, self._held))
            self._code.later(self._held)
            self._held = ""
        elif self._implicit and not self._n and not self._held:
            self._implicit = False
            self._depth = 0
            self._at = _START
        return out

    def finish(self) -> Routed:
        """The content ends here, for good or until other blocks (a tool call) have come.

        What was held back is told; an open thinking segment is closed.
        """
        out: Routed = []
        self.unclosed = self.unclosed_implicit = False
        held, self._held = self._held, ""
        if self._at == _THINK:
            self._end_thinking(held, out)
        elif self._at == _AFTER:
            self._leave(out)
            if held:
                self._text(held, out)
        elif held:
            self._text(self._spaces + held, out)
        self._restart()
        return out

    def _fresh(self) -> None:
        """A new answer text begins."""
        self._code = CodePlaces()
        self._last = ""
        self._solid = False

    def _restart(self) -> None:
        self._spaces = ""
        self._depth = self._pending = self._n = self._literal_opens = 0
        self._marks = []
        self._implicit = False
        self._fresh()
        if self._at != _PLAIN:
            self._at = _TEXT if self._said else _START

    def _end_thinking(self, held: str, out: Routed) -> None:
        closing = bool(held) and held in self._enders() and self._depth == 1
        if closing:
            self._marks.append((self._n, held))
        elif held:
            self._think(held, out)
        if self._n:
            self.unclosed = not closing
            self.unclosed_implicit = self._implicit and not closing
            self._close_segment(out)

    def _quiet(self, text: str) -> bool:
        """No character in it can begin a tag."""
        if self._first:
            return self._first not in text
        return not any(first in text for first in self._firsts)

    def _step(self, rest: str, out: Routed) -> str:
        """Deal with the beginning of `rest`; give back what is left to deal with."""
        if self._at == _THINK:
            return self._in_thinking(rest, out)
        if self._at == _TEXT:
            return self._in_text(rest, out)
        return self._at_border(rest, out)

    # -- before the answer, or between a closed thought and what follows

    def _at_border(self, rest: str, out: Routed) -> str:
        body = rest.lstrip()
        self._spaces += rest[: len(rest) - len(body)]
        if not body:
            return ""
        tag = _begins(body, self._opens)
        if tag is not None:
            self._enter(tag, out)
            return body[len(tag) :]
        drops = self._at == _START and self._thought_before and self._lone
        if drops and (tag := _begins(body, self._ends)) is not None:
            out.append((Op.MARK, self._spaces + tag))
            self._spaces = ""
            self._lone = False
            self._at = _AFTER
            return body[len(tag) :]
        if _could_begin(body, (*self._opens, *self._ends) if drops else self._opens):
            self._held = body
            return ""
        spaces = self._leave(out) if self._at == _AFTER else self._spaces
        self._spaces = ""
        self._at = _TEXT
        return spaces + body

    def _enter(self, tag: str, out: Routed) -> None:
        """An opening tag counts: thinking begins, or goes on after a closed block."""
        if self._at == _AFTER and self._n and self._spaces:
            # Two blocks with white space between them read as one; the space keeps them apart.
            out.append((Op.THINK, self._spaces))
            self._n += len(self._spaces)
            self._spaces = ""
        self._marks.append((self._n, self._spaces + tag))
        self._spaces = ""
        self._open, self._close = tag, self._pairs[tag]
        self._implicit = self._lone = False
        self._depth = 1
        self._pending = 0
        self._last = ""
        self._at = _THINK

    def _leave(self, out: Routed) -> str:
        """After a closed block something else comes. White space behind the first block is the
        template's and goes; between answer texts it stays and is given back."""
        spaces, self._spaces = self._spaces, ""
        if spaces and not self._said:
            self._marks.append((self._n, spaces))
            spaces = ""
        if self._n:
            self._close_segment(out)
        elif self._marks:
            out.append((Op.MARK, "".join(literal for _, literal in self._marks)))
            self._marks = []
        self._fresh()
        return spaces

    def _close_segment(self, out: Routed) -> None:
        self.closed.append(self._marks)
        self._marks = []
        self._n = 0
        out.append((Op.CLOSE, ""))

    # -- inside thinking

    def _enders(self) -> tuple[str, ...]:
        return (self._close,) if self._close else self._ends

    def _in_thinking(self, rest: str, out: Routed) -> str:
        if self._implicit and not self._n:
            rest = self._implicit_start(rest)
            if not rest:
                return ""
        tags = (*self._enders(), self._open) if self._open else self._ends
        at = 0
        while (hit := _find(rest, tags, at))[0] >= 0:
            i, tag = hit
            before = rest[i - 1] if i else self._last
            after = "" if tag is None else rest[i + len(tag) : i + len(tag) + 1]
            if tag is None or (before == "`" and not after):
                self._think(rest[:i], out)
                self._held = rest[i:]
                return ""
            if before == after == "`":
                at = i + len(tag)  # the tag is quoted as code: a word about it
                continue
            self._think(rest[:i], out)
            self._tag_inside(tag, out)
            return rest[i + len(tag) :]
        self._think(rest, out)
        return ""

    def _implicit_start(self, rest: str) -> str:
        """The template opened the block; a model that opens it again is taken at its word."""
        body = rest.lstrip()
        tag = _begins(body, self._opens)
        if tag is None:
            if _could_begin(body, self._opens):
                self._held = rest
                return ""
            return rest
        self._spaces = rest[: len(rest) - len(body)]
        self._enter(tag, [])
        return body[len(tag) :]

    def _tag_inside(self, tag: str, out: Routed) -> None:
        if tag not in self._enders():
            self._depth += 1
            self._think(tag, out)
            return
        self._depth -= 1
        self._lone = self._implicit = False
        if self._depth == 0:
            self._marks.append((self._n, tag))
            self._at = _AFTER
            return
        # An inner block closed. Whether the outer one will is not known yet: what follows is
        # shown as the answer, and moved should another end tag come.
        self._think(tag, out)
        self._close_segment(out)
        self._pending, self._depth = self._depth, 0
        self._at = _TEXT
        self._fresh()

    def _think(self, text: str, out: Routed) -> None:
        if not self._n:
            body = text.lstrip()
            if len(body) < len(text):
                self._marks.append((0, text[: len(text) - len(body)]))
            text = body
        if text:
            out.append((Op.THINK, text))
            self._n += len(text)
            self._last = text[-1]

    # -- inside the answer

    def _in_text(self, rest: str, out: Routed) -> str:
        if not (self._late or self._pending or self._lone):
            self._at = _PLAIN
            self._text(rest, out)
            return ""
        tags = (*self._opens, *((self._close,) if self._pending else self._ends))
        at = 0
        while (hit := _find(rest, tags, at))[0] >= 0:
            i, tag = hit
            if tag is None:
                self._text(rest[:i], out)
                self._held = rest[i:]
                return ""
            if not self._counts(rest, i, tag):
                at = i + len(tag)
                continue
            self._text(rest[:i], out)
            rest = rest[i + len(tag) :]
            if tag in self._pairs:
                self._enter(tag, out)
                return rest
            return self._lone_end(tag, rest, out)
        self._text(rest, out)
        return ""

    def _counts(self, rest: str, i: int, tag: str) -> bool:
        if self._code.open_after(rest[:i]):
            return False
        if tag in self._pairs:
            self._literal_opens += not self._late
            return self._late
        if self._pending:
            return True
        if self._literal_opens or not self._lone:
            self._literal_opens = max(0, self._literal_opens - 1)
            return False
        if not self._solid and not rest[:i].strip():
            return False
        before = rest[i - 1] if i else self._last
        # A word about the tag stands after a space, a quote or a bracket; a leak does not.
        return before == "\n" or not (before.isspace() or before in "`'\"([{<“‘«「（")

    def _lone_end(self, tag: str, rest: str, out: Routed) -> str:
        body = rest.lstrip()
        literal = tag + rest[: len(rest) - len(body)]
        if self._last:
            self.closed.append([(-1, literal)])
            out.append((Op.REROUTE, ""))
        else:
            out.append((Op.MARK, literal))
        self._pending = max(0, self._pending - 1)
        self._lone = self._said = False
        self._fresh()
        self._at = _TEXT if self._pending else _AFTER
        return body

    def _text(self, text: str, out: Routed) -> None:
        if text:
            out.append((Op.TEXT, text))
            self._code.later(text)
            self._last = text[-1]
            self._said = True
            self._solid = self._solid or not text.isspace()


def rebuild(text: str, marks: Marks) -> str:
    """The content a part came from: its text with the literals put back at their offsets.

    A negative offset counts from the end (-1: behind the last character).
    """
    pieces: list[str] = []
    done = 0
    for offset, literal in marks:
        at = len(text) if offset < 0 else min(offset, len(text))
        pieces += [text[done:at], literal]
        done = max(done, at)
    return "".join([*pieces, text[done:]])


def _begins(text: str, tags: tuple[str, ...]) -> str | None:
    return next((tag for tag in tags if text.startswith(tag)), None)


def _could_begin(text: str, tags: tuple[str, ...]) -> bool:
    return any(len(text) < len(tag) and tag.startswith(text) for tag in tags)


def _find(text: str, tags: tuple[str, ...], at: int) -> tuple[int, str | None]:
    """The first whole tag from `at`, or the beginning of one at the very end (`None`); -1 for
    neither."""
    best, found = -1, None
    for tag in tags:
        i = text.find(tag, at, len(text) if best < 0 else best + len(tag))
        if i >= 0 and (best < 0 or i < best):
            best, found = i, tag
    if best >= 0:
        return best, found
    longest = max(len(tag) for tag in tags)
    firsts = {tag[0] for tag in tags}
    for i in range(max(at, len(text) - longest + 1), len(text)):
        if text[i] in firsts and _could_begin(text[i:], tags):
            return i, None
    return -1, None
