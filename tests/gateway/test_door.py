"""The running door: who gets in, and that hostile input harms nothing."""

import asyncio
import json
import logging
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from silu.config import mask
from silu.gateway.logs import JsonLines, Lines
from silu.types.frames import COMMANDS
from tests.gateway.house import TOKEN, Workspace, clean_env, client, http

pytestmark = pytest.mark.anyio

BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def status_of(url: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def handshake(workspace: Workspace, **headers: str) -> int:
    """101 when the socket opens, else the status of the refusal."""
    try:
        async with connect(workspace.ws_url, additional_headers=headers):
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


async def cookie(workspace: Workspace) -> dict[str, str]:
    """A browser's way in: the token of the link, posted once, becomes a cookie."""
    origin = workspace.url.rstrip("/")
    opening = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "silu", "open", "--no-open"),
        env=clean_env(workspace.home),
        stdout=asyncio.subprocess.PIPE,
    )
    link, _ = await opening.communicate()
    token = link.decode().strip().partition("#token=")[2]
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{workspace.url}api/v1/auth", json={"token": token}, headers={"Origin": origin}
        ) as answer,
    ):
        assert answer.status == 204, await answer.text()
        jar = answer.headers["set-cookie"]
        assert jar.startswith(f"silu_{workspace.host.rpartition(':')[2]}=")
        again = await session.post(
            f"{workspace.url}api/v1/auth", json={"token": token}, headers={"Origin": origin}
        )
        assert again.status == 401
    return {"Cookie": jar.partition(";")[0]}


async def test_the_page_is_open_and_everything_else_is_not(demo: Workspace) -> None:
    assert (await status_of(demo.url))[0] == 200
    assert (await status_of(f"{demo.url}api/v1/health"))[0] == 200
    for path in ("sessions", "models", "settings", "openapi.json", "protocol.json", "nothing"):
        assert (await status_of(f"{demo.url}api/v1/{path}"))[0] == 401, path
    assert (await status_of(f"{demo.url}v1/models"))[0] == 401


async def test_the_owners_token_opens_the_documents(demo: Workspace) -> None:
    for path in ("openapi.json", "protocol.json"):
        status, text = await status_of(f"{demo.url}api/v1/{path}", **BEARER)
        assert status == 200
        assert json.loads(text)


async def test_a_browser_gets_in_with_its_cookie_from_our_own_page_only(demo: Workspace) -> None:
    jar = await cookie(demo)
    origin = demo.url.rstrip("/")
    assert (await status_of(f"{demo.url}api/v1/sessions", **jar))[0] == 200
    assert (await status_of(f"{demo.url}api/v1/sessions", "POST", **jar, Origin=origin))[0] == 201
    assert (await status_of(f"{demo.url}api/v1/sessions", "POST", **jar))[0] == 403
    assert await handshake(demo, **jar, Origin=origin) == 101
    assert await handshake(demo, **jar) == 403
    assert (await status_of(f"{demo.url}v1/models", **jar))[0] == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
async def test_another_site_can_neither_connect_nor_change(demo: Workspace, origin: str) -> None:
    jar = await cookie(demo)
    for headers in ({}, jar, BEARER):
        assert await handshake(demo, **headers, Origin=origin) == 403
        url = f"{demo.url}api/v1/sessions"
        assert (await status_of(url, "POST", **headers, Origin=origin))[0] == 403


async def test_a_rebound_host_name_is_refused_everywhere(demo: Workspace) -> None:
    for path in ("", "api/v1/health", "api/v1/sessions", "v1/models"):
        status, _ = await status_of(f"{demo.url}{path}", **BEARER, Host="evil.example")
        assert status == 403, path
    host, _, port = demo.host.partition(":")
    with pytest.raises(InvalidStatus) as refusal:
        await connect(
            f"ws://evil.example:{port}/api/v1/ws",
            host=host,
            port=int(port),
            additional_headers=BEARER,
        )
    assert refusal.value.response.status_code == 403
    assert await handshake(demo, **BEARER, Host="evil.example") == 400


async def test_the_page_carries_its_protections(demo: Workspace) -> None:
    async with aiohttp.ClientSession() as session, session.get(demo.url) as answer:
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers
        assert "date" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/assets/../../asgi.py",
        "/%2e%2e/asgi.py",
        "/..%2fasgi.py",
        "//etc/passwd",
        "/....//asgi.py",
        "/assets/%00.js",
        "/..\\asgi.py",
    ],
)
async def test_no_path_leads_out_of_the_page(demo: Workspace, path: str) -> None:
    host, _, port = demo.host.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET {path} HTTP/1.1\r\nHost: {demo.host}\r\nConnection: close\r\n\r\n"
    writer.write(request.encode("latin-1"))
    answer = await reader.read()
    writer.close()
    assert b"import" not in answer
    assert b"root:" not in answer
    assert int(answer.split(b" ", 2)[1]) in (200, 400, 404)


