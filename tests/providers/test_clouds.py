"""The clouds with a sign-in of their own: Azure, Vertex, Bedrock; and vendors from outside."""

import json
import sys
import types
from datetime import UTC, datetime
from importlib.metadata import EntryPoint

import pytest

from silu.config import Environment, Paths, Secret, Settings
from silu.providers import vendors as registry
from silu.providers.client import Client
from silu.providers.discovery import places
from silu.providers.facts import Facts
from silu.providers.forms import nothing
from silu.providers.learned import MemoryLearned
from silu.providers.prepare import prepare
from silu.providers.profile import profile_for, split_ref
from silu.providers.sigv4 import AwsKeys, signed
from silu.providers.vendor import Door, Vendor
from silu.providers.vendors.bedrock import keys_of
from silu.types.calls import CallRequest, HttpRequest, ToolSpec
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, text_of
from tests.providers.server import Answer, Server, messages, sse

pytestmark = pytest.mark.anyio
TOOLS = [ToolSpec(name="f", description="d", parameters={"type": "object"})]


def over(tmp_path, **env):
    return Settings(paths=Paths.under(tmp_path), env=Environment(env))


def made(settings, ref, **fields):
    request = CallRequest(
        model=ref, messages=[Message(role="user", parts=[TextPart(text="hi")])], **fields
    )
    profile = profile_for(*split_ref(ref), settings=settings)
    return prepare(profile, request, settings=settings)


class TestSignature:
    """AWS's own published example ("get-vanilla" of its test suite)."""

    KEYS = AwsKeys(key_id="AKIDEXAMPLE", secret=Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
    NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)

    def sign(self, url="https://example.amazonaws.com/", **fields):
        request = HttpRequest(method="GET", url=url, headers={}, body=b"", **fields)
        return signed(request, self.KEYS, region="us-east-1", service="service", now=self.NOW)

    def test_the_published_example_gets_the_published_signature(self):
        assert self.sign().headers["authorization"] == (
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        )

    def test_the_order_of_the_query_does_not_matter(self):
        one = self.sign("https://example.amazonaws.com/?Param2=b&Param1=a")
        two = self.sign("https://example.amazonaws.com/?Param1=a&Param2=b")
        assert one.headers["authorization"] == two.headers["authorization"]

    def test_a_temporary_token_is_signed_along(self):
        request = HttpRequest(method="GET", url="https://h/", headers={}, body=b"")
        keys = AwsKeys(key_id="A", secret=Secret("s"), token=Secret("temporary"))
        got = signed(request, keys, region="r", service="s", now=self.NOW).headers
        assert got["x-amz-security-token"] == "temporary"
        assert "x-amz-security-token" in got["authorization"]


