"""What of a conversation goes into a request, whatever the dialect (F045–F075, F101, F113)."""

from typing import Any

import pytest

from silu.types.errors import UserError
from silu.types.parts import Message
from silu.types.rules import EncodeInput, EncodeRules
from silu.wire import DIALECTS, decoder, encode
from silu.wire.history import NO_OUTPUT, NOT_RUN, History, IdForm, prepare
from tests.wire.writing import (
    ELSEWHERE,
    HOME,
    TOOL,
    assistant,
    call,
    kept,
    notice,
    result,
    text,
    thought,
    tool,
    user,
)

IDS = IdForm(legal=r"[a-z0-9]{1,8}", prefix="x", length=6)


def prepared(*messages: Message, tools: bool = False, **rules: Any) -> History:
    request = EncodeInput(model="m", messages=list(messages), tools=[TOOL] if tools else [])
    return prepare(request, EncodeRules(origin=HOME, **rules), IDS)


def why(history: History) -> list[tuple[str | None, str, str]]:
    return [(d.part, d.what, d.why) for d in history.dropped]


def test_a_call_is_answered_directly_after_its_message_wherever_the_result_stands() -> None:
    history = prepared(
        user("q"),
        assistant(call("c1"), call("c2")),
        tool(result("c2", "two")),
        user("and?"),
        tool(result("c1", "one")),
    )
    assert [turn.role for turn in history.turns] == ["user", "assistant", "tool", "user"]
    assert [r.text for r in history.turns[2].results] == ["one", "two"]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    history = prepared(user("q"), assistant(call("c1")), user("go on"))
    [answer] = history.turns[2].results
    assert (answer.text, answer.ok) == (NOT_RUN, False)


def test_a_result_without_its_call_stays_out() -> None:
    history = prepared(user("q"), tool(result("zz")))
    assert why(history) == [("result-zz", "tool_result", "no call of this history asked for it")]


def test_a_result_of_unknown_id_goes_to_the_waiting_call_of_its_name() -> None:
    named = result("other")
    named.name = "f"
    history = prepared(user("q"), assistant(call("c1")), tool(named))
    assert history.turns[2].results[0].text == "42"


def test_an_empty_result_says_that_it_is_empty() -> None:
    history = prepared(user("q"), assistant(call()), tool(result(shown=" \n")))
    assert history.turns[2].results[0].text == NO_OUTPUT


@pytest.mark.parametrize("status", ["error", "denied", "interrupted", "unknown"])
def test_a_result_that_did_not_go_well_is_marked(status: str) -> None:
    history = prepared(user("q"), assistant(call()), tool(result(status=status)))
    assert not history.turns[2].results[0].ok


def test_illegal_and_repeated_ids_are_made_anew_for_call_and_result_alike() -> None:
    history = prepared(
        user("q"),
        assistant(call("Too-Long-And-Loud")),
        tool(result("Too-Long-And-Loud")),
        assistant(call("same")),
        tool(result("same", "first")),
        assistant(call("same")),
        tool(result("same", "second")),
    )
    ids = [turn.calls[0].call_id for turn in history.turns if turn.role == "assistant"]
    results = [turn.results[0] for turn in history.turns if turn.role == "tool"]
    assert [r.call_id for r in results] == ids and len(set(ids)) == 3
    assert ids[1] == "same" and [r.text for r in results[1:]] == ["first", "second"]
    again = prepared(user("q"), assistant(call("Too-Long-And-Loud")))
    assert again.turns[1].calls[0].call_id == ids[0]


def test_an_interrupted_answer_sends_its_text_and_what_was_finished_only() -> None:
    history = prepared(
        user("q"),
        assistant(
            thought("half a th"),
            text("I will look."),
            call("c1"),
            call("c2"),
            call("c3", '{"path": "a'),
            keep=[kept("reasoning", "null", "reasoning_content")],
            interrupted=True,
        ),
        tool(result("c1"), result("c3", "did not run", "interrupted")),
    )
    turn = history.turns[1]
    assert [part.id for part in turn.parts] == ["t", "part-c1"] and turn.kept == []
    assert [d[:2] for d in why(history)] == [
        ("k", "thinking"),
        ("part-c2", "tool_call"),
        ("part-c3", "tool_call"),
    ]


def test_only_the_same_origin_gets_its_thinking_back() -> None:
    for field in ("vendor", "endpoint", "account", "dialect", "model"):
        c = kept("reasoning", "null", "reasoning_content")
        other = {f: getattr(c.origin, f) for f in c.origin.__struct_fields__} | {field: "other"}
        c.origin = type(c.origin)(**other)
        assert prepared(user("q"), assistant(thought("a"), keep=[c])).turns[1].kept == []
    own = kept("reasoning", "null", "reasoning_content")
    assert prepared(user("q"), assistant(thought("a"), keep=[own])).turns[1].kept == [own]