async def test_hostile_frames_are_answered_and_the_socket_lives(demo: Workspace) -> None:
    async with client(demo) as page:
        for text in ("{", "[]", "null", '"x"', "{}", '{"type":1,"frame_id":"a"}', "[" * 50_000):
            before = len(page.of("error"))
            await page.socket.send(text)
            await page.until(lambda seen=before: len(page.of("error")) > seen)
        await page.socket.send(b"\x00\x01")
        await page.until(lambda: page.frames[-1]["data"].get("code") == "bad_json")
        unknown = await page.ask("no_such_frame")
        assert unknown["data"]["code"] == "unknown_type"
        wrong = await page.ask("send", "none", client_id="c")
        assert wrong["data"]["code"] == "bad_argument"
        fields = {
            **{"text": "x", "level": "low", "model": "demo/thinker", "mode": "plan", "todos": []},
            **{"message_id": "m", "approval_id": "a", "decision": "deny", "question_id": "q"},
            **{"answer": "a", "plan_id": "p", "revision": 1},
        }
        for kind in [kind for kind in COMMANDS if kind not in ("ping",)]:
            lost = await page.ask(kind, "no-such-session", client_id=uuid.uuid4().hex, **fields)
            assert lost["type"] == "error", kind
            assert lost["data"]["code"] == "unknown_session", kind
        nameless = await page.ask("send", client_id="c", text="x")
        assert "session_id" in nameless["data"]["message"]
        assert (await page.ask("ping"))["type"] == "ack"


async def test_an_oversized_frame_ends_only_its_own_socket(demo: Workspace) -> None:
    async with client(demo) as page, connect(demo.ws_url, additional_headers=BEARER) as other:
        with pytest.raises(ConnectionClosed) as closed:
            await other.send("x" * (2 * 1024 * 1024))
            await other.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        assert (await page.ask("ping"))["type"] == "ack"


async def test_wrong_bodies_are_refused_in_one_sentence(demo: Workspace) -> None:
    async with aiohttp.ClientSession(headers=BEARER) as session:
        url = f"{demo.url}api/v1/sessions"
        for body, status in ((b"{", 400), (b"[]", 400), (b'{"mode":"x"}', 400), (b"\xff", 400)):
            async with session.post(url, data=body) as answer:
                assert answer.status == status
                assert (await answer.json())["error"]["message"]
        async with session.post(url, data=b"[" * 100_000) as answer:
            assert answer.status == 400
        async with session.post(url, data=b" " * (2 * 1024 * 1024)) as answer:
            assert answer.status == 413
        async with session.get(f"{url}?limit=x") as answer:
            assert answer.status == 400


async def test_a_page_may_use_allowed_folders_only(demo: Workspace, tmp_path: Path) -> None:
    headers = {**await cookie(demo), "Origin": demo.url.rstrip("/")}
    (tmp_path / "allowed" / "inner").mkdir(parents=True)
    (tmp_path / "allowed" / "way-out").symlink_to("/etc")
    async with http(demo) as web, aiohttp.ClientSession(headers=headers) as page:
        await web("PATCH", "/settings", {"workspace_roots": [str(tmp_path / "allowed")]})

        async def wish(folder: str) -> tuple[int, str]:
            async with page.post(f"{web.base}/sessions", json={"workspace": folder}) as answer:
                return answer.status, await answer.text()

        for folder in ("/etc", f"{tmp_path}/allowed/way-out", f"{tmp_path}/allowed/.."):
            status, text = await wish(folder)
            assert status == 400, text
            assert "workspace_roots" in text
        assert (await wish(f"{tmp_path}/allowed/none"))[0] == 400
        assert (await wish(f"{tmp_path}/allowed/inner"))[0] == 201
        own = await web("POST", "/sessions", {})
        assert own["workspace"].startswith(str(demo.home))


async def test_events_reach_a_client_without_a_websocket_and_resume_by_number(
    demo: Workspace,
) -> None:
    async with http(demo) as web, client(demo) as page:
        session_id = await web.new_session()
        await page.ask("subscribe", session_id, since=0)
        ack = await page.ask("send", session_id, client_id=uuid.uuid4().hex, text="Hello")
        await page.done(ack["data"]["run_id"], seconds=60)
        head = page.numbers[session_id]
        url = f"{web.base}/sessions/{session_id}/events"

        async def numbers(upto: int, **headers: str) -> list[int]:
            got: list[int] = []
            async with web.session.get(url, headers=headers) as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                assert stream.headers["x-accel-buffering"] == "no"
                assert "no-transform" in stream.headers["cache-control"]
                async for line in stream.content:
                    if line.startswith(b"id: "):
                        got.append(int(line[4:]))
                    if got and got[-1] >= upto:
                        return got
            return got

        everything = await asyncio.wait_for(numbers(head), 10)
        assert everything == list(range(everything[0], head + 1))
        rest = await asyncio.wait_for(numbers(head, **{"Last-Event-ID": str(head - 2)}), 10)
        assert rest == [head - 1, head]
        async with web.session.get(url, headers={"Last-Event-ID": "x"}) as wrong:
            assert wrong.status == 400
        async with web.session.get(f"{web.base}/sessions/none/events") as lost:
            assert lost.status == 404
        async with web.session.get(f"{web.base}/no/such/path") as lost:
            assert lost.status == 404
            assert (await lost.json())["error"]["code"] == "not_found"