class TestBedrock:
    def test_the_region_names_the_host_and_the_model_stands_in_the_path(self, tmp_path):
        settings = over(tmp_path, AWS_REGION="eu-west-1")
        prepared = made(settings, "bedrock/us.anthropic.claude-opus-4-8-v1:0", level=Level.HIGH)
        assert prepared.http.url == (
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/"
            "us.anthropic.claude-opus-4-8-v1%3A0/converse-stream"
        )
        fields = json.loads(prepared.http.body)["additionalModelRequestFields"]
        assert fields["thinking"]["type"] == "adaptive"
        assert fields["output_config"] == {"effort": "high"}

    def test_interleaved_thinking_is_asked_for_in_budget_mode(self, tmp_path):
        prepared = made(
            over(tmp_path), "bedrock/anthropic.claude-sonnet-4-5-v1:0", level=Level.LOW, tools=TOOLS
        )
        body = json.loads(prepared.http.body)
        assert body["additionalModelRequestFields"]["anthropic_beta"]
        assert body["inferenceConfig"]["maxTokens"] == 8096

    def test_openai_models_lose_minimal(self, tmp_path):
        prepared = made(over(tmp_path), "bedrock/openai.gpt-5-mini", level=Level.MINIMAL)
        fields = json.loads(prepared.http.body)["additionalModelRequestFields"]
        assert fields == {"reasoning": {"effort": "low"}}

    def test_a_model_that_does_not_think_gets_no_field(self, tmp_path):
        prepared = made(over(tmp_path), "bedrock/openai.gpt-4.1", level=Level.HIGH)
        assert "additionalModelRequestFields" not in json.loads(prepared.http.body)

    def test_keys_come_from_the_environment_or_the_shared_file(self, tmp_path):
        assert keys_of(over(tmp_path)) is None
        assert keys_of(over(tmp_path, HOME=str(tmp_path))) is None
        env = keys_of(over(tmp_path, AWS_ACCESS_KEY_ID="A", AWS_SECRET_ACCESS_KEY="s"))
        assert (env.key_id, env.secret.reveal(), env.token) == ("A", "s", None)
        file = tmp_path / ".aws" / "credentials"
        file.parent.mkdir()
        file.write_text(
            "[default]\naws_access_key_id = B\naws_secret_access_key = t\n"
            "[work]\naws_access_key_id = C\naws_secret_access_key = u\naws_session_token = v\n"
        )
        home = {"HOME": str(tmp_path)}
        assert keys_of(over(tmp_path, **home)).key_id == "B"
        work = keys_of(over(tmp_path, AWS_PROFILE="work", AWS_SHARED_CREDENTIALS_FILE=str(file)))
        assert (work.key_id, work.token.reveal()) == ("C", "v")
        assert keys_of(over(tmp_path, AWS_PROFILE="none", **home)) is None

    def test_it_is_there_with_a_token_or_with_keys(self, tmp_path):
        def there(**env):
            return "bedrock" in {place.name for place in places(over(tmp_path, **env))}

        assert not there(HOME=str(tmp_path / "nobody"))
        assert there(AWS_BEARER_TOKEN_BEDROCK="token-0123456789")
        assert there(AWS_ACCESS_KEY_ID="A", AWS_SECRET_ACCESS_KEY="s")

    async def test_a_call_is_signed_when_it_is_sent(self, house):
        async with Server(Answer(status=403, chunks=[b'{"message":"no access"}'])) as server:
            house.connect("b", server.url, like="bedrock", dialect="bedrock-converse")
            house.env |= {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "shhh-secret"}
            request = CallRequest(
                model="b/openai.gpt-oss-20b-1:0",
                messages=[Message(role="user", parts=[TextPart(text="hi")])],
            )
            end = await house.client().complete(request)
        sent = server.seen[0]
        assert sent.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
        assert sent.path == "/model/openai.gpt-oss-20b-1%3A0/converse-stream"
        assert end.failure.kind == "auth" and "AWS_REGION" in end.failure.message

    async def test_a_bearer_token_needs_no_signature(self, house):
        async with Server(Answer(status=500, chunks=[b"{}"])) as server:
            house.connect("b", server.url, like="bedrock", key_env="T")
            house.env["T"] = "token-0123456789"
            request = CallRequest(model="b/m", messages=[])
            await house.client().complete(request)
        assert server.seen[0].headers["authorization"] == "Bearer token-0123456789"

    async def test_without_keys_the_call_names_what_to_set(self, house):
        house.connect("b", "http://127.0.0.1:9", like="bedrock")
        end = await house.client().complete(CallRequest(model="b/m", messages=[]))
        assert end.failure.kind == "auth" and "AWS_BEARER_TOKEN_BEDROCK" in end.failure.message
        assert end.failure.setting == "AWS_BEARER_TOKEN_BEDROCK"


