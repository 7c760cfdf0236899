"""What is there: vendors with keys, local servers, own endpoints, the demo; and their listings."""

import asyncio

import pytest

from silu.config import ModelOverride, Preferences
from silu.providers.capability import Listed
from silu.providers.discovery import Listing, Place, ask, offered, places, start_model
from silu.providers.learned import MemoryLearned
from silu.providers.listing import read_listing
from silu.providers.profile import profile_for
from silu.providers.transport import HttpTransport
from silu.providers.vendors import vendors
from silu.types.calls import CallRequest
from silu.types.capabilities import Prices
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, text_of
from tests.providers.server import Answer, Server, chat, refusal, whole

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789abcdef"


def listing(*ids):
    return whole({"object": "list", "data": [{"id": name} for name in ids]})


async def test_with_nothing_there_the_demo_answers(house):
    client = house.client()
    infos = await client.models()
    assert infos and all(info.demo for info in infos)
    assert client.default_model().startswith("demo/")
    assert [view.source for view in client.endpoints().endpoints] == ["demo"]


async def test_the_demo_is_called_through_its_own_transport(house):
    house.env["SILU_DEMO_RATE"] = "0"
    client = house.client()
    request = CallRequest(
        model="demo/thinker", messages=[Message(role="user", parts=[TextPart(text="hello")])]
    )
    for _ in range(2):
        end = await client.complete(request)
        assert end.failure is None and text_of(end.message)


async def test_a_given_transport_carries_every_call(house):
    async with Server(chat("mine")) as server:
        house.connect("own", server.url + "/v1")
        transport = HttpTransport(house.settings().env)
        client = house.client(transport=transport)
        request = CallRequest(
            model="own/m", messages=[Message(role="user", parts=[TextPart(text="x")])]
        )
        assert text_of((await client.complete(request)).message) == "mine"


async def test_a_local_port_with_nobody_on_it_is_neither_shown_nor_a_problem(house):
    del house.env["SILU_LOCAL_SERVERS"]
    client = house.client()
    shown = {view.name for view in client.endpoints().endpoints if view.source == "local"}
    assert shown == set() and client.problems() == []


async def test_gemini_lists_under_its_own_path(house):
    found = whole({"models": [{"name": "models/gemini-3.8-flash", "inputTokenLimit": 5}]})
    async with Server(routes={"/v1beta/models?pageSize=200": found}) as box:
        house.connect("g", box.url, like="gemini")
        infos = await house.client().models()
    listed = next(info for info in infos if info.ref == "g/gemini-3.8-flash")
    assert listed.capability.context_window == 5


async def test_an_endless_listing_is_cut_off(house, monkeypatch):
    from silu.providers import listing as module

    monkeypatch.setattr(module, "_LARGEST", 10)
    async with Server(Answer(chunks=[b"x" * 8, b"x" * 8, b"x" * 8])) as box:
        house.connect("box", box.url + "/v1")
        client = house.client()
        await client.models()
    assert "not as an API" in client.problems()[0]


async def test_a_key_in_the_environment_opens_its_vendor(house):
    house.env["DEEPSEEK_API_KEY"] = KEY
    client = house.client()
    assert client.default_model() == "deepseek/deepseek-flash"
    views = {view.name: view for view in client.endpoints().endpoints}
    assert views["deepseek"].source == "environment" and views["deepseek"].key == "env"
    assert KEY not in repr(client.endpoints())
    opened = {vendor.id: vendor for vendor in client.endpoints().vendors}
    assert opened["deepseek"].has_key and opened["deepseek"].key_source == "env"
    assert not opened["anthropic"].has_key
    assert opened["anthropic"].key_env == "ANTHROPIC_API_KEY"
    assert "openai-compatible" not in opened and "openai-chat" in client.endpoints().dialects


async def test_own_endpoints_come_first_and_list_what_they_serve(house):
    async with Server(routes={"/v1/models": listing("b-model", "a-model", "text-embed-3")}) as box:
        house.connect("box", box.url + "/v1")
        house.env["DEEPSEEK_API_KEY"] = KEY
        client = house.client()
        refs = [info.ref for info in await client.models() if info.vendor == "box"]
        assert refs == ["box/b-model", "box/a-model"]
        assert client.default_model() == "box/b-model"
        assert client.model("box/a-model").local


async def test_named_models_of_an_endpoint_are_the_ones_offered(house):
    async with Server(routes={"/v1/models": listing("x", "y")}) as box:
        house.connect("box", box.url + "/v1", models=("y",))
        infos = await house.client().models()
    assert [info.ref for info in infos if info.vendor == "box"] == ["box/y"]


async def test_the_persons_default_stands_above_all(house):
    house.env |= {"DEEPSEEK_API_KEY": KEY, "SILU_MODEL": "anthropic/claude-opus-5"}
    assert house.client().default_model() == "anthropic/claude-opus-5"