async def test_a_port_in_use_is_told_with_its_setting(workspace: Workspace) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = serve_once(workspace, "--port", str(port))
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr


def serve_once(workspace: Workspace, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "silu", "serve", "--no-open", *(args or ("--port", "0"))]
    return subprocess.run(
        command,
        env=clean_env(workspace.home, **workspace.env),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


async def test_a_folder_of_another_process_is_told_with_its_owner(workspace: Workspace) -> None:
    workspace.start()
    second = serve_once(workspace)
    assert second.returncode == 2
    assert workspace.url in second.stderr
    assert str(workspace.process.pid if workspace.process else "") in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("content", "told"), [(b"not a database, but long enough to be one" * 40, "database")]
)
async def test_a_file_that_is_no_database_is_left_alone(
    workspace: Workspace, content: bytes, told: str
) -> None:
    file = workspace.home / "silu.db"
    file.write_bytes(content)
    done = serve_once(workspace)
    assert done.returncode == 2
    assert told in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert file.read_bytes() == content


async def test_ctrl_c_ends_the_server_cleanly_and_says_nothing(workspace: Workspace) -> None:
    workspace.start()
    async with client(workspace) as page:
        assert workspace.stop(signal.SIGINT) == 0
        await asyncio.wait_for(page.socket.wait_closed(), 5)
    assert workspace.stderr() == ""
    assert workspace.process is not None
    assert workspace.process.stdout is not None
    assert workspace.process.stdout.read() == ""


async def test_keys_and_tokens_stand_in_no_answer_and_no_log(workspace: Workspace) -> None:
    workspace.env |= {"SILU_LOG": "debug", "TEST_VENDOR_KEY": "sk-very-secret-key-0123456789"}
    workspace.start()
    async with http(workspace) as web:
        await web("PUT", "/keys/nothing", {"key": "sk-very-secret-key-0123456789"}, status=404)
        for path in ("/settings", "/endpoints", "/models", "/learned", "/sessions"):
            assert "secret-key" not in json.dumps(await web("GET", path))
    workspace.stop()
    assert TOKEN not in workspace.stderr()
    assert "secret-key" not in workspace.stderr()
    assert (workspace.home / "gateway.secret").stat().st_mode & 0o077 == 0


async def test_a_method_that_a_path_does_not_have_is_told_as_json(demo: Workspace) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for method, path, allowed in (
            ("PUT", "", "GET, HEAD"),
            ("PUT", "api/v1/auth", "GET, POST, DELETE"),
            ("GET", "api/v1/auth/link", "POST"),
            ("PUT", "api/v1/sessions", "GET, HEAD, POST"),
            ("POST", "api/v1/sessions/x", "DELETE, GET, HEAD, PATCH"),
        ):
            async with session.request(method, demo.url + path) as answer:
                assert answer.status == 405
                assert answer.headers["allow"] == allowed
                assert (await answer.json())["error"]["code"] == "method_not_allowed"


async def test_the_log_has_a_line_a_request_and_nothing_of_what_was_said(
    workspace: Workspace,
) -> None:
    workspace.env |= {"SILU_LOG": "info", "SILU_LOG_FORMAT": "json"}
    workspace.start()
    async with http(workspace) as web, client(workspace) as page:
        session_id = await web.new_session(title="zeppelin")
        await page.ask("subscribe", session_id, since=0)
        ack = await page.ask("send", session_id, client_id="z", text="Tell me about zeppelins")
        await page.done(ack["data"]["run_id"])
        await web("GET", "/search?q=zeppelins")
        await web("GET", "/nothing", status=404)
    workspace.stop()
    lines = [json.loads(line) for line in workspace.stderr().splitlines()]
    told = [(line["method"], line["path"], line["status"]) for line in lines if "path" in line]
    assert ("POST", "/api/v1/sessions", 201) in told
    assert ("GET", "/api/v1/search", 200) in told
    assert ("GET", "/api/v1/nothing", 404) in told
    assert all(line["ms"] >= 0 for line in lines if "path" in line)
    assert "eppelin" not in workspace.stderr()
    assert TOKEN not in workspace.stderr()


def test_a_log_line_tells_of_a_failure_without_its_words() -> None:
    key = "sk-abcdefghijklmnop0123456789"
    error = ValueError("what a person wrote")
    info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed with %s", (key,), info)
    for form in (Lines, JsonLines):
        line = form(mask).format(record)
        assert "ValueError at" in line
        assert "what a person wrote" not in line
        assert key not in line
