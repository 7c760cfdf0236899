"""The level table: what each model generation is sent for each level (vendors.md §17).

A cell is the body fields that carry the level; `→ x` before it names the level that is really in
force where it is another one.
"""

import json

import pytest

from silu.config import Endpoint, Environment, Paths, Settings
from silu.providers.profile import profile_for, split_ref
from silu.providers.resolve import Limits, resolve
from silu.types.levels import Level, parse_level

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max", "adaptive")

OFF = '{"thinking":{"type":"disabled"}}'


def adaptive(effort: str = "", *, shown: bool = True) -> str:
    display = ',"display":"summarized"' if shown else ""
    thinking = f'"thinking":{{"type":"adaptive"{display}}}'
    if not effort:
        return f"{{{thinking}}}"
    return f'{{{thinking},"output_config":{{"effort":"{effort}"}}}}'


def budget(tokens: int) -> str:
    return f'{{"thinking":{{"type":"enabled","budget_tokens":{tokens}}}}}'


def enabled(effort: str) -> str:
    return f'{{"thinking":{{"type":"enabled"}},"reasoning_effort":"{effort}"}}'


def effort(word: str) -> str:
    return f'{{"reasoning_effort":"{word}"}}'


def think(value: object) -> str:
    return f'{{"think":{json.dumps(value)}}}'


NOTHING = "→ unset {}"

