"""The way to a vendor: proxies, certificates, addresses that cannot work."""

import asyncio
import ssl
import subprocess

import pytest

from silu.config import Environment
from silu.providers.net import proxy_for
from silu.providers.reading import retry_after
from silu.types.calls import CallRequest
from silu.types.parts import Message, TextPart, text_of
from tests.providers.server import Server, chat

pytestmark = pytest.mark.anyio


def ask(ref="own/m"):
    return CallRequest(model=ref, messages=[Message(role="user", parts=[TextPart(text="hi")])])


@pytest.mark.parametrize(
    ("url", "env", "proxy"),
    [
        ("https://api.example.com/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.example.com/v1", {"https_proxy": "http://p:1"}, "http://p:1"),
        ("http://api.example.com/v1", {"HTTPS_PROXY": "http://p:1"}, None),
        ("http://api.example.com/v1", {"ALL_PROXY": "http://p:2"}, "http://p:2"),
        ("https://api.example.com", {"ALL_PROXY": "x", "NO_PROXY": ".example.com"}, None),
        ("https://api.example.com", {"ALL_PROXY": "x", "NO_PROXY": "example.com"}, None),
        ("https://api.example.com", {"ALL_PROXY": "x", "NO_PROXY": "a.com, *"}, None),
        ("https://api.example.com:8443", {"ALL_PROXY": "x", "NO_PROXY": "example.com:8443"}, None),
        ("https://api.example.com:1", {"ALL_PROXY": "x", "NO_PROXY": "example.com:8443"}, "x"),
        ("https://notexample.com", {"ALL_PROXY": "x", "NO_PROXY": "example.com"}, "x"),
        ("http://10.1.2.3/v1", {"ALL_PROXY": "x", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://10.1.2.3/v1", {"ALL_PROXY": "x", "NO_PROXY": "example.com"}, "x"),
        ("http://[fd00::1]/v1", {"ALL_PROXY": "x", "NO_PROXY": "[fd00::1]"}, None),
        ("http://127.0.0.1:11434", {"ALL_PROXY": "x"}, None),
        ("http://localhost:11434", {"HTTP_PROXY": "x"}, None),
        ("http://[::1]:80", {"HTTP_PROXY": "x"}, None),
        ("https://api.example.com", {}, None),
    ],
)
def test_the_proxy_is_what_the_environment_says(url, env, proxy):
    assert proxy_for(url, Environment(env)) == proxy


async def test_a_proxy_from_the_environment_carries_the_call(house):
    async with Server(chat("through")) as proxy:
        house.connect("own", "http://vendor.example/v1")
        house.env["HTTP_PROXY"] = proxy.url
        end = await house.client().complete(ask())
    assert text_of(end.message) == "through"
    assert proxy.seen[0].path == "http://vendor.example/v1/chat/completions"


async def test_an_endpoints_own_proxy_stands_above_the_environment(house):
    async with Server(chat("direct")) as server, Server(chat("proxied")) as proxy:
        house.env["HTTP_PROXY"] = "http://127.0.0.1:9"
        house.connect("a", "http://vendor.example/v1", proxy=proxy.url.removeprefix("http://"))
        house.connect("b", server.url + "/v1", proxy="")
        client = house.client()
        assert text_of((await client.complete(ask("a/m"))).message) == "proxied"
        assert text_of((await client.complete(ask("b/m"))).message) == "direct"


async def test_a_proxy_that_is_not_there_is_named(house):
    house.connect("own", "https://vendor.example/v1", proxy="http://127.0.0.1:9")
    end = await house.client().complete(ask())
    assert end.failure.kind == "unreachable" and end.failure.setting == "proxy"


async def test_a_kind_of_proxy_we_cannot_use_is_said(house):
    house.connect("own", "http://vendor.example/v1", proxy="socks5://127.0.0.1:9")
    end = await house.client().complete(ask())
    assert end.failure.setting == "proxy" and not end.failure.retryable


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {cert} -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return key, cert


async def secure(certificate, handler):
    key, cert = certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=context)
    return server, server.sockets[0].getsockname()[1]


async def test_a_ca_file_makes_an_own_certificate_good(house, certificate):
    plain = Server(chat("safe"))
    server, port = await secure(certificate, plain._serve)
    house.connect("own", f"https://localhost:{port}/v1", ca_file=str(certificate[1]))
    house.connect("wary", f"https://localhost:{port}/v1")
    client = house.client()
    assert text_of((await client.complete(ask("own/m"))).message) == "safe"
    end = await client.complete(ask("wary/m"))
    server.close()
    assert end.failure.setting == "ca_file" and not end.failure.retryable


async def test_a_ca_file_that_cannot_be_read_is_named(house):
    house.connect("own", "https://localhost:1/v1", ca_file="/no/such/file.pem")
    end = await house.client().complete(ask())
    assert end.failure.setting == "ca_file" and not end.failure.retryable


async def test_a_host_that_never_accepts_runs_into_the_connect_limit(house):
    # A listening socket whose queue is full accepts nobody.
    import socket

    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        held = []
        for _ in range(4):
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
            held.append(waiting)
        house.connect("own", f"http://127.0.0.1:{port}/v1", connect_timeout=0.1)
        end = await house.client().complete(ask())
        for waiting in held:
            waiting.close()
    assert end.failure.kind == "unreachable" and "in time" in end.failure.message


async def test_an_address_with_a_bad_port_is_told(house):
    house.connect("own", "http://127.0.0.1:99999/v1")
    end = await house.client().complete(ask())
    assert end.failure.kind == "unreachable" and not end.failure.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers, seconds):
    assert retry_after(headers, now=lambda: 100.0) == seconds
