"""Arguments as models send them, and results as models read them."""

from typing import Any

import pytest

from silu.tools import Tool, ToolBox, ToolContext, ToolOutput, object_schema, read_arguments
from silu.tools.results import EMPTY, show
from silu.tools.schema import inlined
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError


def tool(name: str = "t", **properties: Any) -> Tool:
    async def run(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput(text="")

    spec = ToolSpec(name=name, description="", parameters=object_schema(properties, required=()))
    return Tool(spec=spec, effects=frozenset({"read"}), run=run)


RICH = {
    "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a"},
    "count": {"type": "integer", "minimum": 1, "maximum": 9},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "word": {"type": "string", "enum": ["x", "y"]},
    "fixed": {"const": 3},
    "many": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    "deep": {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": {"type": "string"},
    },
    "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "maybe": {"type": ["string", "null"]},
}


def test_fitting_arguments_come_through_as_they_are() -> None:
    text = (
        '{"text":"abc","count":2.0,"ratio":1.5,"flag":true,"word":"x","fixed":3,"many":["a"],'
        '"deep":{"a":1,"b":"c"},"either":null,"maybe":null}'
    )
    assert read_arguments(tool(**RICH), text)["deep"] == {"a": 1, "b": "c"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"text":"a"}', "at least 2 characters, got 1"),
        ('{"text":"abcde"}', "at most 4 characters"),
        ('{"text":"bbb"}', "must match"),
        ('{"count":0}', "at least 1, got 0"),
        ('{"count":10}', "at most 9"),
        ('{"count":true}', "`count` must be integer, got true"),
        ('{"count":1.5}', "must be integer"),
        ('{"flag":"yes"}', "must be boolean"),
        ('{"word":"z"}', 'one of "x", "y"'),
        ('{"fixed":4}', "must be 3"),
        ('{"many":[1]}', "`many[0]` must be string"),
        ('{"many":["a","b","c"]}', "at most 2 entries"),
        ('{"deep":{}}', "`deep.a` is required"),
        ('{"deep":{"a":1,"b":2}}', "`deep.b` must be string"),
        ('{"either":3}', "none of the allowed forms"),
        ('{"maybe":3}', "string or null"),
        ('{"other":1}', "`other` is not a parameter; the parameters are: text, count"),
        ("[1]", "must be a JSON object"),
        ('"x"', "must be a JSON object"),
        ('{"text":', "not valid JSON"),
    ],
)
def test_a_bad_call_is_explained(text: str, word: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_arguments(tool(**RICH), text)
    assert word in str(caught.value)


def test_schemas_of_strangers_are_read_as_far_as_they_say_something() -> None:
    odd = tool(
        free={"type": "string", "pattern": "(?<name>x)\\p{L}"},
        open=True,
        shut=False,
        old={"type": "object", "required": True},
        list={"type": "array", "items": True},
        some={"anyOf": [True]},
    )
    fits = '{"free": "y", "open": [1], "old": {}, "list": [1], "some": 1}'
    assert read_arguments(odd, fits)["free"] == "y"
    with pytest.raises(ToolError, match="`shut` is never allowed"):
        read_arguments(odd, '{"shut": 1}')


def test_no_text_counts_as_no_arguments() -> None:
    assert read_arguments(tool(), "") == {}
    assert read_arguments(tool(), "  ") == {}


def test_a_fault_quotes_only_the_beginning_of_what_came() -> None:
    with pytest.raises(ToolError) as caught:
        read_arguments(tool(), '{"x": "' + "y" * 50_000)
    assert len(str(caught.value)) < 500
    with pytest.raises(ToolError) as caught:
        read_arguments(tool(**RICH), '{"flag": "' + "y" * 50_000 + '"}')
    assert len(str(caught.value)) < 300
    many = ",".join(f'"k{n}":1' for n in range(50))
    with pytest.raises(ToolError, match="and 42 more"):
        read_arguments(tool(**RICH), f"{{{many}}}")


def test_definitions_are_put_where_a_schema_refers_to_them() -> None:
    place = {"type": "object", "properties": {"city": {"$ref": "#/$defs/City"}}}
    schema = {
        "type": "object",
        "properties": {
            "to": {"$ref": "#/$defs/Place", "description": "Where to."},
            "by": {"type": "array", "items": {"$ref": "#/$defs/City"}},
        },
        "$defs": {"Place": place, "City": {"type": "string"}},
    }
    city = {"type": "string"}
    assert inlined(schema) == {
        "type": "object",
        "properties": {
            "to": {"type": "object", "properties": {"city": city}, "description": "Where to."},
            "by": {"type": "array", "items": city},
        },
    }


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"properties": {"again": {"$ref": "#/$defs/a"}}}},
        {},
        {"a": {"$ref": "https://elsewhere.example/a"}},
        {
            chr(n): {"anyOf": [{"$ref": f"#/$defs/{chr(n + 1)}"}] * 9}
            for n in range(ord("a"), ord("h"))
        }
        | {"h": {}},
    ],
)
def test_a_schema_that_cannot_be_written_out_stays_as_it_is(definitions: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": definitions}
    assert inlined(schema) is schema


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    box = ToolBox([tool("a"), tool("b")])
    with pytest.raises(ToolError, match="the tools are: a, b"):
        box.find("c")
    assert box.names() == ["a", "b"]
    assert len(box.plus([tool("c")])) == 3
    with pytest.raises(UserError, match="two tools"):
        ToolBox([tool("a"), tool("a")])


def test_of_a_long_result_beginning_and_end_are_shown_and_how_to_read_the_rest() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 1_001))
    shown = show(text, part_id="c1", limit=1_000)
    assert shown.truncated
    assert len(shown.text) < 1_200
    lines = shown.text.split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("[cut"))
    first, last = int(lines[at - 1].split()[1]), int(lines[at + 1].split()[1])
    assert f"lines {first + 1}-{last - 1} of 1000 left out" in lines[at]
    assert f'{{"path": "result:c1", "start_line": {first + 1}}}' in lines[at]
    assert (lines[0], lines[-1]) == ("line 1", "line 1000")


def test_short_and_empty_results_are_shown_as_they_are() -> None:
    assert show("short", part_id="c").text == "short"
    assert show(" \n", part_id="c").text == EMPTY


def test_a_result_of_one_long_line_says_from_which_character_to_read_on() -> None:
    shown = show("x" * 50_000, part_id="c", limit=10_000)
    assert f"{'x' * 5_000}… (line of 50000 characters; start_char 5001 reads on)" in shown.text
    assert '"path": "result:c", "start_line": …, "start_char": …' in shown.text
