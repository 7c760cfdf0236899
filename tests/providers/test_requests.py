"""What a request holds beside the level: sampling, tool choice, limits, addresses, origins."""

import json

import msgspec
import pytest

from silu.config import Endpoint, Environment, ModelOverride, Paths, Preferences, Settings
from silu.providers.families import bare, find
from silu.providers.learned import MemoryLearned
from silu.providers.prepare import deep_merge, join, masked, prepare
from silu.providers.profile import clean_url, origin_for, profile_for, rules_for, split_ref
from silu.types.calls import CallRequest, ToolSpec
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import Continuity, Message, TextPart, ThinkingPart, ToolCallPart

TOOLS = [ToolSpec(name="f", description="d", parameters={"type": "object", "properties": {}})]


def request(ref, *messages, **fields):
    said = [Message(role="user", id="u", parts=[TextPart(text="hi", id="t")]), *messages]
    return CallRequest(model=ref, messages=said, **fields)


def made(settings, asked, *, dialect=None):
    return prepare(
        profile_for(*split_ref(asked.model), settings=settings, dialect=dialect),
        asked,
        settings=settings,
    )


def body(settings, asked, **fields):
    return json.loads(made(settings, asked, **fields).http.body)


class TestSampling:
    def test_a_temperature_is_left_out_while_claude_thinks_and_told(self, settings):
        for level in (Level.MEDIUM, Level.ADAPTIVE):
            asked = request("anthropic/claude-opus-4-6", level=level, temperature=0.2)
            prepared = made(settings, asked)
            assert b"temperature" not in prepared.http.body
            assert (
                "temperature is kept but not used while thinking" in prepared.resolution.notes[-1]
            )
            assert asked.temperature == 0.2

    def test_a_temperature_is_sent_when_thinking_is_off(self, settings):
        asked = request("anthropic/claude-opus-4-6", level=Level.OFF, temperature=0.2)
        assert body(settings, asked)["temperature"] == 0.2

    def test_newer_claude_takes_none_at_all(self, settings):
        asked = request("anthropic/claude-opus-4-8", level=Level.OFF, temperature=0.2, top_p=0.9)
        prepared = made(settings, asked)
        assert b"temperature" not in prepared.http.body and b"top_p" not in prepared.http.body
        assert "temperature and top_p" in prepared.resolution.notes[-1]

    def test_claude_never_gets_temperature_and_top_p_together(self, settings):
        asked = request("anthropic/claude-sonnet-4-5", level=Level.OFF, temperature=0.2, top_p=0.9)
        sent = body(settings, asked)
        assert sent["temperature"] == 0.2 and "top_p" not in sent

    def test_without_a_setting_of_the_person_nothing_is_sent(self, settings):
        for ref in ("anthropic/claude-opus-4-5", "deepseek/deepseek-v4-pro", "ollama/qwen3:8b"):
            sent = body(settings, request(ref, level=Level.HIGH))
            assert not {"temperature", "top_p", "top_k"} & set(sent)

    def test_recommended_sampling_is_the_familys_own_advice(self, settings):
        settings = settings.with_preferences(Preferences(sampling="recommended"))
        on = body(settings, request("vllm/Qwen3-8B", level=Level.HIGH))
        off = body(settings, request("vllm/Qwen3-8B", level=Level.OFF))
        assert (on["temperature"], on["top_p"]) == (0.6, 0.95)
        assert (off["temperature"], off["top_p"]) == (0.7, 0.8)
        own = body(settings, request("vllm/Qwen3-8B", level=Level.HIGH, temperature=0.1))
        assert own["temperature"] == 0.1 and "top_p" not in own


class TestToolChoice:
    def test_a_forced_tool_becomes_auto_where_the_model_refuses_it(self, settings):
        for ref, level in (
            ("deepseek/deepseek-v4-pro", Level.HIGH),
            ("anthropic/claude-opus-4-5", Level.HIGH),
            ("anthropic/claude-opus-5-5", Level.HIGH),
        ):
            for choice in ("required", "f"):
                prepared = made(
                    settings, request(ref, tools=TOOLS, tool_choice=choice, level=level)
                )
                sent = json.loads(prepared.http.body)
                assert sent.get("tool_choice", "auto") in ("auto", {"type": "auto"})
                assert "tool choice" in prepared.resolution.notes[-1]

    def test_it_is_kept_where_thinking_is_off(self, settings):
        asked = request(
            "deepseek/deepseek-v4-pro", tools=TOOLS, tool_choice="required", level=Level.OFF
        )
        assert body(settings, asked)["tool_choice"] == "required"


