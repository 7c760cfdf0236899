"""Plan mode where tools execute: with every rule set to allow, nothing is written by any tool."""

import asyncio
import hashlib
import re
import uuid
from pathlib import Path

import msgspec
import pytest

from silu.app import App
from silu.fakes import Answer, Asked, Call, answer
from silu.store.api import Session
from silu.tools import Tool
from silu.tools.functions import tool
from silu.types import frames as f
from silu.types.facts import ApprovalRequest
from tests.app.acting import GARDEN, begin, house, results, say

pytestmark = pytest.mark.anyio

COMMANDS = """
python3 -c "open('new.txt', 'w').write('x')"
cat > new.txt
cat <<< rose > new.txt
sed -i s/rose/iris/ notes.txt
echo x | tee new.txt
git commit --amend -m x
rm notes.txt
find . -delete
find . -exec rm {} ;
git branch -D main
rg --pre touch x
touch new.txt
cp notes.txt new.txt
ls; rm notes.txt
ls && mv notes.txt new.txt
true || rm notes.txt
$(rm notes.txt)
bash -c 'rm notes.txt'
env rm notes.txt
git checkout .
git stash
uniq - new.txt
dd of=new.txt
awk 'BEGIN { print > "new.txt" }'
git diff --output=new.txt
sort -o new.txt notes.txt
"""


@tool
def pour(path: str) -> str:
    """Write a file, and say nothing of it."""
    Path(path).write_text("poured")
    return "poured"


@tool(effects=[])
def drip(path: str) -> str:
    """Write a file, and claim to do nothing at all."""
    Path(path).write_text("dripped")
    return "dripped"


def writing_calls(workspace: Path, elsewhere: Path) -> list[Call]:
    """Calls that write, by every tool that can, and by several spellings of a path."""
    paths = ["new.txt", "./new.txt", "sub/../new.txt", str(workspace / "new.txt"), "PLAN.md"]
    outside = str(elsewhere / "planted.txt")
    return [
        *(Call("write_file", {"path": path, "content": "x"}) for path in paths),
        Call("edit_file", {"path": "notes.txt", "old": "rose", "new": "iris"}),
        *(Call("shell", {"command": line}) for line in COMMANDS.strip().split("\n")),
        Call("garden__plant", {"name": "rose", "path": outside}),
        Call("garden__plant", {"name": "rose", "path": str(workspace / "new.txt")}),
        Call("pour", {"path": outside}),
        Call("drip", {"path": outside}),
    ]


def picture(*folders: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


async def own_tools(session: Session | None) -> list[Tool]:
    return [pour, drip]


async def prepared(app: App, home: Path, session: str) -> tuple[Path, Path]:
    """The session's workspace with a file in it, and a folder outside."""
    await app.add_mcp_server(GARDEN)
    app.toolset.add(own_tools)
    workspace = Path((await app.session(session)).workspace)
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (workspace / "sub").mkdir()
    (workspace / "notes.txt").write_text("rose\n")
    return workspace, elsewhere


async def test_no_tool_of_any_origin_writes_in_plan_mode_whatever_is_allowed(
    tmp_path: Path,
) -> None:
    calls: list[Call] = []

    def plays(asked: Asked) -> Answer:
        return answer(*calls) if asked.turn == 0 else answer("I could not.")

    async with house(tmp_path, script=plays) as (app, _):
        session = await begin(app, mode="plan")
        workspace, elsewhere = await prepared(app, tmp_path, session)
        calls += writing_calls(workspace, elsewhere)
        before = picture(workspace, elsewhere)
        await say(app, "Write everything.", session)
        told = await results(app, session)
        assert picture(workspace, elsewhere) == before
    assert len(told) == len(calls)
    assert {result.status for result in told} == {"denied"}
    assert all("this session is in plan mode" in result.shown for result in told)


async def test_what_plan_mode_says_of_each_tool_is_what_happens(tmp_path: Path) -> None:
    harmless = {
        "read_file": {"path": "notes.txt"},
        "list_files": {},
        "search_files": {"pattern": "rose"},
        "read_document": {"path": "notes.csv"},
        "write_file": {"path": "new.txt", "content": "x"},
        "edit_file": {"path": "notes.txt", "old": "rose", "new": "iris"},
        "shell": {"command": "ls"},
        "web_fetch": {"url": "http://127.0.0.1:9/"},
        "garden__count": {"text": "rose"},
        "garden__look_up": {"word": "rose"},
        "garden__plant": {"name": "rose", "path": "new.txt"},
        "pour": {"path": "new.txt"},
        "drip": {"path": "new.txt"},
        "todo": {},
    }

    def plays(asked: Asked) -> Answer:
        made = [Call(name, args) for name, args in harmless.items()]
        return answer(*made) if asked.turn == 0 else answer("Done.")

    async with house(tmp_path, script=plays) as (app, vendor):
        await app.store.set_rules([])
        session = await begin(app, mode="plan")
        workspace, _ = await prepared(app, tmp_path, session)
        (workspace / "notes.csv").write_text("a,b\n1,2\n")
        sent = await app.send(session, f.Send(client_id=uuid.uuid4().hex, text="Try all."))
        asked = await waiting_for(app, session, {"web_fetch", "garden__look_up"})
        for approval in asked.values():
            await app.approve(
                session,
                f.Approve(client_id=uuid.uuid4().hex, approval_id=approval, decision="deny"),
            )
        await app.engine.wait(sent.run_id)
        status = {part.name: part.status for part in await results(app, session)}
        system = str(vendor.bodies[0]["messages"][0]["content"])
    plan = system[system.index("In plan mode you") :].split("\n", 1)[0]
    allowed, only, asked_for, refused = (
        set(re.findall(r"\w+", re.search(rf"{word}: ([^.]*)\.", plan)[1]))  # pyright: ignore
        for word in ("Allowed", "change nothing", "agrees", "Refused")
    )
    tried = set(harmless)
    assert tried & allowed == {name for name in tried if status[name] == "ok"} - only
    assert status["shell"] == "ok"
    assert only == {"shell"}
    assert tried & asked_for == set(asked)
    assert tried & refused == {
        name for name in tried if status[name] == "denied" and name not in asked
    }


async def waiting_for(app: App, session: str, names: set[str]) -> dict[str, str]:
    """The approvals of these tools once all of them are asked for, by name."""
    async with asyncio.timeout(20):
        while True:
            facts = await app.store.facts(session, 0)
            requests = [
                msgspec.json.decode(fact.data, type=ApprovalRequest)
                for fact in facts
                if fact.type == "approval_request"
            ]
            found = {request.name: request.approval_id for request in requests}
            if names <= found.keys():
                return found
            await asyncio.sleep(0.02)


async def test_the_mode_in_force_when_a_tool_is_called_counts(tmp_path: Path) -> None:
    write = Call("write_file", {"path": "new.txt", "content": "x"})
    turns = [answer(write), answer("1"), answer(write), answer("2"), answer(write), answer("3")]
    async with house(tmp_path, *turns) as (app, _):
        session = await begin(app, mode="plan")
        for mode in ("plan", "build", "plan"):
            switch = f.SetMode(client_id=uuid.uuid4().hex, mode=mode)
            await app.set_mode(session, switch)
            await say(app, "Write.", session)
        told = [result.status for result in await results(app, session)]
    assert told == ["denied", "ok", "denied"]