class TestVertex:
    ENV = {"GOOGLE_CLOUD_PROJECT": "proj", "VERTEX_ACCESS_TOKEN": "ya29.token"}
    BASE = "https://aiplatform.googleapis.com/v1/projects/proj/locations/global/publishers"

    def test_gemini_stands_under_the_project(self, tmp_path):
        prepared = made(over(tmp_path, **self.ENV), "vertex/gemini-3.8-flash")
        assert prepared.http.url == (
            f"{self.BASE}/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
        )
        assert prepared.http.headers["authorization"] == "Bearer ya29.token"

    def test_a_region_has_its_own_host(self, tmp_path):
        env = {**self.ENV, "GOOGLE_CLOUD_LOCATION": "europe-west4"}
        url = made(over(tmp_path, **env), "vertex/gemini-3.8-flash").http.url
        assert url.startswith("https://europe-west4-aiplatform.googleapis.com/v1/projects/proj/")

    def test_claude_has_its_model_in_the_path_and_the_version_in_the_body(self, tmp_path):
        for stream, method in ((True, "streamRawPredict"), (False, "rawPredict")):
            prepared = made(over(tmp_path, **self.ENV), "vertex/claude-opus-5", stream=stream)
            body = json.loads(prepared.http.body)
            assert prepared.http.url == f"{self.BASE}/anthropic/models/claude-opus-5:{method}"
            assert body["anthropic_version"] == "vertex-2023-10-16" and "model" not in body
            assert "anthropic-version" not in prepared.http.headers

    def test_without_a_project_nothing_is_there(self, tmp_path):
        def there(**env):
            return "vertex" in {place.name for place in places(over(tmp_path, **env))}

        assert there(**self.ENV) and not there(VERTEX_ACCESS_TOKEN="x" * 12)
        assert profile_for("vertex", "m", settings=over(tmp_path)).base_url.startswith("https://")

    async def test_google_auth_is_asked_for_a_token_where_it_is_installed(self, house, monkeypatch):
        class Credentials:
            token = None

            def refresh(self, request):
                self.token = "fresh-token"

        google_auth = types.ModuleType("google.auth")
        google_auth.default = lambda scopes: (Credentials(), "proj")
        google_auth.exceptions = types.SimpleNamespace(DefaultCredentialsError=RuntimeError)
        requests = types.ModuleType("google.auth.transport.requests")
        requests.Request = object
        monkeypatch.setitem(sys.modules, "google.auth", google_auth)
        monkeypatch.setitem(sys.modules, "google.auth.transport.requests", requests)
        async with Server(messages("from vertex")) as server:
            house.connect("v", server.url, like="vertex", dialect="anthropic-messages")
            request = CallRequest(
                model="v/claude-opus-5",
                messages=[Message(role="user", parts=[TextPart(text="hi")])],
            )
            end = await house.client().complete(request)
            assert text_of(end.message) == "from vertex"
            assert server.seen[0].headers["authorization"] == "Bearer fresh-token"

            def nobody(scopes):
                raise RuntimeError("not signed in")

            google_auth.default = nobody
            end = await house.client().complete(request)
        assert end.failure.kind == "auth" and end.failure.setting == "VERTEX_ACCESS_TOKEN"

    async def test_a_token_of_the_persons_own_is_used_as_it_is(self, house):
        house.env["VERTEX_ACCESS_TOKEN"] = "ya29.token"
        async with Server(messages("from vertex")) as server:
            house.connect(
                "v",
                server.url,
                like="vertex",
                dialect="anthropic-messages",
                key_env="VERTEX_ACCESS_TOKEN",
            )
            end = await house.client().complete(
                CallRequest(
                    model="v/claude-opus-5",
                    messages=[Message(role="user", parts=[TextPart(text="hi")])],
                )
            )
            assert text_of(end.message) == "from vertex"
            assert server.seen[0].headers["authorization"] == "Bearer ya29.token"

    async def test_without_the_package_and_a_token_the_call_names_what_to_set(
        self, house, monkeypatch
    ):
        monkeypatch.setitem(sys.modules, "google.auth", None)
        house.connect("v", "http://127.0.0.1:9", like="vertex")
        end = await house.client().complete(CallRequest(model="v/gemini-3.8-flash", messages=[]))
        assert "VERTEX_ACCESS_TOKEN" in end.failure.message


class TestAzure:
    @pytest.mark.parametrize(
        "endpoint",
        ["https://res.openai.azure.com", "https://res.openai.azure.com/openai/",
         "https://res.openai.azure.com/openai/v1"],
    )  # fmt: skip
    def test_the_resource_is_named_by_its_variable(self, tmp_path, endpoint):
        settings = over(tmp_path, AZURE_OPENAI_ENDPOINT=endpoint, AZURE_OPENAI_API_KEY="k" * 12)
        prepared = made(settings, "azure/gpt-5.6-terra", level=Level.LOW)
        assert prepared.http.url == "https://res.openai.azure.com/openai/v1/responses"
        assert prepared.http.headers["api-key"] == "k" * 12
        assert "azure" in {place.name for place in places(settings)}

    def test_claude_goes_to_foundry_in_its_own_dialect(self, tmp_path):
        settings = over(
            tmp_path,
            AZURE_FOUNDRY_ENDPOINT="https://res.services.ai.azure.com/anthropic/",
            AZURE_API_KEY="k" * 12,
        )
        prepared = made(settings, "azure/claude-opus-5")
        assert prepared.http.url == "https://res.services.ai.azure.com/anthropic/v1/messages"

    def test_chat_takes_its_own_limit_field(self, tmp_path):
        request = CallRequest(model="azure/gpt-5.5", messages=[], max_tokens=9, level=Level.LOW)
        profile = profile_for("azure", "gpt-5.5", dialect="openai-chat", settings=over(tmp_path))
        body = json.loads(prepare(profile, request, settings=over(tmp_path)).http.body)
        assert body["max_completion_tokens"] == 9 and body["reasoning_effort"] == "low"

    def test_without_a_resource_it_is_not_there(self, tmp_path):
        settings = over(tmp_path, AZURE_OPENAI_API_KEY="k" * 12)
        assert "azure" not in {place.name for place in places(settings)}


