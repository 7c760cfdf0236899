"""`silu ask`, `models`, `connect` and `sessions` against a vendor on a real socket."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from silu.config import Endpoint
from silu.fakes import FakeDeepSeek, Trouble, answer, play, serve
from silu.fakes.script import Call, Think
from silu.types.errors import Failure
from tests.gateway.house import Workspace, clean_env, ended

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"


class Ran:
    """A command that ended."""

    def __init__(self, code: int | None, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode(), err.decode()


async def begin(
    workspace: Workspace, *args: str, cwd: Path | None = None
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "silu",
        *args,
        env=clean_env(workspace.home, **workspace.env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd or workspace.work,
    )


async def silu(workspace: Workspace, *args: str, text: str = "", cwd: Path | None = None) -> Ran:
    process = await begin(workspace, *args, cwd=cwd)
    out, err = await asyncio.wait_for(process.communicate(text.encode()), 60)
    return Ran(process.returncode, out, err)


@pytest.fixture
async def vendor(tmp_path: Path) -> AsyncIterator[tuple[FakeDeepSeek, Workspace]]:
    fake = FakeDeepSeek()
    workspace = Workspace(tmp_path)
    async with serve(fake) as url:
        workspace.add_endpoint(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        with ended(workspace):
            yield fake, workspace


Setup = tuple[FakeDeepSeek, Workspace]


async def test_thinking_goes_to_stderr_and_the_answer_to_stdout(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(answer(Think("Two and two."), "It is four."))
    ran = await silu(workspace, "ask", "What is 2 + 2?", "--model", REF, "--level", "high")
    assert ran.code == 0, ran.err
    assert ran.out == "It is four.\n"
    assert "Two and two." in ran.err
    assert "thinking high" in ran.err


async def test_no_session_works_where_silus_own_keys_lie(vendor: Setup) -> None:
    fake, workspace = vendor
    keys = Call("read_file", {"path": "config/endpoints.json"})
    fake.script = play(answer(keys), answer("I cannot."))
    ran = await silu(workspace, "ask", "Which keys?", "--model", REF, cwd=workspace.home)
    assert ran.code == 0, ran.err
    assert "works in one of its own" in ran.err
    assert "no such file" in str(fake.bodies[-1]["messages"][-1])


async def test_piped_text_stands_behind_the_question(vendor: Setup) -> None:
    fake, workspace = vendor
    ran = await silu(workspace, "ask", "Count the words:", "--model", REF, text="one two three\n")
    assert ran.code == 0, ran.err
    said = fake.bodies[-1]["messages"][-1]["content"]
    assert "Count the words:" in str(said)
    assert "one two three" in str(said)


async def test_json_tells_everything_in_one_object(vendor: Setup) -> None:
    fake, workspace = vendor
    (workspace.work / "note.txt").write_text("the secret word is plum")
    fake.script = play(
        answer(Think("I read it."), Call("read_file", {"path": "note.txt"})),
        answer(Think("Plum."), "The word is plum."),
    )
    ran = await silu(workspace, "ask", "Which word?", "--model", REF, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["answer"] == "The word is plum."
    assert told["thinking"] == ["I read it.", "Plum."]
    assert told["tool_calls"][0]["name"] == "read_file"
    assert "plum" in told["tool_results"][0]["summary"]
    assert told["status"] == "completed"
    assert told["usage"]["apiCalls"] == 2


async def test_a_session_goes_on_with_its_own_thinking(vendor: Setup) -> None:
    fake, workspace = vendor
    first = await silu(workspace, "ask", "My name is Ada.", "--model", REF, "--json")
    session_id = json.loads(first.out)["session_id"]
    second = await silu(workspace, "ask", "Who am I?", "--session", session_id)
    assert second.code == 0, second.err
    assert "Ada" in json.dumps(fake.bodies[-1])
    assert fake.refusals == []
    listed = await silu(workspace, "sessions")
    assert session_id in listed.out
    assert "My name is Ada" in listed.out


async def test_a_session_is_gone_on_with_in_the_mode_and_with_the_rules_that_are_said(
    vendor: Setup,
) -> None:
    fake, workspace = vendor
    write = [Call("write_file", {"path": f"{name}.txt", "content": name}) for name in "abc"]
    fake.script = play(
        *(answer(write[0]), answer("a"), answer(write[1]), answer("b")),
        *(answer(write[0], write[1], write[2]), answer("c"), answer(write[0]), answer("d")),
    )
    ask = ("ask", "Go", "--json", "--allow")
    first = await silu(workspace, *ask, "write_file:a.txt", "--model", REF)
    session = ("--session", json.loads(first.out)["session_id"])
    await silu(workspace, *ask, "write_file:b.txt", *session)
    for name in "ab":
        (workspace.work / f"{name}.txt").unlink()
    await silu(workspace, "ask", "Go", *session)
    assert sorted(path.name for path in workspace.work.glob("?.txt")) == ["a.txt", "b.txt"]
    (workspace.work / "a.txt").unlink()
    planned = await silu(workspace, "ask", "Go", *session, "--mode", "plan")
    assert planned.code == 0, planned.err
    assert not (workspace.work / "a.txt").exists()
    assert "this session is in plan mode" in json.dumps(fake.bodies[-1])


async def test_a_failing_vendor_ends_with_1_and_one_sentence(vendor: Setup) -> None:
    fake, workspace = vendor
    refuse = Failure(kind="auth", message="bad key", status=401)
    fake.troubles.append(Trouble(refuse=refuse, status=401))
    ran = await silu(workspace, "ask", "Hello", "--model", REF, "-q")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("silu: ")
    assert ran.err.count("\n") == 1
    assert "test-key" not in ran.err


async def test_a_cut_stream_keeps_what_came_and_ends_with_1(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(answer("This is the beginning of a long answer that is cut."))
    fake.troubles.extend([Trouble(after=3, then="cut")] * 9)
    ran = await silu(workspace, "ask", "Hello", "--model", REF, "-q")
    assert ran.code == 1
    assert ran.out.startswith("This is")
    assert ran.err.startswith("silu: ")


async def test_a_missing_key_and_an_unknown_model_end_with_2(vendor: Setup) -> None:
    _, workspace = vendor
    ran = await silu(workspace, "ask", "Hello", "--model", "nowhere/model", "-q")
    assert ran.code == 2
    assert "nowhere" in ran.err
    del workspace.env["NEAR_KEY"]
    ran = await silu(workspace, "ask", "Hello", "--model", REF, "-q")
    assert ran.code == 2
    assert "NEAR_KEY" in ran.err
    assert "Traceback" not in ran.err


async def test_ctrl_c_stops_the_run_and_ends_with_130(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.rate = 20
    fake.script = play(answer(Think("A very long thought. " * 50), "Never."))
    process = await begin(workspace, "ask", "Hello", "--model", REF)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.close()
    seen = b""
    while b"long thought" not in seen:
        seen += await asyncio.wait_for(process.stderr.read(64), 30)
    process.send_signal(signal.SIGINT)
    rest = await asyncio.wait_for(process.stderr.read(), 20)
    assert await process.wait() == 130
    assert b"Traceback" not in rest
    assert b"stopped" in rest


async def test_ask_joins_the_running_workspace(vendor: Setup) -> None:
    fake, workspace = vendor
    workspace.start()
    fake.script = play(answer(Think("Joined."), "From the owner."))
    ran = await silu(workspace, "ask", "Hello", "--model", REF)
    assert ran.code == 0, ran.err
    assert ran.out == "From the owner.\n"
    assert "Joined." in ran.err
    listed = await silu(workspace, "sessions", "--json")
    assert [item["title"] for item in json.loads(listed.out)] == ["Hello"]


async def test_a_workspace_that_dies_under_an_ask_is_told_on_a_line_of_its_own(
    vendor: Setup,
) -> None:
    fake, workspace = vendor
    workspace.start()
    fake.rate = 20
    fake.script = play(answer(Think("A very long thought. " * 50), "Never."))
    process = await begin(workspace, "ask", "Hello", "--model", REF)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.close()
    seen = b""
    while b"long thought" not in seen:
        seen += await asyncio.wait_for(process.stderr.read(64), 30)
    workspace.kill()
    rest = await asyncio.wait_for(process.stderr.read(), 20)
    assert await process.wait() == 2
    assert rest.splitlines()[-1].startswith(b"silu: The workspace stopped while it answered")
    assert b"Traceback" not in rest


async def test_two_asks_at_once_both_get_their_answer(vendor: Setup) -> None:
    _, workspace = vendor
    one, two = await asyncio.gather(
        silu(workspace, "ask", "first", "--model", REF),
        silu(workspace, "ask", "second", "--model", REF),
    )
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert one.out.endswith("first\n")
    assert two.out.endswith("second\n")


async def test_a_silent_pipe_does_not_hold_the_question_for_ever(vendor: Setup) -> None:
    fake, workspace = vendor
    fake.script = play(answer("Hello."))
    process = await begin(workspace, "ask", "-q", "Say hello", "--model", REF)
    assert process.stdout is not None
    assert process.stderr is not None
    out = await asyncio.wait_for(process.stdout.read(), 30)
    assert await process.wait() == 0
    assert out == b"Hello.\n"
    assert b"use `-`" in await process.stderr.read()


async def test_connect_tests_the_endpoint_and_a_running_server_sees_it(
    vendor: Setup, tmp_path: Path
) -> None:
    fake, workspace = vendor
    workspace.start()
    async with serve(fake) as url:
        add = ("connect", "mine", "--url", url, "--like", "deepseek", "--key-env", "NEAR_KEY")
        ran = await silu(workspace, *add, "--model", MODEL)
        assert ran.code == 0, ran.err
        asked = await silu(workspace, "ask", "Hello", "--model", f"mine/{MODEL}", "-q")
        assert asked.code == 0, asked.err
        models = await silu(workspace, "models", "--json", "mine/")
        refs = [model["ref"] for model in json.loads(models.out)["models"]]
        assert f"mine/{MODEL}" in refs
    gone = await silu(workspace, "connect", "mine", "--remove")
    assert gone.code == 0


async def test_connect_to_nothing_explains_itself_and_adds_nothing(vendor: Setup) -> None:
    _, workspace = vendor
    ran = await silu(workspace, "connect", "dead", "--url", "http://127.0.0.1:1/v1")
    assert ran.code == 1
    assert "127.0.0.1:1" in ran.err
    assert "dead/" not in (await silu(workspace, "models")).out
    for wrong in (["--url", "nonsense"], ["--url", "http://x/v1", "--dialect", "x"], []):
        ran = await silu(workspace, "connect", "dead", *wrong)
        assert ran.code == 2, ran
        assert "Traceback" not in ran.err


async def test_models_shows_levels_and_where_they_are_known_from(vendor: Setup) -> None:
    _, workspace = vendor
    ran = await silu(workspace, "models")
    assert ran.code == 0, ran.err
    row = next(line for line in ran.out.splitlines() if line.startswith(REF))
    assert "off" in row
    assert "high" in row
    assert "family" in row


async def test_models_says_so_when_none_contains_the_filter(vendor: Setup) -> None:
    ran = await silu(vendor[1], "models", "no-such-model")
    assert (ran.code, ran.out) == (0, "")
    assert "'no-such-model'" in ran.err