def test_returning_to_a_model_sends_its_thinking_again() -> None:
    first = assistant(thought("a"), text("A"), keep=[kept("reasoning", "null", "r")])
    second = assistant(
        thought("b"), text("B"), keep=[kept("reasoning", "null", "r", base=ELSEWHERE)]
    )
    history = prepared(user("1"), first, user("2"), second, user("3"))
    assert [bool(turn.kept) for turn in history.turns if turn.role == "assistant"] == [True, False]


def test_what_a_vendor_refused_stays_out_and_all_later_thinking_with_it() -> None:
    def said(refused: bool = False) -> Message:
        keep = kept("reasoning", "null", "r", refused_by=["https://v"] if refused else [])
        return assistant(thought("a"), text("A"), keep=[keep])

    history = prepared(
        user("1"), said(), user("2"), said(refused=True), user("3"), said(), user("4")
    )
    assert [bool(turn.kept) for turn in history.turns if turn.role == "assistant"] == [
        True,
        False,
        False,
    ]
    assert len(history.dropped) == 2
    elsewhere = assistant(
        thought("a"), keep=[kept("reasoning", "null", "r", refused_by=["https://other"])]
    )
    assert prepared(user("1"), elsewhere).turns[1].kept


@pytest.mark.parametrize(
    ("echo", "sent"),
    [
        ("all", [True, True, True]),
        ("never", [False, False, False]),
        ("loop", [False, True, True]),
        ("tools", [True, True, True]),
    ],
)
def test_a_vendor_gets_back_as_much_as_it_wants(echo: str, sent: list[bool]) -> None:
    def said(*more: Any) -> Message:
        return assistant(thought("a"), *more, keep=[kept("reasoning", "null", "r")])

    history = prepared(
        user("1"), said("A"), user("2"), said(call("c1")), tool(result("c1")), said("B"), echo=echo
    )
    assert [bool(turn.kept) for turn in history.turns if turn.role == "assistant"] == sent
    assert len(why(history)) == sent.count(False)


def test_without_tools_the_rule_for_tools_sends_nothing() -> None:
    said = assistant(thought("a"), text("A"), keep=[kept("reasoning", "null", "r")])
    assert prepared(user("1"), said, user("2"), echo="tools").turns[1].kept == []
    assert prepared(user("1"), said, user("2"), echo="tools", tools=True).turns[1].kept


def test_a_notice_rides_at_the_tail_of_the_last_tool_result_or_at_the_head_of_a_message() -> None:
    history = prepared(
        user(notice("N1"), "q"),
        assistant(call("c1")),
        tool(result("c1"), notice("N2")),
        assistant("A"),
        tool(notice("N3")),
    )
    assert [(turn.role, turn.notices) for turn in history.turns if turn.notices] == [
        ("user", ["N1"]),
        ("tool", ["N2"]),
        ("user", ["N3"]),
    ]


def test_the_open_loop_is_known_by_its_first_answer() -> None:
    history = prepared(user("q"), assistant(call("c1")), tool(result("c1")), assistant(call("c2")))
    assert history.open_loop is history.turns[1]
    assert prepared(user("q"), assistant("A")).open_loop is None
    assert prepared().open_loop is None


def test_an_unknown_dialect_is_the_callers_to_mend() -> None:
    for use in (
        lambda: decoder("smoke-signals", rules=None, streaming=True),  # type: ignore[arg-type]
        lambda: encode("smoke-signals", None, None),  # type: ignore[arg-type]
    ):
        with pytest.raises(UserError, match="smoke-signals") as error:
            use()
        assert all(dialect in str(error.value) for dialect in DIALECTS)


def test_a_legal_id_that_equals_a_made_one_is_made_anew() -> None:
    made = IDS.made("TOO-LONG-FOR-THIS", 0)
    history = prepared(user("q"), assistant(call("TOO-LONG-FOR-THIS"), call(made)))
    ids = [part.call_id for part in history.turns[1].calls]
    assert ids[0] == made and ids[1] not in ("TOO-LONG-FOR-THIS", made)


def test_data_of_the_whole_message_counts_as_its_thinking() -> None:
    keep = [kept("reasoning_details", "[]", "reasoning_details", None)]
    history = prepared(user("q"), assistant(thought("a"), "A", keep=keep), user("r"), echo="loop")
    assert history.turns[1].kept == []


def test_what_belongs_to_a_call_goes_back_even_where_no_thinking_does() -> None:
    keep = [kept("call_item", "{}", "function_call", "part-c1")]
    history = prepared(
        user("q"), assistant(thought("a"), call(), keep=keep), user("r"), echo="never"
    )
    assert history.turns[1].kept == keep