# fmt: off
TABLE: dict[str, tuple[str, str, str, str, str, str, str, str]] = {
    #                        off, minimal, low, medium, high, xhigh, max, adaptive
    "anthropic/claude-3-7-sonnet-20250219": (
        OFF, budget(2000), budget(4000), budget(8000), budget(16000),
        "→ max " + budget(32000), budget(32000), "→ medium " + budget(8000),
    ),
    "anthropic/claude-opus-4-5-20251101": (
        OFF, budget(2000), budget(4000), budget(8000), budget(16000),
        "→ max " + budget(32000), budget(32000), "→ medium " + budget(8000),
    ),
    "anthropic/claude-sonnet-4-6": (
        OFF, "→ low " + adaptive("low", shown=False), adaptive("low", shown=False),
        adaptive("medium", shown=False), adaptive("high", shown=False),
        "→ high " + adaptive("high", shown=False), adaptive("max", shown=False),
        adaptive(shown=False),
    ),
    "anthropic/claude-opus-4-7": (
        OFF, "→ low " + adaptive("low"), adaptive("low"), adaptive("medium"), adaptive("high"),
        adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "anthropic/claude-opus-5": (
        OFF, "→ low " + adaptive("low"), adaptive("low"), adaptive("medium"), adaptive("high"),
        adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "anthropic/claude-haiku-5-5": (
        OFF, "→ low " + adaptive("low"), adaptive("low"), adaptive("medium"), adaptive("high"),
        adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "anthropic/claude-sonnet-5-5": (
        '{"thinking":{"type":"between_tools"},"output_config":{"effort":"low"}}',
        "→ low " + adaptive("low"), adaptive("low"), adaptive("medium"), adaptive("high"),
        adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "anthropic/claude-opus-5-5": (
        "→ low " + adaptive("low"), "→ low " + adaptive("low"), adaptive("low"),
        adaptive("medium"), adaptive("high"), adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "anthropic/claude-fable-5-2": (
        "→ low " + adaptive("low"), "→ low " + adaptive("low"), adaptive("low"),
        adaptive("medium"), adaptive("high"), adaptive("xhigh"), adaptive("max"), adaptive(),
    ),
    "deepseek/deepseek-v4-flash": (
        OFF, "→ low " + enabled("low"), enabled("low"), "→ low " + enabled("low"),
        enabled("high"), "→ high " + enabled("high"), enabled("max"), "→ high " + enabled("high"),
    ),
    "deepseek/deepseek-v4-pro": (
        OFF, "→ high " + enabled("high"), "→ high " + enabled("high"),
        "→ high " + enabled("high"), enabled("high"), "→ high " + enabled("high"),
        enabled("max"), "→ high " + enabled("high"),
    ),
    "ollama/qwen3:4b": (
        think(False), "→ low " + think("low"), think("low"), think("medium"), think("high"),
        "→ max " + think("max"), think("max"), think(True),
    ),
    "ollama/gpt-oss:20b": (
        "→ low " + think("low"), "→ low " + think("low"), think("low"), think("medium"),
        think("high"), "→ high " + think("high"), "→ high " + think("high"),
        "→ medium " + think("medium"),
    ),
    "box/qwen3:4b": (
        effort("none"), "→ low " + effort("low"), effort("low"), effort("medium"),
        effort("high"), "→ max " + effort("max"), effort("max"), "→ medium " + effort("medium"),
    ),
    "llamacpp/some-model": (
        effort("none"), effort("minimal"), effort("low"), effort("medium"), effort("high"),
        effort("xhigh"), effort("max"), NOTHING,
    ),
    "vllm/Qwen/Qwen3-8B": (
        '{"chat_template_kwargs":{"enable_thinking":false}}',
        *(["→ medium " + '{"chat_template_kwargs":{"enable_thinking":true}}'] * 2),
        '{"chat_template_kwargs":{"enable_thinking":true}}',
        *(["→ medium " + '{"chat_template_kwargs":{"enable_thinking":true}}'] * 4),
    ),
    "own/some-model": (
        NOTHING, "→ low " + effort("low"), effort("low"), effort("medium"), effort("high"),
        "→ high " + effort("high"), "→ high " + effort("high"), NOTHING,
    ),
}
# fmt: on


@pytest.fixture
def settings(tmp_path):
    settings = Settings(paths=Paths.under(tmp_path), env=Environment({}))
    settings.endpoints.put(Endpoint(name="own", url="http://127.0.0.1:1/v1"))
    settings.endpoints.put(
        Endpoint(name="box", url="http://127.0.0.1:2", like="ollama", dialect="openai-chat")
    )
    return settings


def cell(ref, level, settings, **limits):
    import msgspec

    profile = profile_for(*split_ref(ref), settings=settings)
    found = resolve(
        profile.facts,
        profile.door.form,
        parse_level(level),
        source="turn",
        limits=Limits(model_max=profile.capability.max_output, **limits),
    )
    wire = msgspec.json.encode(found.resolution.wire).decode()
    moved = found.resolution.effective != level
    return (f"→ {found.resolution.effective} " if moved else "") + wire, found


@pytest.mark.parametrize(
    ("ref", "level", "expected"),
    [
        pytest.param(ref, level, want, id=f"{ref}-{level}")
        for ref, row in TABLE.items()
        for level, want in zip(LEVELS, row, strict=True)
    ],
)
def test_a_level_is_written_as_the_table_says(ref, level, expected, settings):
    got, found = cell(ref, level, settings)
    assert got == expected
    if "→" in got and found.resolution.effective != level:
        assert found.resolution.notes, "a level that moved must be told"


@pytest.mark.parametrize(
    ("ref", "default"),
    [
        ("anthropic/claude-opus-4-5", "off"),
        ("anthropic/claude-opus-4-8", "off"),
        ("anthropic/claude-sonnet-5", "high"),
        ("anthropic/claude-opus-5-5", "medium"),
        ("anthropic/claude-fable-5-2", "high"),
        ("deepseek/deepseek-v4-pro", "high"),
        ("deepseek/deepseek-chat", "off"),
        ("ollama/qwen3:4b", "unset"),
        ("own/some-model", "unset"),
        ("own/deepseek-v4-flash", "unset"),
    ],
)
def test_the_default_is_the_models_own_and_is_sent_explicitly(ref, default, settings):
    _, found = cell(ref, "default", settings)
    assert found.resolution.effective == default
    assert bool(found.resolution.wire) == (default != "unset")


@pytest.mark.parametrize("ref", list(TABLE))
def test_unset_sends_nothing(ref, settings):
    _, found = cell(ref, "unset", settings)
    assert (found.resolution.effective, found.resolution.wire) == ("unset", {})


@pytest.mark.parametrize(
    ("ref", "like"),
    [
        ("anthropic/claude-opus-9", "anthropic/claude-opus-5-5"),
        ("anthropic/claude-sonnet-6-1", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-haiku-7", "anthropic/claude-haiku-5-5"),
        ("anthropic/claude-saga-1", "anthropic/claude-fable-5-2"),
        ("anthropic/claude-mythos-preview", "anthropic/claude-fable-5-2"),
        ("deepseek/deepseek-v9-pro", "deepseek/deepseek-v4-pro"),
        ("deepseek/deepseek-v9", "deepseek/deepseek-v4-flash"),
    ],
)
def test_an_unknown_model_gets_the_newest_rules_of_its_family(ref, like, settings):
    for level in LEVELS:
        assert cell(ref, level, settings)[0] == cell(like, level, settings)[0]


def test_off_in_four_places_takes_four_forms(settings):
    """F079: the same family, the form of each endpoint."""
    settings.endpoints.put(Endpoint(name="house", url="http://127.0.0.1:2/v1", like="vllm"))
    forms = {
        ref: cell(ref, "off", settings)[0]
        for ref in (
            "deepseek/deepseek-v4-flash",
            "house/deepseek-v4-flash",
            "ollama/deepseek-v4-flash",
            "own/deepseek-v4-flash",
        )
    }
    assert forms["house/deepseek-v4-flash"] == (
        '{"chat_template_kwargs":{"enable_thinking":false,"thinking":false}}'
    )
    assert len(set(forms.values())) == 4


class TestBudgets:
    REF = "anthropic/claude-opus-4-5"

    def test_without_a_limit_the_answer_gets_4096_tokens_above_the_budget(self, settings):
        _, found = cell(self.REF, "high", settings)
        assert found.max_tokens == 20096

    def test_a_persons_limit_stands_and_the_budget_gives_way(self, settings):
        wire, found = cell(self.REF, "high", settings, asked=4096)
        assert (wire, found.max_tokens) == (budget(3072), 4096)
        assert "3072" in found.resolution.notes[0]

    def test_a_limit_with_no_room_for_thinking_switches_it_off_and_says_so(self, settings):
        wire, found = cell(self.REF, "low", settings, asked=2000)
        assert (wire, found.max_tokens, found.thinking_on) == ("→ off " + OFF, 2000, False)
        assert found.resolution.notes

    def test_a_budget_stays_below_what_the_model_can_write(self, settings):
        profile = profile_for("anthropic", "claude-opus-4-5", settings=settings)
        found = resolve(
            profile.facts,
            profile.door.form,
            Level.MAX,
            source="turn",
            limits=Limits(model_max=8192),
        )
        assert found.resolution.wire["thinking"]["budget_tokens"] == 7168
        assert found.max_tokens == 8192

    def test_a_limit_above_the_models_maximum_is_lowered_to_it(self, settings):
        _, found = cell(self.REF, "low", settings, asked=500_000)
        assert found.max_tokens == 64000


def test_the_servers_switch_stands_above_every_choice(settings):
    profile = profile_for("deepseek", "deepseek-v4-flash", settings=settings)
    found = resolve(
        profile.facts, profile.door.form, Level.MAX, source="turn", thinking_enabled=False
    )
    assert found.resolution.source == "switch"
    assert found.resolution.wire == {"thinking": {"type": "disabled"}}
    assert "thinking.enabled" in found.resolution.notes[0]


def test_a_model_that_does_not_think_is_sent_no_level(settings):
    for level in ("off", "high", "default"):
        _, found = cell("anthropic/claude-3-5-haiku", level, settings)
        assert (found.resolution.effective, found.resolution.wire) == ("off", {})
    assert cell("anthropic/claude-3-5-haiku", "high", settings)[1].resolution.notes


@pytest.mark.parametrize(
    ("word", "level"),
    [("none", "off"), ("ultra", "max"), ("auto", "adaptive"), ("ON", "default"), ("High", "high")],
)
def test_aliases_mean_what_they_say(word, level):
    assert parse_level(word) == level


def test_an_unknown_word_names_the_choices():
    with pytest.raises(ValueError, match="medium"):
        parse_level("deep")
