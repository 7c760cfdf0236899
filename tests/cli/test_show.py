"""What `silu ask` prints of frames, whatever order and form they come in."""

import json
from typing import Any

import pytest

from silu.cli.show import Collected, Printer

Frame = dict[str, Any]


def delta(kind: str, block: str, offset: int, text: str, *, attempt: int = 1) -> Frame:
    data = {"message_id": "m", "block_id": block, "attempt": attempt, "kind": kind}
    return {"type": f"{kind}_delta", "data": {**data, "offset": offset, "text": text}}


def snapshot(kind: str, block: str, text: str, *, attempt: int = 1) -> Frame:
    held = {"message_id": "m", "block_id": block, "attempt": attempt, "kind": kind, "text": text}
    return {"type": "snapshot", "data": {"blocks": [held]}}


def done(status: str = "completed", **more: Any) -> Frame:
    return {"status": status, "reason": None, **more}


def test_a_snapshot_in_between_repeats_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(quiet=False)
    printer.take(delta("thinking", "a", 0, "思路"))
    printer.take(snapshot("thinking", "a", "思路 goes"))
    printer.take(delta("thinking", "a", 2, " goes on"))
    printer.take(delta("content", "b", 0, "Answer"))
    printer.take(delta("content", "c", 0, "second"))
    printer.finish("s", done())
    shown = capsys.readouterr()
    assert shown.err == "思路 goes on\n"
    assert shown.out == "Answer\n\nsecond\n"


def test_a_run_lost_from_sight_leaves_the_next_line_to_what_went_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printer = Printer(quiet=False)
    printer.take(delta("thinking", "a", 0, "half a tho"))
    printer.broken()
    assert capsys.readouterr().err == "half a tho\n"
    Collected().broken()
    assert capsys.readouterr().out == ""


def test_a_new_attempt_takes_back_what_the_old_one_showed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    collected = Collected()
    collected.take(delta("thinking", "a", 0, "first try"))
    collected.take(delta("thinking", "b", 0, "second try", attempt=2))
    collected.take(delta("content", "c", 0, "Answer", attempt=2))
    collected.notice("waited")
    collected.finish("s", done())
    told = json.loads(capsys.readouterr().out)
    assert told["thinking"] == ["second try"]
    assert told["answer"] == "Answer"
    assert told["notices"] == ["waited"]


def test_everything_that_happens_is_told_in_short_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    level = {"effective": "high", "notes": ["xhigh is not there"]}
    frames = [
        {"type": "run_start", "data": {"model": "v/m", "level": level}},
        {"type": "tool_call_done", "data": {"name": "read_file", "arguments": "x" * 500}},
        {"type": "tool_result", "data": {"name": "read_file", "status": "ok"}},
        {"type": "todo_update", "data": {"summary": {"completed": 1, "total": 3}}},
        {"type": "notice", "data": {"text": "waiting 2 s"}},
        {"type": "token_update", "data": {}},
    ]
    printer = Printer(quiet=False)
    for frame in frames:
        printer.take(frame)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "· v/m · thinking high"
    assert "· xhigh is not there" in lines
    assert "· todo 1/3" in lines
    assert "· waiting 2 s" in lines
    assert max(map(len, lines)) < 140


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (done("cancelled"), "silu: stopped"),
        (done("incomplete", reason="open_todos"), "silu: incomplete: open_todos"),
        (done("failed", error={"message": "no", "setting": "K"}), "silu: no (setting: K)"),
        (done(), ""),
    ],
)
def test_the_end_is_told_once(end: Frame, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Printer(quiet=True).finish("s", end)
    assert capsys.readouterr().err.strip() == told