class TestLimits:
    def test_a_limit_of_the_person_is_sent_in_the_vendors_field(self, settings):
        sent = body(settings, request("deepseek/deepseek-v4-pro", max_tokens=77, level=Level.OFF))
        assert sent["max_tokens"] == 77

    def test_anthropic_always_gets_a_limit_that_leaves_room_in_the_window(self, settings):
        small = body(settings, request("anthropic/claude-sonnet-4-5", level=Level.OFF))
        large = body(settings, request("anthropic/claude-opus-5", level=Level.HIGH))
        assert small["max_tokens"] == 25000 and large["max_tokens"] == 125000

    def test_an_unknown_window_gets_a_modest_limit(self, settings):
        settings.endpoints.put(
            Endpoint(name="box", url="http://127.0.0.1:1", dialect="anthropic-messages")
        )
        assert body(settings, request("box/thing"))["max_tokens"] == 8192


class TestHeaders:
    def test_interleaved_thinking_is_asked_for_in_budget_mode_with_tools_only(self, settings):
        budget = made(settings, request("anthropic/claude-opus-4-5", tools=TOOLS, level=Level.HIGH))
        assert budget.http.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
        for asked in (
            request("anthropic/claude-opus-4-5", level=Level.HIGH),
            request("anthropic/claude-opus-4-5", tools=TOOLS, level=Level.OFF),
            request("anthropic/claude-opus-4-6", tools=TOOLS, level=Level.HIGH),
        ):
            assert "anthropic-beta" not in made(settings, asked).http.headers

    def test_a_door_names_its_headers(self, settings):
        headers = made(settings, request("anthropic/claude-opus-5")).http.headers
        assert headers["anthropic-version"] == "2023-06-01"
        assert headers["content-type"] == "application/json"


class TestKeys:
    def test_a_request_can_be_prepared_without_a_key_and_says_so(self, settings):
        prepared = made(settings, request("anthropic/claude-opus-5"))
        assert prepared.key_missing and "x-api-key" not in prepared.http.headers

    def test_a_key_is_masked_where_the_request_is_shown(self, tmp_path):
        settings = Settings(
            paths=Paths.under(tmp_path), env=Environment({"ANTHROPIC_API_KEY": "abc-def-ghi"})
        )
        prepared = made(settings, request("anthropic/claude-opus-5"))
        assert prepared.http.headers["x-api-key"] == "abc-def-ghi"
        assert masked(prepared.http, settings).headers["x-api-key"] == "***"

    def test_a_vendors_key_never_goes_to_another_host(self, tmp_path):
        settings = Settings(
            paths=Paths.under(tmp_path), env=Environment({"DEEPSEEK_API_KEY": "abc-def-ghi"})
        )
        settings.endpoints.put(Endpoint(name="far", url="http://far.example/v1", like="deepseek"))
        settings.endpoints.put(
            Endpoint(name="near", url="https://api.deepseek.com/v1", like="deepseek")
        )
        far = made(settings, request("far/deepseek-v4-pro"))
        assert "authorization" not in far.http.headers and not far.key_missing
        near = made(settings, request("near/deepseek-v4-pro"))
        assert near.http.headers["authorization"] == "Bearer abc-def-ghi"

    def test_an_endpoint_may_stand_in_for_a_vendor_under_its_own_name(self, tmp_path):
        settings = Settings(
            paths=Paths.under(tmp_path), env=Environment({"DEEPSEEK_API_KEY": "abc-def-ghi"})
        )
        settings.endpoints.put(Endpoint(name="deepseek", url="http://proxy.example/ds"))
        prepared = made(settings, request("deepseek/deepseek-v4-pro", level=Level.MAX))
        assert prepared.http.url == "http://proxy.example/ds/chat/completions"
        assert prepared.http.headers["authorization"] == "Bearer abc-def-ghi"
        assert prepared.resolution.wire["reasoning_effort"] == "max"


def test_a_tool_choice_without_tools_is_left_out_and_told(settings):
    asked = request("deepseek/deepseek-v4-pro", level=Level.OFF, tool_choice="required")
    prepared = made(settings, asked)
    assert b"tool_choice" not in prepared.http.body
    assert any("no tools" in note for note in prepared.resolution.notes)


