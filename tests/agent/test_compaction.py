"""Making room in a small window: by the vendor's numbers, without losing what is needed."""

import dataclasses

import pytest

from silu.agent.memory import MemoryRun, Told
from silu.config import ModelOverride, Preferences
from silu.fakes import Answer, Asked, Call, Think, answer
from silu.fakes.script import Trouble
from silu.types import facts
from silu.types.errors import Failure
from silu.types.levels import Level
from silu.types.parts import text_of
from silu.types.usage import Usage
from tests.agent.bench import READ, Bench, raw, todo

pytestmark = pytest.mark.anyio

WINDOW = 8_192
GOAL = "The goal is to count all the birds of Zürich."


def is_summary(asked: Asked) -> bool:
    return not asked.body.get("tools")


def narrow(bench: Bench, window: int = WINDOW) -> None:
    override = ModelOverride(context_window=window)
    bench.client.settings = bench.client.settings.with_preferences(
        Preferences(models={bench.session.model: override})
    )


def chatter(asked: Asked) -> Answer:
    if is_summary(asked):
        return answer(f"Notes. {GOAL} Seen so far: many.")
    return answer(Think("MARKER thought " * 10), "I have counted some more of them. " * 12)


def statuses(b: Bench) -> list[str]:
    return [f.status for f in b.facts("compaction_done")]  # pyright: ignore


async def test_a_long_session_in_a_small_window_keeps_its_goal_and_never_loops(b: Bench) -> None:
    narrow(b)
    b.fake.script = chatter
    outcome = await b.say(GOAL, level=Level.HIGH)
    for turn in range(199):
        outcome = await b.say(f"Go on with number {turn}, please.", level=Level.HIGH)
        assert outcome.status == "completed"  # pyright: ignore
    assert b.fake.refusals == []
    done = statuses(b)
    assert set(done) == {"done"}
    assert 3 < len(done) < 60
    last = raw(b.fake.bodies[-1]["messages"])
    assert GOAL in last
    assert "Go on with number 198" in last
    assert len(b.messages) == 400
    used = [call.usage.input_tokens or 0 for call in b.session.calls]
    assert max(used) < WINDOW
    for body in b.fake.bodies:
        if not body.get("tools"):
            assert "MARKER" not in raw(body)


async def test_compaction_in_a_tool_loop_keeps_the_request_todos_and_the_run(b: Bench) -> None:
    narrow(b)
    (b.session.workspace / "notes.txt").write_text("a line of the notes\n" * 180)
    steps = 0

    def script(asked: Asked) -> Answer:
        nonlocal steps
        if is_summary(asked):
            return answer("Notes: read some files.")
        steps += 1
        if steps == 1:
            return answer(todo(("1", "read", "in_progress"), ("2", "tell", "pending")))
        if steps < 12:
            args = {"path": "notes.txt", "start_line": steps}
            return answer(Think("t"), Call("read_file", args))
        if steps == 12:
            return answer(todo(("1", "", "completed"), ("2", "", "completed"), merge=True))
        return answer("All told.")

    b.fake.script = script
    outcome = await b.say("Please read the notes carefully, all of them.", level=Level.HIGH)
    assert outcome.status == "completed"  # pyright: ignore
    assert b.fake.refusals == []
    assert "done" in statuses(b)
    assert b.session.compacted is not None
    assert [t.status for t in b.session.todos] == ["completed", "completed"]
    summaries = [body for body in b.fake.bodies if not body.get("tools")]
    if summaries:
        assert b.session.compacted.summary is not None
        text = text_of(b.session.compacted.summary)
        assert "Please read the notes carefully, all of them." in text
        assert "- [>] 1. read (in_progress)" in text
        assert "- [ ] 2. tell (pending)" in text
    assert len(b.facts("done")) == 1
    assert "changed from outside" not in raw(b.fake.bodies[-1])


@pytest.mark.parametrize(("window", "whole"), [(60_000, True), (16_000, False)])
async def test_a_long_request_stays_whole_where_there_is_room_and_else_says_what_is_missing(
    one: Bench, window: int, whole: bool
) -> None:
    narrow(one, window)
    request = "BEGIN " + "please mind this too. " * 800 + "END"
    (one.session.workspace / "notes.txt").write_text("a line of the notes\n" * 800)

    def script(asked: Asked) -> Answer:
        if is_summary(asked):
            return answer("Notes: read some.")
        if one.session.compacted is None or one.session.compacted.summary is None:
            said = "I have read this part of it and go on. " * 60
            return answer(said, Call("read_file", {"path": "notes.txt", "start_line": asked.turn}))
        return answer("All told.")

    one.fake.script = script
    await one.say(request)
    assert one.session.compacted is not None
    assert one.session.compacted.summary is not None
    kept = text_of(one.session.compacted.summary)
    assert "BEGIN please" in kept
    assert (request in kept) is whole
    assert ("characters of it are left out" in kept) is not whole