class TestRegions:
    def test_a_key_goes_to_the_platform_that_hands_it_out(self, tmp_path):
        cn = made(over(tmp_path, ZHIPU_API_KEY="k" * 12), "glm/glm-5.2").http.url
        intl = made(over(tmp_path, ZAI_API_KEY="k" * 12), "glm/glm-5.2").http.url
        assert cn == "https://open.bigmodel.cn/api/paas/v4/chat/completions"
        assert intl == "https://api.z.ai/api/paas/v4/chat/completions"

    def test_another_region_is_set_by_a_variable(self, tmp_path):
        settings = over(tmp_path, SILU_KIMI_URL="https://api.moonshot.cn/v1/")
        assert made(settings, "kimi/kimi-k3").http.url.startswith("https://api.moonshot.cn/v1/")

    def test_kimi_codes_own_address_takes_the_effort_inside_the_switch(self, tmp_path):
        def body(**env):
            settings = over(tmp_path, MOONSHOT_API_KEY="sk-test-0123456789", **env)
            return json.loads(made(settings, "kimi/kimi-k3", level=Level.LOW).http.body)

        code = body(SILU_KIMI_URL="https://api.kimi.com/coding/v1")
        assert code["thinking"] == {"type": "enabled", "effort": "low"}
        assert "reasoning_effort" not in code
        plain = body()
        assert plain["reasoning_effort"] == "low" and "thinking" not in plain

    def test_a_model_without_efforts_is_only_switched_there(self, tmp_path):
        settings = over(
            tmp_path,
            MOONSHOT_API_KEY="sk-test-0123456789",
            SILU_KIMI_URL="https://api.kimi.com/coding/v1",
        )
        for level, said in ((Level.HIGH, "enabled"), (Level.OFF, "disabled")):
            sent = json.loads(made(settings, "kimi/kimi-k2.5", level=level).http.body)
            assert sent["thinking"] == {"type": said}


class TestOutsiders:
    """Packages outside add vendors through the entry point `silu.vendors`."""

    @pytest.fixture
    def offered(self, monkeypatch):
        module = types.ModuleType("outside_vendor")
        monkeypatch.setitem(sys.modules, "outside_vendor", module)
        point = EntryPoint(name="outside", value="outside_vendor:VENDOR", group="silu.vendors")
        monkeypatch.setattr(registry, "entry_points", lambda group: [point])
        registry.vendors.cache_clear()
        yield module
        registry.vendors.cache_clear()

    def vendor(self, name):
        door = Door(dialect="openai-chat", base_url="https://out.example/v1", form=nothing)
        return Vendor(id=name, label="Outside", doors=(door,), unknown=Facts(family="out"))

    def test_a_vendor_from_outside_is_one_like_ours(self, offered, tmp_path):
        offered.VENDOR = self.vendor("outside")
        prepared = made(over(tmp_path), "outside/m", level=Level.HIGH)
        assert prepared.http.url == "https://out.example/v1/chat/completions"

    def test_a_name_that_is_taken_is_refused(self, offered):
        offered.VENDOR = (self.vendor("deepseek"),)
        with pytest.raises(UserError, match="taken"):
            registry.vendors()

    def test_something_that_is_no_vendor_is_refused(self, offered):
        offered.VENDOR = "a string"
        with pytest.raises(UserError, match="not a vendor"):
            registry.vendors()