class TestPrefix:
    """Where thinking is bound to the prefix, that of an older epoch stays out."""

    def history(self, settings, model):
        origin = profile_for("anthropic", model, settings=settings).origin
        kept = Continuity(part="p", kind="signature", data='"SIG"', origin=origin)
        return [
            Message(role="user", id="u0", parts=[TextPart(text="first", id="t0")]),
            Message(
                role="assistant",
                id="a0",
                parts=[ThinkingPart(text="OLD", id="p"), TextPart(text="ok", id="t1")],
                continuity=[kept],
            ),
        ]

    def sent(self, settings, model, epoch):
        asked = CallRequest(
            model=f"anthropic/{model}",
            messages=[
                *self.history(settings, model),
                Message(role="user", id="u", parts=[TextPart(text="hi", id="t")]),
            ],
            epoch_first=epoch,
            level=Level.HIGH,
        )
        return made(settings, asked)

    def test_thinking_of_an_older_epoch_is_dropped_and_told(self, settings):
        prepared = self.sent(settings, "claude-opus-5-5", "u")
        assert b"OLD" not in prepared.http.body and b"SIG" not in prepared.http.body
        assert [(d.message_id, d.part) for d in prepared.dropped] == [("a0", "p")]
        assert "prefix" in prepared.dropped[0].why

    def test_thinking_of_this_epoch_goes_back(self, settings):
        assert b"SIG" in self.sent(settings, "claude-opus-5-5", "u0").http.body
        assert b"SIG" in self.sent(settings, "claude-opus-5-5", None).http.body
        assert b"SIG" in self.sent(settings, "claude-opus-5-5", "gone").http.body

    def test_models_that_do_not_bind_get_it_back_all_the_same(self, settings):
        assert b"SIG" in self.sent(settings, "claude-opus-4-7", "u").http.body


class TestDeepseek:
    def test_a_tool_message_without_thinking_gets_the_blank_filler(self, settings):
        calls = Message(
            role="assistant", parts=[ToolCallPart(call_id="c", name="f", arguments="{}")]
        )
        sent = body(settings, request("deepseek/deepseek-v4-pro", calls, tools=TOOLS))
        assert sent["messages"][1]["reasoning_content"] == " "

    def test_its_anthropic_dialect_has_its_own_form(self, settings):
        prepared = made(
            settings, request("deepseek/deepseek-v4-pro", level=Level.MAX),
            dialect="anthropic-messages",
        )  # fmt: skip
        sent = json.loads(prepared.http.body)
        assert prepared.http.url == "https://api.deepseek.com/anthropic/v1/messages"
        assert sent["thinking"] == {"type": "enabled"}
        assert sent["output_config"] == {"effort": "max"}


class TestOrigins:
    def test_reader_and_writer_of_any_vendor_agree_on_the_origin(self, settings):
        for vendor, model, dialect in (
            ("anthropic", "claude-opus-5", "anthropic-messages"),
            ("nobody", "some-model", "openai-chat"),
            ("nobody", "some-model", "anthropic-messages"),
            ("groq-like", "kimi-k2.5", "openai-chat"),
            ("anthropic", "claude-opus-5", "openai-chat"),
        ):
            asked = request(f"{vendor}/{model}")
            written = made(settings, asked, dialect=dialect).origin
            read = origin_for(vendor, model, dialect)
            same = ("vendor", "endpoint", "account", "dialect", "model")
            assert [getattr(written, x) for x in same] == [getattr(read, x) for x in same]
            assert rules_for(vendor, model, dialect)[1] == read

    def test_two_vendors_never_share_an_origin(self):
        one, two = origin_for("a", "m", "openai-chat"), origin_for("b", "m", "openai-chat")
        assert one.endpoint != two.endpoint

    def test_an_unknown_vendor_gets_the_dialects_plain_rules(self, settings):
        prepared = made(settings, request("nobody/deepseek-v4-pro"), dialect="openai-chat")
        assert prepared.http.url == "https://nobody.invalid/v1/chat/completions"
        assert prepared.resolution.effective == "unset" and not prepared.key_missing
        assert "stream" in json.loads(prepared.http.body)

    def test_an_account_of_an_endpoint_is_part_of_the_origin(self, settings):
        settings.endpoints.put(Endpoint(name="x", url="http://127.0.0.1:1/v1", account="blue"))
        assert origin_for("x", "m", settings=settings).account == "blue"


