"""Testing an endpoint makes a real call and says in one sentence how it went."""

import pytest

from silu.config import Endpoint
from silu.providers.trial import Trial, trial_of
from silu.types.errors import UserError
from tests.providers.server import Answer, Server, chat, claude_refusal, messages, refusal, whole

pytestmark = pytest.mark.anyio
LIST = whole({"data": [{"id": "m1"}, {"id": "m2"}]})


def trial(url, key=None, **fields):
    return Trial(endpoint=Endpoint(name="box", url=url, **fields), key=key)


async def test_an_endpoint_that_works_is_described(house):
    async with Server(chat(), routes={"/v1/models": LIST}) as server:
        result = await house.client().test_endpoint(trial(server.url))
    assert result.ok and result.dialect == "openai-chat" and result.thinking
    assert (result.model, result.models) == ("m1", ("m1", "m2"))
    assert "box answered with m1" in result.message and result.duration_ms == 0
    body = server.calls[0].json
    assert body["max_tokens"] <= 1024 and "reasoning_effort" not in body


async def test_a_given_key_is_used_once_and_not_kept(house):
    key = "sk-given-0123456789abcdef"
    async with Server(chat(), routes={"/v1/models": LIST}) as server:
        client = house.client()
        assert (await client.test_endpoint(trial(server.url + "/v1", key))).ok
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {key}"}
    assert client.settings.keys.names() == [] and client.settings.endpoints.all() == {}


async def test_without_a_dialect_the_one_that_works_is_found(house):
    wrong = Answer(status=404, chunks=[b"404 page not found"])
    routes = {"/v1/messages": messages(), "/v1/models": LIST, "/v1/models?limit=200": LIST}
    async with Server(wrong, routes=routes) as server:
        result = await house.client().test_endpoint(trial(server.url))
    assert result.ok and result.dialect == "anthropic-messages"


async def test_a_wrong_dialect_is_named_with_the_right_one(house):
    wrong = Answer(status=404, chunks=[b"404 page not found"])
    routes = {"/v1/messages": messages(), "/v1/models": LIST, "/v1/models?limit=200": LIST}
    async with Server(wrong, routes=routes) as server:
        result = await house.client().test_endpoint(trial(server.url, dialect="openai-chat"))
    assert not result.ok and result.dialect == "anthropic-messages"
    assert "speaks anthropic-messages, not openai-chat" in result.message


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (refusal("no such key", status=401), "auth", "key"),
        (refusal("The model `m1` does not exist", status=404), "unknown_model", "m1"),
        (Answer(chunks=[b"<html><title>Login</title>"]), "not_an_api", "Login"),
        (claude_refusal("slow down", status=429), "rate_limit", "slow down"),
    ],
)
async def test_a_failure_is_explained_and_tried_only_once(house, answer, kind, words):
    async with Server(answer, routes={"/v1/models": LIST}) as server:
        result = await house.client().test_endpoint(
            trial(server.url + "/v1", dialect="openai-chat")
        )
    assert not result.ok and result.failure.kind == kind and words in result.message
    assert house.clock.slept == []
    assert len([s for s in server.calls if s.path == "/v1/chat/completions"]) == 1


async def test_nobody_at_the_address_is_said_so(house):
    async with Server(chat()) as server:
        url = server.url
    result = await house.client().test_endpoint(trial(url))
    assert not result.ok and result.failure.kind == "unreachable"
    assert "Nothing answers" in result.message


async def test_a_server_that_lists_nothing_wants_a_model_named(house):
    async with Server(chat(), routes={"/v1/models": whole({"data": []})}) as server:
        client = house.client()
        result = await client.test_endpoint(trial(server.url, dialect="openai-chat"))
        assert not result.ok and result.failure.setting == "model"
        named = await client.test_endpoint(trial(server.url, models=("mine",)))
    assert named.ok and named.model == "mine"


async def test_a_missing_key_is_named(house):
    async with Server(chat(), routes={"/v1/models": LIST}) as server:
        result = await house.client().test_endpoint(trial(server.url, key_env="BOX_KEY"))
    assert not result.ok and "BOX_KEY" in result.message and result.failure.setting == "BOX_KEY"


async def test_like_a_vendor_uses_that_vendors_dialect(house):
    async with Server(messages(), routes={"/v1/models?limit=200": LIST}) as server:
        result = await house.client().test_endpoint(trial(server.url, like="anthropic"))
    assert result.ok and result.dialect == "anthropic-messages"


async def test_a_dialect_nobody_speaks_is_refused(house):
    with pytest.raises(UserError, match="openai-chat"):
        await house.client().test_endpoint(trial("http://127.0.0.1:9", dialect="klingon"))
    with pytest.raises(UserError, match="address"):
        await house.client().test_endpoint(trial("nowhere"))


async def test_what_is_known_can_be_tested_by_its_name(house):
    house.connect("box", "http://127.0.0.1:9/v1")
    settings = house.settings()
    assert trial_of("box", settings).endpoint.url == "http://127.0.0.1:9/v1"
    assert trial_of("deepseek", settings).endpoint.key_env == "DEEPSEEK_API_KEY"
    with pytest.raises(UserError, match="no endpoint"):
        trial_of("nobody", settings)