async def test_a_new_endpoint_is_seen_by_a_running_client(house):
    async with Server(routes={"/v1/models": listing("m1")}) as box:
        client = house.client()
        await client.models()
        house.connect("box", box.url + "/v1")
        assert "box/m1" in [info.ref for info in await client.models()]


async def test_a_listing_is_asked_again_only_when_it_is_old_or_refreshed(house):
    async with Server(routes={"/v1/models": listing("m1")}) as box:
        house.connect("box", box.url + "/v1")
        client = house.client()
        for _ in range(3):
            await client.models()
        assert len(box.seen) == 1
        await client.models(refresh=True)
        house.clock.now += 1000
        await client.models()
        assert len(box.seen) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refusal("bad key", status=401), "refused the key"),
        (Answer(status=500, chunks=[b"oops"]), "lists no models"),
        (Answer(chunks=[b"<html>hello</html>"]), "not as an API"),
    ],
)
async def test_a_place_that_cannot_be_asked_says_why(house, answer, words):
    async with Server(answer) as box:
        house.connect("box", box.url + "/v1")
        client = house.client()
        await client.models()
    assert any(words in problem and problem.startswith("box:") for problem in client.problems())


async def test_a_place_that_does_not_answer_does_not_hold_up_the_others(house, monkeypatch):
    from silu.providers import discovery

    monkeypatch.setattr(discovery, "TIMEOUT", 0.05)
    async with Server(Answer(silent=True)) as box:
        house.connect("box", box.url + "/v1")
        client = house.client()
        await asyncio.wait_for(client.models(), 2)
    assert "in time" in client.problems()[0]


async def test_local_servers_are_looked_for_on_their_ports_only_on_this_machine(house):
    del house.env["SILU_LOCAL_SERVERS"]
    local = [place for place in places(house.settings()) if place.source == "local"]
    assert {place.name: place.vendor.port for place in local}.items() >= {
        "ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000,
    }.items()  # fmt: skip
    for place in local:
        assert profile_for(place.name, "m").base_url.startswith("http://127.0.0.1:")


async def test_a_local_server_counts_only_when_it_answers():
    vendor = vendors()["llamacpp"]
    place = Place(name="llamacpp", source="local", vendor=vendor)
    assert offered(place, Listing()) == [] and start_model(place, Listing()) is None
    seen = Listing(models={"m": Listed(id="m")}, seen=True)
    assert offered(place, seen) == ["m"] and start_model(place, seen) == "m"


async def test_ollama_tells_what_each_model_can_do(house):
    tags = whole(
        {
            "models": [
                {"name": "qwen3:4b"},
                {"name": "llama3:8b"},
                {"name": "new:1b"},
                {"name": "silent:1b"},
            ]
        }
    )
    shown = {
        "new:1b": {"capabilities": ["completion", "thinking"]},
        "qwen3:4b": {"capabilities": ["completion", "tools", "thinking"],
                     "model_info": {"qwen3.context_length": 40960}},
        "llama3:8b": {"capabilities": ["completion", "vision"]},
    }  # fmt: skip
    async with Server(routes={"/api/tags": tags, "/api/show": chat()}) as box:

        def show(seen):
            if seen.path == "/api/show":
                found = shown.get(seen.json["model"])
                box.routes["/api/show"] = whole(found) if found else refusal("gone", status=404)

        box.on_request = show
        house.connect("box", box.url, like="ollama")
        client = house.client()
        infos = {info.model: info.capability for info in await client.models(refresh=True)}
    thinker, plain = infos["qwen3:4b"], infos["llama3:8b"]
    assert thinker.thinking == "supported" and thinker.context_window == 40960
    assert thinker.sources["context_window"] == "listing" and thinker.tools == "supported"
    assert plain.thinking == "unsupported" and plain.thinking_levels == ()
    assert plain.images == "supported"
    assert infos["new:1b"].thinking == "supported" and infos["silent:1b"].thinking == "unknown"
    request = CallRequest(
        model="box/llama3:8b", messages=[Message(role="user", parts=[TextPart(text="x")])]
    )
    assert b"think" not in client.prepare(request).http.body


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"data": [{"id": "m", "max_model_len": 32768}]}, Listed(id="m", context=32768)),
        ({"data": [{"id": "m", "meta": {"n_ctx": 4096}}]}, Listed(id="m", context=4096)),
        (
            {"data": [{"id": "claude-x", "display_name": "Claude X", "max_input_tokens": 1000,
                       "max_tokens": 100, "capabilities": {"thinking": {"supported": True}}}]},
            Listed(id="claude-x", label="Claude X", context=1000, output=100, thinking=True),
        ),
        (
            {"data": [{"id": "a/b", "context_length": 9, "supported_parameters": ["reasoning"],
                       "top_provider": {"max_completion_tokens": 5}}]},
            Listed(id="a/b", context=9, output=5, thinking=True),
        ),
        (
            {"models": [{"name": "models/gem", "displayName": "Gem", "inputTokenLimit": 7,
                         "outputTokenLimit": 3, "thinking": False}]},
            Listed(id="gem", label="Gem", context=7, output=3, thinking=False),
        ),
        (
            [{"id": "mis", "capabilities": {"vision": True, "function_calling": False,
                                            "reasoning": True}}],
            Listed(id="mis", thinking=True, images=True, tools=False),
        ),
    ],
)  # fmt: skip
def test_listings_are_read_as_each_server_writes_them(found, expected):
    assert read_listing(found) == [expected]


