"""What of a conversation goes into a request, before any dialect writes it.

Here are the rules that hold for every vendor (design §2, vendors.md §20):
- only continuity of the target's own origin goes back: whole, unchanged, in order, never half;
  what a vendor refused stays out, and with it all later thinking of that origin;
- an interrupted answer sends none of its thinking and none of its unfinished calls;
- every call is answered directly after the message that made it, every result has its call;
- ids are made legal for the dialect, the same for a call and its result.

What stays out is listed in `dropped`, with the reason.
"""

import hashlib
import re
from itertools import dropwhile, takewhile
from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from silu.types.calls import Dropped
from silu.types.parts import (
    Continuity,
    Message,
    NoticePart,
    Origin,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from silu.types.rules import EncodeInput, EncodeRules
from silu.wire.pieces import joined

NO_OUTPUT = "(no output)"
"""Stands for an empty tool result, which several vendors refuse."""

NOT_RUN = "(This tool was not run: the request ended before it could be.)"
"""Stands for the result of a call that never got one."""

NOT_SENT_IMAGE = "(an image that cannot be sent)"

GOES_ON = "(The conversation goes on.)"
"""Stands for the person's words where a history begins with the model's."""


class IdForm(msgspec.Struct, frozen=True, kw_only=True):
    """Which tool call ids a dialect takes; others are replaced by `made`."""

    legal: str
    prefix: str = "call_"
    length: int = 24

    def made(self, call_id: str, number: int) -> str:
        """A legal id for an illegal or repeated one; the same each time."""
        digest = hashlib.sha256(f"{call_id}#{number}".encode()).hexdigest()
        return f"{self.prefix}{digest[: self.length]}"


class Result(msgspec.Struct):
    """An answered call: the wire id, the tool's name, the text, and whether it went well."""

    call_id: str
    name: str
    text: str
    ok: bool
    part: ToolResultPart | None = None


class Turn(msgspec.Struct, kw_only=True):
    """One message of the request. Calls in `parts` carry their wire ids.

    `kept` is the continuity that may go back: of the target's origin, not refused, in scope.
    `notices` ride at the head of a user turn and at the tail of a tool turn.
    """

    role: Literal["system", "user", "assistant", "tool"]
    message: Message
    parts: list[Part] = []
    kept: list[Continuity] = []
    results: list[Result] = []
    notices: list[str] = []

    def kept_of(self, part_id: str, *kinds: str) -> Continuity | None:
        """The continuity of a part, of one of these kinds."""
        return next((c for c in self.kept if c.part == part_id and c.kind in kinds), None)

    def kept_whole(self, *kinds: str) -> list[Continuity]:
        """The continuity of these kinds that belongs to the message as a whole."""
        return [c for c in self.kept if c.part is None and c.kind in kinds]

    @property
    def calls(self) -> list[ToolCallPart]:
        return [part for part in self.parts if isinstance(part, ToolCallPart)]


class History(msgspec.Struct):
    """The turns to be written. `open_loop` is the first assistant turn since the last person's
    message whose calls have been answered, where the request goes on from a tool result."""

    turns: list[Turn] = []
    dropped: list[Dropped] = []
    open_loop: Turn | None = None
    told: set[tuple[str, str | None]] = set()

    def opening(self) -> list[Turn]:
        """The leading system turns, which most dialects have a place of their own for."""
        return list(takewhile(_is_system, self.turns))

    def talk(self) -> list[Turn]:
        """The turns behind the opening."""
        return list(dropwhile(_is_system, self.turns))

    def drop(self, turn: Turn, part: Part | None, what: str, why: str) -> None:
        self.leave_out(turn.message, part, what, why)

    def drop_thoughts(self, turn: Turn, thoughts: list[ThinkingPart], why: str) -> None:
        """Leave out thoughts of a turn; a reason that was given before is not given again."""
        for part in thoughts:
            if not told(self, turn, part):
                self.drop(turn, part, "thinking", why)

    def leave_out(self, message: Message, part: Part | None, what: str, why: str) -> None:
        name = (part.id or None) if part is not None else None
        self.told.add((message.id, name))
        self.dropped.append(Dropped(message_id=message.id, part=name, what=what, why=why))


def prepare(request: EncodeInput, rules: EncodeRules, ids: IdForm) -> History:
    """The history as this target may see it."""
    return _Preparation(request, rules, ids).run()


class _Asked:
    """A call on its way to its result."""

    __slots__ = ("id", "part", "result", "turn")

    def __init__(self, part: ToolCallPart, turn: int) -> None:
        self.part = part
        self.turn = turn
        self.result: ToolResultPart | None = None
        self.id = ""


class _Preparation:
    def __init__(self, request: EncodeInput, rules: EncodeRules, ids: IdForm) -> None:
        self._messages = request.messages
        self._rules = rules
        self._ids = ids
        self._history = History()
        self._asked: list[_Asked] = []
        self._by_turn: dict[int, list[_Asked]] = {}
        self._by_id: dict[str, list[_Asked]] = {}
        self._unmatched: list[tuple[Message, ToolResultPart]] = []
        self._scope = _scope(request, rules)
        self._refused: set[tuple[str, ...]] = set()

    def run(self) -> History:
        self._match()
        self._name()
        turns = self._history.turns
        for number, message in enumerate(self._messages):
            match message.role:
                case "assistant":
                    self._assistant(number, message)
                case "tool":
                    self._tool(message)
                case role:
                    self._said(role, message)
        for message, part in self._unmatched:
            self._history.leave_out(
                message, part, "tool_result", "no call of this history asked for it"
            )
        self._history.open_loop = _open_loop(turns)
        return self._history

    # -- calls and their results

    def _match(self) -> None:
        """Pair every result with its call: by id, newest message first, else by its name."""
        for number, message in enumerate(self._messages):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and message.role == "assistant":
                    asked = _Asked(part, number)
                    self._asked.append(asked)
                    self._by_turn.setdefault(number, []).append(asked)
                    self._by_id.setdefault(part.call_id, []).append(asked)
                elif isinstance(part, ToolResultPart):
                    found = self._asker(part)
                    if found is None:
                        self._unmatched.append((message, part))
                    else:
                        found.result = part

    def _asker(self, part: ToolResultPart) -> _Asked | None:
        same = self._by_id.get(part.call_id)
        if same is not None:
            waiting = [asked for asked in same if asked.result is None]
            newest = max((asked.turn for asked in waiting), default=-1)
            return next((asked for asked in waiting if asked.turn == newest), None)
        if not part.name or not self._by_turn:
            return None
        last = self._by_turn[max(self._by_turn)]
        return next((a for a in last if a.result is None and a.part.name == part.name), None)

    def _name(self) -> None:
        """Wire ids: legal ones stay as they are, others and repeated ones are made anew."""
        legal = re.compile(self._ids.legal)
        used: set[str] = set()
        seen: dict[str, int] = {}
        for asked in self._asked:
            wanted = asked.part.call_id
            number = seen.get(wanted, 0)
            legal_once = not number and legal.fullmatch(wanted)
            wire = wanted if legal_once else self._ids.made(wanted, number)
            while wire in used:
                number += 1
                wire = self._ids.made(wanted, number)
            seen[wanted] = number + 1
            used.add(wire)
            asked.id = wire

    # -- one message each

    def _said(self, role: Literal["system", "user"], message: Message) -> None:
        notices = [part.text for part in message.parts if isinstance(part, NoticePart)]
        parts: list[Part] = [p for p in message.parts if not isinstance(p, NoticePart)]
        self._history.turns.append(Turn(role=role, message=message, parts=parts, notices=notices))

    def _tool(self, message: Message) -> None:
        """Results stand with their calls already; what else rides here goes to their tail."""
        notices = [part.text for part in message.parts if isinstance(part, NoticePart)]
        if not notices:
            return
        last = self._history.turns[-1] if self._history.turns else None
        if last is not None and last.role == "tool":
            last.notices += notices
        else:
            self._history.turns.append(Turn(role="user", message=message, notices=notices))

    def _assistant(self, number: int, message: Message) -> None:
        asked = {id(a.part): a for a in self._by_turn.get(number, ())}
        turn = Turn(role="assistant", message=message)
        turn.kept = self._kept(number, message)
        answered: list[_Asked] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                call = asked[id(part)]
                if message.interrupted and (call.result is None or not _is_object(part.arguments)):
                    self._history.leave_out(
                        message, part, "tool_call", "the answer was cut before it ran"
                    )
                    continue
                answered.append(call)
                turn.parts.append(replace(part, call_id=call.id))
            elif isinstance(part, ThinkingPart) and message.interrupted:
                self._history.leave_out(
                    message, part, "thinking", "the answer was cut, so it is incomplete"
                )
            elif not isinstance(part, (NoticePart, ToolResultPart)):
                turn.parts.append(part)
        self._history.turns.append(turn)
        if answered:
            results = [_result(call) for call in answered]
            self._history.turns.append(Turn(role="tool", message=message, results=results))

    def _kept(self, number: int, message: Message) -> list[Continuity]:
        """The continuity that may go back; the reason for what may not is told once a message."""
        if not message.continuity or message.interrupted:
            return []
        own: list[Continuity] = []
        for kept in message.continuity:
            key = _key(kept.origin)
            if self._rules.origin.endpoint in kept.refused_by or self._everywhere(kept):
                self._refused.add(key)
            if key == _key(self._rules.origin) and key not in self._refused:
                own.append(kept)
        if self._refused and any(_key(c.origin) in self._refused for c in message.continuity):
            self._refuse(message, "the vendor refused this thinking, or an earlier part of it")
            return []
        if own and not self._scope[number]:
            why = "the vendor does not want thinking of this turn back"
            self._refuse(message, why)
            return [kept for kept in own if not _is_thought(message, kept)]
        return own

    def _everywhere(self, kept: Continuity) -> bool:
        return not self._rules.origin.endpoint and bool(kept.refused_by)

    def _refuse(self, message: Message, why: str) -> None:
        for part in message.parts:
            if isinstance(part, ThinkingPart):
                self._history.leave_out(message, part, "thinking", why)


def thought_reason(turn: Turn, rules: EncodeRules) -> str:
    """Why the thinking of a turn does not go back, for what no earlier rule has told."""
    origins = {_key(kept.origin) for kept in turn.message.continuity}
    if not origins:
        return "nothing tells where it came from"
    if _key(rules.origin) not in origins:
        one = turn.message.continuity[0].origin
        return f"another origin made it ({one.vendor}/{one.model}, {one.dialect})"
    return "this vendor takes it back in no form"


def told(history: History, turn: Turn, part: Part) -> bool:
    """Has the reason for leaving this part out been given?"""
    return (turn.message.id, part.id or None) in history.told


def texts(turn: Turn) -> list[str]:
    return [part.text for part in turn.parts if isinstance(part, TextPart)]


def opening_text(history: History) -> str:
    """All system text before the talk begins, in one piece."""
    return joined(text for turn in history.opening() for text in [*turn.notices, *texts(turn)])


def add_blocks(out: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Put blocks behind the last message of this role, or into one of their own: for dialects
    whose messages alternate."""
    if not blocks:
        return
    if out and out[-1]["role"] == role:
        cast("list[dict[str, Any]]", out[-1]["content"]).extend(blocks)
    else:
        out.append({"role": role, "content": blocks})


def sampling(request: EncodeInput, rules: EncodeRules, history: History) -> dict[str, float]:
    """Temperature and top_p, where they may be sent."""
    asked = {"temperature": request.temperature, "top_p": request.top_p}
    told_values = {name: value for name, value in asked.items() if value is not None}
    if told_values and not rules.sampling_ok:
        for name in told_values:
            why = "this model takes no sampling settings with this request"
            history.dropped.append(Dropped(message_id="", part=None, what=name, why=why))
        return {}
    return told_values


def choice(request: EncodeInput, rules: EncodeRules, history: History) -> str:
    """The tool choice that is sent: `auto` where the asked one is refused."""
    asked = request.tool_choice
    kind = asked if asked in ("auto", "none", "required") else "named"
    if kind == "auto":
        return "auto"
    if kind == "named" and asked not in {tool.name for tool in request.tools}:
        why = f"there is no tool {asked!r}; auto is sent"
    elif kind in rules.tool_choice_ok:
        return asked
    else:
        why = f"{asked!r} is refused here; auto is sent"
    history.dropped.append(Dropped(message_id="", part=None, what="tool_choice", why=why))
    return "auto"


def _is_system(turn: Turn) -> bool:
    return turn.role == "system"


def _key(origin: Origin) -> tuple[str, ...]:
    return (origin.vendor, origin.endpoint, origin.account, origin.dialect, origin.model)


def _is_thought(message: Message, kept: Continuity) -> bool:
    """Does this continuity belong to thinking, rather than to a call or a vendor's block?"""
    if kept.part is None:
        return True
    part = next((p for p in message.parts if p.id == kept.part), None)
    return isinstance(part, ThinkingPart)


def _scope(request: EncodeInput, rules: EncodeRules) -> list[bool]:
    """For each message: does the vendor want its thinking back? (`EchoScope`)"""
    messages = request.messages
    last_user = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    uses_tools = bool(request.tools) or any(
        isinstance(part, ToolCallPart) for m in messages for part in m.parts
    )
    match rules.echo:
        case "never":
            return [False] * len(messages)
        case "all":
            return [True] * len(messages)
        case "tools":
            return [uses_tools] * len(messages)
        case "loop":
            return [i > last_user for i in range(len(messages))]


def _open_loop(turns: list[Turn]) -> Turn | None:
    if not turns or turns[-1].role != "tool":
        return None
    start = max((i for i, turn in enumerate(turns) if turn.role == "user"), default=-1)
    return next((turn for turn in turns[start + 1 :] if turn.role == "assistant"), None)


def _result(call: _Asked) -> Result:
    part = call.result
    if part is None:
        return Result(call.id, call.part.name, NOT_RUN, ok=False)
    text = part.shown if part.shown.strip() else NO_OUTPUT
    return Result(call.id, call.part.name, text, ok=part.status == "ok", part=part)


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text or "{}"), dict)
    except (msgspec.DecodeError, RecursionError):
        return False