async def test_old_tool_results_go_first_and_can_be_read_again(one: Bench) -> None:
    narrow(one, 20_000)
    (one.session.workspace / "notes.txt").write_text("a line of the notes\n" * 900)
    results: list[str] = []

    def script(asked: Asked) -> Answer:
        assert not is_summary(asked)
        results.extend(asked.results)
        if asked.turn < 5:
            return answer(Call("read_file", {"path": "notes.txt", "start_line": asked.turn + 1}))
        return answer("ok")

    one.fake.script = script
    assert (await one.say("go")).status == "completed"  # pyright: ignore
    assert "done" in statuses(one)
    assert "this older result was taken out to make room" in raw(one.fake.bodies[-1])
    assert one.session.compacted is not None
    assert one.session.compacted.summary is None
    kept = [p for m in one.messages for p in m.parts if hasattr(p, "shown")]
    assert all("a line of the notes" in p.shown for p in kept)  # pyright: ignore


async def test_what_was_taken_out_is_not_counted_again_in_the_next_run(one: Bench) -> None:
    narrow(one, 20_000)
    (one.session.workspace / "notes.txt").write_text("a line of the notes\n" * 900)

    def script(asked: Asked) -> Answer:
        assert not is_summary(asked)
        if asked.turn < 5:
            return answer(Call("read_file", {"path": "notes.txt", "start_line": asked.turn + 1}))
        return answer("ok")

    one.fake.script = script
    await one.say("go")
    begun = len(one.facts("compaction_start"))
    assert begun
    one.fake.script = lambda asked: answer("Hello.")
    await one.say("hello")
    assert len(one.facts("compaction_start")) == begun


async def test_a_failed_summary_loses_nothing_and_is_not_tried_without_end(one: Bench) -> None:
    narrow(one)
    broken = 0

    def script(asked: Asked) -> Answer:
        nonlocal broken
        if is_summary(asked):
            broken += 1
            return answer("", finish="stop") if broken % 2 else answer("cut", finish="length")
        return chatter(asked)

    one.fake.script = script
    for turn in range(14):
        await one.say(f"Number {turn}. " + "More words to fill it. " * 40)
    assert "failed" in statuses(one)
    assert broken <= 2 * 14
    assert "Number 0." in raw(one.fake.bodies[-1]["messages"])
    assert one.session.compacted is None


async def test_a_window_full_of_prompt_is_told_and_compaction_stops(one: Bench) -> None:
    narrow(one, 2_200)
    one.fake.script = lambda asked: (
        answer("Notes.") if is_summary(asked) else answer(READ if asked.turn < 3 else "ok")
    )
    assert (await one.say("go")).status == "completed"  # pyright: ignore
    assert statuses(one).count("gained_nothing") == 1
    assert [f.kind for f in one.facts("notice")] == ["context_full"]  # pyright: ignore


async def test_a_vendor_that_says_too_long_leads_to_one_compaction(one: Bench) -> None:
    one.fake.script = chatter
    for turn in range(6):
        await one.say(f"Number {turn}. " + "Words. " * 400)
    full = Failure(kind="context_overflow", message="This model's maximum context length is 8192")
    one.fake.troubles.append(Trouble(refuse=full, status=400))
    narrow(one, 12_000)
    one.settings = dataclasses.replace(one.settings, compact_at=5.0)
    outcome = await one.say("and now?")
    assert outcome.status == "completed"  # pyright: ignore
    assert statuses(one) == ["done"]


async def test_a_new_epoch_begins_and_its_prefix_holds(b: Bench) -> None:
    narrow(b)
    b.fake.script = chatter
    begun: list[int] = []

    def watch(run: MemoryRun, told: Told) -> None:
        if isinstance(told, facts.CompactionDone) and told.status == "done":
            begun.append(len(b.fake.bodies))

    b.watch = watch
    for turn in range(40):
        await b.say(f"Number {turn}. {'x ' * 60}", level=Level.HIGH)
    assert begun
    reasons = [epoch.reason for epoch in b.session.epochs]
    assert reasons == ["first"] + ["compaction"] * len(begun)
    assert len({epoch.tag for epoch in b.session.epochs}) == 1
    talk = b.fake.bodies
    for at in range(begun[0], len(talk) - 1):
        if at + 1 in begun or not talk[at].get("tools") or not talk[at + 1].get("tools"):
            continue
        before, after = talk[at]["messages"], talk[at + 1]["messages"]
        assert [raw(_plain(m)) for m in after[: len(before)]] == [raw(_plain(m)) for m in before]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != "cache_control"}
    return [_plain(v) for v in value] if isinstance(value, list) else value


async def test_a_turn_begins_with_what_the_vendor_counted_in_the_one_before(one: Bench) -> None:
    narrow(one)
    nearly_full = Usage(input_tokens=WINDOW - 300, output_tokens=20)
    told = [answer("words " * 1200), answer("more " * 1200, usage=nearly_full)]

    def script(asked: Asked) -> Answer:
        return answer("Notes.") if is_summary(asked) else told.pop(0) if told else answer("ok")

    one.fake.script = script
    await one.say("first")
    await one.say("second")
    assert one.facts("compaction_start") == []
    await one.say("third")
    assert statuses(one) == ["done"]
    before = one.facts("compaction_done")[0]
    assert isinstance(before, facts.CompactionDone)
    assert before.before_tokens >= WINDOW - 300
    await one.say("fourth")
    assert len(one.facts("compaction_start")) == 1