class TestAddresses:
    @pytest.mark.parametrize(
        ("given", "dialect", "clean"),
        [
            ("http://h:8000", "openai-chat", "http://h:8000/v1"),
            ("http://h:8000/", "openai-chat", "http://h:8000/v1"),
            ("http://h/v1/chat/completions", "openai-chat", "http://h/v1"),
            ("http://h/api/paas/v4", "openai-chat", "http://h/api/paas/v4"),
            ("http://h/v1/models", "openai-chat", "http://h/v1"),
            ("http://h/anthropic/v1/messages", "anthropic-messages", "http://h/anthropic"),
            ("http://h/v1", "anthropic-messages", "http://h"),
            ("http://h", "anthropic-messages", "http://h"),
        ],
    )
    def test_whatever_a_person_copied_becomes_a_base_url(self, given, dialect, clean):
        assert clean_url(given, dialect) == clean

    def test_a_version_is_not_doubled(self):
        assert join("http://h/v1", "/v1/messages") == "http://h/v1/messages"
        assert join("http://h/v4/", "chat") == "http://h/v4/chat"
        assert join("http://h/v4", "/v4/x") == "http://h/v4/v4/x"

    def test_like_a_vendor_that_does_not_exist_is_named(self, settings):
        settings.endpoints.put(Endpoint(name="x", url="http://127.0.0.1:1", like="nobody"))
        with pytest.raises(UserError, match="nobody") as error:
            profile_for("x", "m", settings=settings)
        assert error.value.setting == "like"

    def test_any_dialect_can_be_configured(self, settings):
        settings.endpoints.put(Endpoint(name="x", url="http://h:1", dialect="openai-responses"))
        profile = profile_for("x", "m", settings=settings)
        assert profile.base_url == "http://h:1/v1"
        assert profile.door.dialect == "openai-responses"
        settings.endpoints.put(Endpoint(name="y", url="http://h:1", dialect="some-other"))
        assert profile_for("y", "m", settings=settings).base_url == "http://h:1"


class TestFamilies:
    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1"),
            ("us.anthropic.claude-opus-5-v1:0", "claude-opus-5-v1"),
            ("anthropic.claude-3-7-sonnet-20250219-v1:0", "claude-3-7-sonnet-20250219-v1"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("x-ai/grok-4:free", "grok-4"),
            ("qwen3:4b", "qwen3"),
        ],
    )
    def test_what_hosts_put_around_a_name_is_taken_off(self, given, name):
        assert bare(given) == name

    @pytest.mark.parametrize(
        ("model", "family", "generation"),
        [
            ("claude-3-5-sonnet-20241022", "claude", "3.5"),
            ("claude-3-opus", "claude", "3.5"),
            ("claude-instant-1.2", "claude", "3.5"),
            ("claude-3-7-sonnet", "claude", "3.7"),
            ("claude-sonnet-4-20250514", "claude", "4.5"),
            ("claude-opus-4-1", "claude", "4.5"),
            ("claude-opus-4.8", "claude", "4.8"),
            ("claude-fable-5", "claude", "fable-5"),
            ("claude-mythos-5-2", "claude", "fable-5.1"),
            ("deepseek-r1-distill-llama-70b", "deepseek", "r1"),
            ("MAI-DS-R1", "deepseek", "r1"),
            ("deepseek-v3-0324", "deepseek", "v3"),
            ("deepseek-coder-6.7b", "deepseek", "v3"),
            ("DeepSeek-V3.1-Terminus", "deepseek", "v3.1"),
            ("deepseek-reasoner", "deepseek", "v4-flash"),
            ("deepseek-v4.1-flash", "deepseek", "v4-flash"),
            ("qwen3-235b-a22b-thinking-2507", "qwen", "3-thinking"),
            ("qwq-32b", "qwen", "3-thinking"),
            ("qwen3-coder-plus", "qwen", "instruct"),
            ("qwen2.5-7b-instruct", "qwen", "instruct"),
            ("qwen-plus", "qwen", "3-commercial"),
            ("qwen3.6-plus", "qwen", "3"),
            ("qwen3.8-max-preview", "qwen", "3.8-preview"),
            ("qwen4-max", "qwen", "3.8"),
            ("qwen-next", "qwen", "3.8"),
            ("gpt-oss-120b", "gpt-oss", ""),
        ],
    )
    def test_a_model_is_known_by_its_name(self, model, family, generation):
        facts = find(model)
        assert (facts.family, facts.generation) == (family, generation)

    def test_a_stranger_has_no_family(self):
        assert find("llama-3-70b") is None