class TestOwnRules:
    def test_glm_keeps_old_thinking_only_when_all_of_it_goes_back(self, tmp_path):
        settings = over(tmp_path)
        origin = profile_for("glm", "glm-5.2", settings=settings).origin
        from silu.types.parts import Continuity, ThinkingPart

        own = Message(
            role="assistant",
            parts=[ThinkingPart(text="t", id="p"), TextPart(text="a")],
            continuity=[Continuity(part="p", kind="reasoning", data="null", origin=origin)],
        )
        foreign = Message(role="assistant", parts=[ThinkingPart(text="t", id="p")])

        def clear(*history, level=Level.HIGH):
            said = [Message(role="user", parts=[TextPart(text="hi")]), *history]
            request = CallRequest(model="glm/glm-5.2", messages=said, level=level)
            profile = profile_for("glm", "glm-5.2", settings=settings)
            body = json.loads(prepare(profile, request, settings=settings).http.body)
            return body["thinking"]["clear_thinking"]

        assert clear(own) is False
        assert clear(own, foreign) is True
        assert clear(own, level=Level.OFF) is True

    def test_kimi_and_qwen_ask_to_keep_old_reasoning_where_they_must(self, tmp_path):
        settings = over(tmp_path)
        kimi = json.loads(made(settings, "kimi/kimi-k2.6", level=Level.HIGH).http.body)
        assert kimi["thinking"] == {"type": "enabled", "keep": "all"}
        off = json.loads(made(settings, "kimi/kimi-k2.6", level=Level.OFF).http.body)
        assert off["thinking"] == {"type": "disabled"}
        qwen = json.loads(made(settings, "qwen/qwen3.8-max", level=Level.LOW).http.body)
        assert qwen["preserve_thinking"] is True

    def test_a_whole_answer_is_asked_of_qwen_as_a_stream(self, tmp_path):
        prepared = made(over(tmp_path), "qwen/qwen3.8-max", stream=False)
        assert prepared.stream and json.loads(prepared.http.body)["stream"] is True

    def test_minimax_splits_its_thinking_off_on_the_chat_dialect(self, tmp_path):
        settings = over(tmp_path)
        profile = profile_for("minimax", "MiniMax-M3", dialect="openai-chat", settings=settings)
        request = CallRequest(model="minimax/MiniMax-M3", messages=[], temperature=0.0)
        prepared = prepare(profile, request, settings=settings)
        body = json.loads(prepared.http.body)
        assert body["reasoning_split"] is True and body["temperature"] == 0.01
        assert "temperature is 0.01" in prepared.resolution.notes[-1]
        assert prepared.decode_rules.cumulative_details and prepared.decode_rules.tags.late_blocks
        m31 = profile_for("minimax", "MiniMax-M3.1-Flash", dialect="openai-chat")
        assert m31.facts.switch_only

    def test_gemini_gets_the_placeholder_for_foreign_calls(self):
        rules = profile_for("gemini", "gemini-3.6-flash").encode_rules(thinking=True)
        assert rules.placeholder_signature == "skip_thought_signature_validator"
        assert profile_for("gemini", "gemini-2.5-pro").encode_rules(
            thinking=True
        ).placeholder_signature is None  # fmt: skip

    @pytest.mark.parametrize(
        ("ref", "field", "value"),
        [
            ("groq/qwen/qwen3.8-32b", "reasoning_format", "parsed"),
            ("stepfun/step-3.7-flash", "reasoning_format", "deepseek-style"),
            ("cerebras/gpt-oss-120b", "reasoning_format", "parsed"),
            ("fireworks/accounts/fireworks/models/glm-5.2", "reasoning_history", "preserved"),
        ],
    )
    def test_fields_beside_the_level_are_the_vendors_own(self, tmp_path, ref, field, value):
        assert json.loads(made(over(tmp_path), ref, level=Level.HIGH).http.body)[field] == value

    async def test_a_summary_that_the_account_may_not_have_is_left_out(self, house):
        from tests.providers.server import refusal

        said = refusal(
            "Your organization must be verified to generate reasoning summaries.",
            param="reasoning.summary",
            code="unsupported_value",
        )
        done = sse(
            {"type": "response.created", "response": {"id": "r", "model": "m"}},
            {"type": "response.completed", "response": {"id": "r", "status": "completed",
             "output": [{"type": "message", "id": "m1", "role": "assistant", "content": [
                 {"type": "output_text", "text": "fine"}]}]}},
            done=False,
        )  # fmt: skip
        store = MemoryLearned()
        async with Server(said, done) as server:
            house.connect("o", server.url, like="openai")
            client: Client = house.client(learned=store)
            request = CallRequest(
                model="o/gpt-5.5",
                messages=[Message(role="user", parts=[TextPart(text="hi")])],
            )
            end = await client.complete(request)
        assert end.failure is None
        assert server.seen[0].json["reasoning"] == {"effort": "medium", "summary": "auto"}
        assert server.seen[1].json["reasoning"] == {"effort": "medium"}
        assert [fact.fact for fact in store.all()] == ["no_summary"]

    async def test_ollama_answers_in_its_own_dialect(self, house):
        lines = [
            {"model": "q", "message": {"role": "assistant", "thinking": "hm"}, "done": False},
            {"model": "q", "message": {"role": "assistant", "content": "yes"}, "done": False},
            {"model": "q", "message": {"role": "assistant", "content": ""}, "done": True,
             "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2},
        ]  # fmt: skip
        answer = Answer(
            chunks=[json.dumps(line).encode() + b"\n" for line in lines],
            headers={"content-type": "application/x-ndjson"},
        )
        async with Server(answer) as server:
            house.connect("box", server.url + "/v1", like="ollama")
            request = CallRequest(
                model="box/qwen3:4b",
                messages=[Message(role="user", parts=[TextPart(text="hi")])],
                level=Level.HIGH,
            )
            end = await house.client().complete(request)
        assert text_of(end.message) == "yes" and end.usage.input_tokens == 3
        assert server.seen[0].path == "/api/chat" and server.seen[0].json["think"] == "high"
