"""Thinking that clients do not send back is found again, and only where it belongs."""

import pytest

from silu.gateway.recall import Recall
from silu.gateway.stops import StopFilter
from silu.types.events import BlockEnd, BlockStart, StreamEvent, TextDelta
from silu.types.parts import (
    Continuity,
    Message,
    Origin,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)


def user(text: str) -> Message:
    return Message(role="user", parts=[TextPart(text=text)])


def thought(text: str, *, args: str = "") -> Message:
    """An answer as we keep it: sealed thinking, text, perhaps a call."""
    parts = [ThinkingPart(text="hidden " * 20, id="t"), TextPart(text=text, id="x")]
    if args:
        call = ToolCallPart(call_id="c1", name="weather", arguments=args)
        return Message(role="assistant", parts=[*parts, call], continuity=[sealed()])
    return Message(role="assistant", parts=[*parts], continuity=[sealed()])


def sealed() -> Continuity:
    return Continuity(kind="signature", data='"s"', origin=Origin(vendor="v"), part="t")


def plain(text: str, *, args: str = "") -> Message:
    """What a client sends of it: no thinking, white space and JSON written anew."""
    parts: list[TextPart | ToolCallPart] = [TextPart(text=f" {text}\n")]
    if args:
        parts.append(ToolCallPart(call_id="c1", name="weather", arguments=args))
    return Message(role="assistant", parts=[*parts])


def test_an_answer_comes_back_whole_where_it_was_given() -> None:
    recall = Recall()
    asked = [Message(role="system", parts=[]), user("Umbrella?")]
    answer = thought("I look.", args='{"place": "Kyoto"}')
    recall.keep(asked, answer)
    back = recall.restored([*asked, plain("I look.", args='{"place":"Kyoto"}'), user("So?")])
    assert back[2] is answer
    assert [m.role for m in back] == ["system", "user", "assistant", "user"]


def test_the_same_words_after_another_question_are_not_taken_for_it() -> None:
    recall = Recall()
    recall.keep([user("A?")], thought("Yes."))
    back = recall.restored([user("B?"), plain("Yes.")])
    assert back[1].continuity == []


def test_thoughts_of_unknown_origin_are_left_out() -> None:
    back = Recall().restored([user("A?"), thought("Yes.")])
    assert [type(part) for part in back[1].parts] == [TextPart]
    assert back[1].continuity == []


def test_the_least_used_answer_goes_first_when_there_are_too_many() -> None:
    recall = Recall(most=900)
    for name in "abcde":
        recall.keep([user(name)], thought(name))
        recall.restored([user("a"), plain("a")])
    assert recall.restored([user("a"), plain("a")])[1].continuity
    assert not recall.restored([user("b"), plain("b")])[1].continuity
    assert recall.restored([user("e"), plain("e")])[1].continuity


def test_an_answer_without_thinking_needs_no_place() -> None:
    recall = Recall(most=1)
    recall.keep([user("A?")], plain("Yes."))
    assert recall.restored([user("A?"), plain("Yes.")])[1].parts == [TextPart(text=" Yes.\n")]


# --------------------------------------------------------------------------------- stops


def cut(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    """What goes out of a text that comes in pieces."""
    stop = StopFilter(stops)
    out: list[StreamEvent] = [*stop.feed(BlockStart(0, "text"))]
    for piece in pieces:
        out += stop.feed(TextDelta(0, piece))
    out += stop.feed(BlockEnd(0))
    return "".join(event.text for event in out if isinstance(event, TextDelta)), stop.hit


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_text_ends_before_the_first_stop_however_it_is_cut(size: int) -> None:
    text = "one STO two STOP three END"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert cut(["END", "STOP"], pieces) == ("one STO two ", True)
    assert cut(["nowhere"], pieces) == (text, False)
    assert cut([], pieces) == (text, False)
    assert cut(["ENDE"], pieces) == (text, False)