class TestKnowledge:
    def test_each_fact_names_its_source(self, settings):
        info = profile_for("anthropic", "claude-opus-4-5-20251101", settings=settings).info()
        assert info.label == "Claude Opus 4.5"
        assert info.capability.context_window == 200_000
        assert info.capability.sources["context_window"] == "catalogue"
        assert info.capability.sources["thinking_levels"] == "family"
        stranger = profile_for("nobody", "m", dialect="openai-chat").info().capability
        assert stranger.thinking == "unknown" and stranger.context_window is None
        assert stranger.sources["thinking"] == "default"

    def test_a_known_model_behind_an_own_endpoint_keeps_its_echo_duty(self, settings):
        settings.endpoints.put(Endpoint(name="x", url="http://127.0.0.1:1/v1"))
        calls = Message(
            role="assistant", parts=[ToolCallPart(call_id="c", name="f", arguments="{}")]
        )
        sent = body(settings, request("x/deepseek-v4-pro", calls))
        assert sent["messages"][1]["reasoning_content"] == " "

    def test_a_person_may_forbid_thinking_for_a_model(self, settings):
        override = ModelOverride(thinking="unsupported")
        settings = settings.with_preferences(
            Preferences(models={"deepseek/deepseek-v4-pro": override})
        )
        prepared = made(settings, request("deepseek/deepseek-v4-pro", level=Level.HIGH))
        assert prepared.resolution.wire == {}

    def test_learned_lists_in_strange_words_change_nothing(self):
        from silu.providers.facts import UNKNOWN
        from silu.providers.learned import apply
        from silu.types.capabilities import Learned

        fact = Learned(endpoint="e", model="m", fact="levels", value=["turbo"], evidence="", ts=0)
        assert apply(UNKNOWN, [fact]) == UNKNOWN
        assert MemoryLearned([fact]).of("e", "m") == [fact]


def test_merging_keeps_what_the_upper_side_does_not_name():
    lower = {"thinking": {"type": "enabled", "keep": "all"}, "a": 1}
    upper = {"thinking": {"type": "disabled"}, "a": {"b": 2}}
    assert deep_merge(lower, upper) == {"thinking": {"type": "disabled", "keep": "all"},
                                        "a": {"b": 2}}  # fmt: skip


def test_plain_dialects_have_their_plain_forms(settings):
    """Servers nothing is known of, in every dialect we speak."""
    expected = {
        "openai-chat": {"reasoning_effort": "high"},
        "mistral-chat": {"reasoning_effort": "high"},
        "openai-responses": {"reasoning": {"effort": "high", "summary": "auto"}},
        "anthropic-messages": {"thinking": {"type": "enabled", "budget_tokens": 16000}},
        "ollama-chat": {"think": "high"},
        "gemini-generate": {
            "generationConfig": {
                "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"}
            }
        },
        "bedrock-converse": {},
    }
    for dialect, wire in expected.items():
        prepared = made(settings, request("nobody/m", level=Level.HIGH), dialect=dialect)
        assert prepared.resolution.wire == wire, dialect


def test_an_anthropic_server_nothing_is_known_of(settings):
    settings.endpoints.put(Endpoint(name="box", url="http://h:1", dialect="anthropic-messages"))
    off = made(settings, request("box/thing", level=Level.OFF))
    assert off.resolution.wire == {"thinking": {"type": "disabled"}}
    claude = made(settings, request("box/claude-opus-5", level=Level.MAX))
    assert claude.resolution.wire["output_config"] == {"effort": "max"}
    plain = made(settings, request("box/qwen2.5-7b", level=Level.HIGH))
    assert plain.resolution.wire == {}


def test_a_switched_model_behind_responses_asks_for_its_summary(settings):
    asked = request("nobody/m", level=Level.HIGH)
    settings.endpoints.put(Endpoint(name="r", url="http://h:1", like="openai"))
    prepared = made(settings, msgspec.structs.replace(asked, model="r/glm-4.6"))
    assert prepared.resolution.wire == {"reasoning": {"summary": "auto"}}


def test_minimax_m2_is_told_nothing_in_either_dialect(settings):
    for dialect in ("openai-chat", "anthropic-messages"):
        asked = request("minimax/MiniMax-M2.7", level=Level.OFF)
        assert made(settings, asked, dialect=dialect).resolution.wire == {}


def test_qiniu_takes_an_effort_for_the_rest_and_doubts_its_off(settings):
    on = made(settings, request("qiniu/deepseek-v4-pro", level=Level.HIGH))
    off = made(settings, request("qiniu/deepseek-v4-pro", level=Level.OFF))
    assert on.resolution.wire == {"reasoning_effort": "high"}
    assert off.resolution.wire == {"thinking": {"type": "disabled"}}
    assert "not known" in off.resolution.notes[-1]


def test_a_forced_model_with_a_small_limit_gets_its_least_budget(settings):
    prepared = made(settings, request("gemini/gemini-2.5-pro", max_tokens=1100, level=Level.LOW))
    config = json.loads(prepared.http.body)["generationConfig"]
    assert config["thinkingConfig"]["thinkingBudget"] == 128 and config["maxOutputTokens"] == 1100
    assert "least budget" in prepared.resolution.notes[-1]
