"""Think tags in answer text (field cases F001, F012–F020)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silu.providers.profile import profile_for
from silu.types.rules import TagRules
from silu.wire.think_tags import Op, ThinkTags, rebuild
from tests.wire.reading import chunk, read, sse


def route(pieces: list[str], **rules: Any) -> tuple[list[tuple[str, str]], str]:
    """The parts in order as (kind, text), and the content put together again."""
    tags = ThinkTags(TagRules(**rules))
    parts: list[list[str]] = []
    raw: list[str] = []
    for op, text in [pair for piece in pieces for pair in tags.feed(piece)] + tags.finish():
        match op:
            case Op.TEXT | Op.THINK:
                kind = "text" if op is Op.TEXT else "thinking"
                if not parts or parts[-1][0] != kind:
                    parts.append([kind, ""])
                    raw.append("")
                parts[-1][1] += text
                raw[-1] += text
            case Op.CLOSE | Op.REROUTE:
                marks = tags.closed.popleft()
                raw[-1] = rebuild(parts[-1][1], marks)
                parts[-1][0] = "thinking"
                parts.append(["", ""])
                raw.append("")
            case Op.MARK:
                parts.append(["", ""])
                raw.append(text)
                parts.append(["", ""])
                raw.append("")
    assert not tags.closed
    return [(kind, text) for kind, text in parts if kind], "".join(raw)


CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("<think>ab</think>answer", {}, [("thinking", "ab"), ("text", "answer")]),
    ("<think>alpha</think>BETA", {}, [("thinking", "alpha"), ("text", "BETA")]),
    ("\n <think>\na\n</think>\n\nb", {}, [("thinking", "a\n"), ("text", "b")]),
    (
        "<think>p</think>Q <reasoning>s</reasoning> T",
        {"late_blocks": True},
        [("thinking", "p"), ("text", "Q "), ("thinking", "s"), ("text", " T")],
    ),
    (
        "internal reasoning\n</think>\n\nanswer",
        {"implicit_open": True},
        [("thinking", "internal reasoning\n"), ("text", "answer")],
    ),
    (
        "internal reasoning\n</think>\n\nanswer",
        {},
        [("thinking", "internal reasoning\n"), ("text", "answer")],
    ),
    ('maybe {x}</think>{"ok":true}', {}, [("thinking", "maybe {x}"), ("text", '{"ok":true}')]),
    ("<think>still thinking", {}, [("thinking", "still thinking")]),
    (
        "pre <think>still thinking",
        {"late_blocks": True},
        [("text", "pre "), ("thinking", "still thinking")],
    ),
    (
        "Use the `<think>` tag in your template",
        {"late_blocks": True},
        [("text", "Use the `<think>` tag in your template")],
    ),
    ("Use the <think> tag", {}, [("text", "Use the <think> tag")]),
    ("It ends with </think> here", {}, [("text", "It ends with </think> here")]),
    ("As in <think>...</think> here", {}, [("text", "As in <think>...</think> here")]),
    ("`a </think>`\n</thi", {}, [("text", "`a </think>`\n</thi")]),
    (
        "Code:\n```\n<think>x</think>\n```\nend <think>y</think>z",
        {"late_blocks": True},
        [("text", "Code:\n```\n<think>x</think>\n```\nend "), ("thinking", "y"), ("text", "z")],
    ),
    (
        "~~~~\n<think>\n~~~\n    ~~~~\n~~~~\n<think>y</think>z",
        {"late_blocks": True},
        [("text", "~~~~\n<think>\n~~~\n    ~~~~\n~~~~\n"), ("thinking", "y"), ("text", "z")],
    ),
    (
        "`x` y\n<think>r</think>z",
        {"late_blocks": True},
        [("text", "`x` y\n"), ("thinking", "r"), ("text", "z")],
    ),
    (
        "``a ` <think>`` <think>y</think>",
        {"late_blocks": True},
        [("text", "``a ` <think>`` "), ("thinking", "y")],
    ),
    (
        "<think>one <think>two</think> three</think>four",
        {},
        [("thinking", "one <think>two</think>"), ("thinking", " three"), ("text", "four")],
    ),
    (
        "<think>one <think>two</think>answer",
        {},
        [("thinking", "one <think>two</think>"), ("text", "answer")],
    ),
    (
        "<think>a<think>b<think>c</think>d</think>e</think>f",
        {},
        [
            ("thinking", "a<think>b<think>c</think>"),
            ("thinking", "d"),
            ("thinking", "e"),
            ("text", "f"),
        ],
    ),
    (
        "<think>one <think>two</think></think>four",
        {},
        [("thinking", "one <think>two</think>"), ("text", "four")],
    ),
    (
        "Intro. <think>r</think>Body.",
        {"late_blocks": True},
        [("text", "Intro. "), ("thinking", "r"), ("text", "Body.")],
    ),
    (
        "<thinking>We</thinking><thinking> add</thinking>sum",
        {},
        [("thinking", "We add"), ("text", "sum")],
    ),
    ("<think>a</think>\n<think>b</think>\nc", {}, [("thinking", "a\nb"), ("text", "c")]),
    ("<think>\n\n</think>\n\nhello", {}, [("text", "hello")]),
    ("</think>hello", {}, [("text", "</think>hello")]),
    ("\n\n</think>hello", {}, [("text", "\n\n</think>hello")]),
    ("<think>a</think></think>c", {}, [("thinking", "a"), ("text", "</think>c")]),
    (
        "<think>quote `</think>` and `<think>` here</think>done",
        {},
        [("thinking", "quote `</think>` and `<think>` here"), ("text", "done")],
    ),
    ("<think>tick `</think>", {}, [("thinking", "tick `")]),
    ("a < b and <thin x", {}, [("text", "a < b and <thin x")]),
    (" <thi", {}, [("text", " <thi")]),
    ("\n<think>a</think>b", {"implicit_open": True}, [("thinking", "a"), ("text", "b")]),
    ("</think>b", {"implicit_open": True}, [("text", "b")]),
    (
        "◁think▷hm◁/think▷yes",
        {"pairs": (("◁think▷", "◁/think▷"),)},
        [("thinking", "hm"), ("text", "yes")],
    ),
    (
        "[THINK]hm[/THINK]yes",
        {"pairs": (("◁think▷", "◁/think▷"), ("[THINK]", "[/THINK]"))},
        [("thinking", "hm"), ("text", "yes")],
    ),
    ("   ", {}, []),
    ("<think>  ", {}, []),
    ("<think>a</think>  ", {}, [("thinking", "a")]),
    ("<think>a</think> <thi", {}, [("thinking", "a"), ("text", "<thi")]),
]


@pytest.mark.parametrize(("content", "rules", "parts"), CASES)
def test_a_content_is_routed_the_same_however_it_is_cut(
    content: str, rules: dict[str, Any], parts: list[tuple[str, str]]
) -> None:
    assert route([content], **rules)[0] == parts
    assert route(list(content), **rules)[0] == parts
    for cut in range(1, len(content)):
        assert route([content[:cut], content[cut:]], **rules)[0] == parts


@pytest.mark.parametrize(("content", "rules", "parts"), CASES)
def test_the_marks_give_the_content_back_byte_for_byte(
    content: str, rules: dict[str, Any], parts: list[tuple[str, str]]
) -> None:
    if not parts or (parts[-1][0] == "thinking" and "</think>  " in content):
        return  # nothing, or white space at the very end, is left to hang them on
    assert route([content], **rules)[1] == content


def test_an_unclosed_block_is_told() -> None:
    tags = ThinkTags(TagRules())
    tags.feed("<think>a")
    assert tags.finish() == [(Op.CLOSE, "")]
    assert tags.unclosed and not tags.unclosed_implicit


def test_a_block_that_only_the_template_opened_is_told_apart() -> None:
    tags = ThinkTags(TagRules(implicit_open=True))
    tags.feed("all of it")
    tags.finish()
    assert tags.unclosed_implicit


def test_a_lone_end_tag_after_thinking_in_a_field_is_dropped_at_the_start_only() -> None:
    tags = ThinkTags(TagRules())
    assert tags.thought_elsewhere() == []
    assert tags.feed("\n</thi") == []
    assert tags.feed("nk>\nhello") == [
        (Op.MARK, "\n</think>"),
        (Op.MARK, "\n"),
        (Op.TEXT, "hello"),
    ]


def test_thinking_in_a_field_ends_the_wait_for_an_implicit_end() -> None:
    tags = ThinkTags(TagRules(implicit_open=True))
    tags.thought_elsewhere()
    assert tags.feed("answer") == [(Op.TEXT, "answer")]


def test_thinking_in_a_field_between_pieces_of_content_loses_nothing() -> None:
    tags = ThinkTags(TagRules())
    tags.feed("a <thi")
    assert tags.thought_elsewhere() == [(Op.TEXT, "<thi")]
    tags = ThinkTags(TagRules())
    tags.feed("<think>a</think>")
    assert [op for op, _ in tags.thought_elsewhere()] == [Op.CLOSE]


def test_after_a_tool_call_only_a_first_content_may_open_a_block() -> None:
    tags = ThinkTags(TagRules())
    tags.finish()
    assert tags.feed("<think>a")[0] == (Op.THINK, "a")
    tags = ThinkTags(TagRules())
    tags.feed("said ")
    tags.finish()
    assert tags.feed("<think>a") == [(Op.TEXT, "<think>a")]


def test_plain_text_passes_without_a_look() -> None:
    tags = ThinkTags(TagRules())
    tags.feed("a")
    assert tags.passes("b")
    assert not tags.passes("b <")
    tags.feed("<think>x</think>")
    tags = ThinkTags(TagRules())
    tags.feed("<think>x</think>y")
    tags.feed("z")
    assert tags.passes("even <think>")


TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")

_pieces = st.lists(
    st.sampled_from([*TAGS, "a", " b ", "\n", "`", "```\n", "<", "</"]),
    max_size=14,
)


@given(
    _pieces,
    st.booleans(),
    st.booleans(),
)
def test_no_character_is_lost_and_cuts_make_no_difference(
    pieces: list[str], late: bool, implicit: bool
) -> None:
    content = "".join(pieces)
    rules: dict[str, Any] = {"late_blocks": late, "implicit_open": implicit}
    parts, _ = route([content], **rules)
    assert route(list(content), **rules)[0] == parts

    def bare(text: str) -> str:
        for tag in TAGS:
            text = text.replace(tag, "")
        return "".join(text.split())

    kept = "\x00".join(text for _, text in parts)
    for tag in TAGS:
        kept = kept.replace(tag, "")
    assert "".join(kept.replace("\x00", "").split()) == bare(content)


# -- the marks a model writes where no server parses them


HARMONY = (
    "<|channel|>analysis<|message|>",
    "<|end|><|start|>assistant<|channel|>final<|message|>",
)


@pytest.mark.parametrize(
    ("model", "opening", "closing"),
    [
        ("qwen3-8b", "<think>", "</think>"),
        ("seed-oss-36b-instruct", "<seed:think>", "</seed:think>"),
        ("MiniMax-M3", "<mm:think>", "</mm:think>"),
        ("Kimi-K2-Instruct", "◁think▷", "◁/think▷"),
        ("magistral-small-2509", "[THINK]", "[/THINK]"),
        ("gpt-oss-20b", *HARMONY),
        ("gpt-oss-120b", f"<|start|>assistant{HARMONY[0]}", HARMONY[1]),
    ],
)
def test_a_models_own_marks_are_read_behind_any_server(
    model: str, opening: str, closing: str
) -> None:
    rules = profile_for("vllm", model).decode_rules()
    content = f"{opening}why{closing}answer"
    for size in (1, 5, len(content)):
        cuts = [content[at : at + size] for at in range(0, len(content), size)]
        told = (*(chunk({"content": cut}) for cut in cuts), chunk({}, "stop"))
        answer = read("openai-chat", sse(*told), rules=rules)
        assert (answer.thinking, answer.text) == (["why"], "answer")