def test_openrouters_listing_tells_prices_and_what_goes_in():
    pricing = {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}
    entry = {
        "id": "a/b",
        "pricing": pricing,
        "architecture": {"input_modalities": ["text", "image"]},
    }
    router = {"id": "auto/any", "pricing": {"prompt": "-1", "completion": "-1"}}
    priced, unpriced = read_listing({"data": [entry, router]})
    assert priced.prices == Prices(input=3.0, output=15.0, cache_read=0.3)
    assert (priced.images, priced.documents) == (True, False)
    assert unpriced.prices is None


async def test_anthropics_listing_stands_above_the_familys_levels(house):
    """A model newer than the catalogue: what it takes is asked, not guessed."""
    efforts = {word: {"supported": word in {"low", "high"}} for word in ("low", "medium", "high")}
    abilities = {
        "thinking": {"supported": True, "types": {"disabled": {"supported": False}}},
        "effort": {"supported": True, **efforts},
    }
    async with Server(whole({})) as server:
        listed = {"data": [{"id": "claude-opus-9", "capabilities": abilities}]}
        server.routes["/v1/models?limit=200"] = whole(listed)
        house.connect("own", server.url, like="anthropic")
        client = house.client()
        infos = {info.ref: info for info in await client.models(refresh=True)}
    info = infos["own/claude-opus-9"]
    assert info.capability.thinking_levels == (Level.LOW, Level.HIGH)
    assert info.capability.thinking_force_enabled
    assert info.capability.sources["thinking_levels"] == "listing"


def test_odd_entries_of_a_listing_are_left_out():
    assert read_listing({"data": ["x", {"no": "id"}, {"id": ""}, {"id": "whisper-1"}]}) == []
    assert read_listing({}) == []


def test_of_a_vendors_long_list_only_known_families_are_offered():
    vendor = vendors()["deepseek"]
    place = Place(name="deepseek", source="environment", vendor=vendor, models=vendor.models)
    listed = {name: Listed(id=name) for name in ("deepseek-v9", "babbage-002")}
    ids = offered(place, Listing(models=listed, seen=True))
    assert ids[: len(vendor.models)] == list(vendor.models)
    assert "deepseek-v9" in ids and "babbage-002" not in ids
    only_new = Listing(models={"deepseek-v4-flash": Listed(id="deepseek-v4-flash")}, seen=True)
    assert start_model(place, only_new) == "deepseek-v4-flash"


async def test_asking_a_vendor_without_a_listing_gives_none(house):
    house.connect("box", "http://127.0.0.1:9", like="demo")
    place = next(p for p in places(house.settings()) if p.name == "box")
    found = await ask([place], house.settings(), lambda p: HttpTransport(house.settings().env),
                      now=0.0)  # fmt: skip
    assert found["box"].models == {}


async def test_a_person_can_correct_what_is_known_of_a_model(house):
    house.connect("box", "http://127.0.0.1:9/v1")
    client = house.client()
    client.settings = client.settings.with_preferences(
        Preferences(
            models={
                "box/m": ModelOverride(
                    context_window=1000,
                    max_output=100,
                    thinking="supported",
                    thinking_levels=(Level.OFF, Level.HIGH),
                    thinking_default_level=Level.HIGH,
                    images=True,
                )
            }
        )
    )
    capability = client.model("box/m").capability
    assert capability.thinking_levels == (Level.OFF, Level.HIGH)
    assert (capability.context_window, capability.images) == (1000, "supported")
    assert capability.sources["context_window"] == "config"
    found = client.resolve("box/m", "default", source="model")
    assert found.wire == {"reasoning_effort": "high"}


async def test_without_any_model_the_person_is_told_what_to_do(house, monkeypatch):
    from silu.providers import client as module

    monkeypatch.setattr(module, "places", lambda settings: [])
    with pytest.raises(UserError, match="silu connect"):
        house.client(learned=MemoryLearned()).default_model()
