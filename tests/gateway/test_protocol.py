"""The published schema says what is really sent."""

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from silu.gateway import openapi
from silu.gateway.documents import OPERATIONS
from silu.gateway.protocol import document
from silu.types import facts, frames


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return document()


def references(value: Any) -> set[str]:
    match value:
        case {"$ref": str(target), **rest}:
            return {target} | references(rest)
        case dict():
            return set[str]().union(*map(references, value.values()))
        case list():
            return set[str]().union(*map(references, value))
        case _:
            return set()


def test_every_reference_of_the_schema_leads_somewhere(schema: dict[str, Any]) -> None:
    names = {target.removeprefix("#/$defs/") for target in references(schema)}
    assert names <= set(schema["$defs"])


def test_every_fact_and_every_command_has_its_frame(schema: dict[str, Any]) -> None:
    kinds = {
        schema["$defs"][name]["properties"]["type"].get("const") for name in schema["server_frames"]
    }
    assert set(facts.FACTS) <= kinds
    commands = {
        schema["$defs"][name]["properties"]["type"]["const"] for name in schema["client_frames"]
    }
    assert commands == set(frames.COMMANDS)


def test_what_is_always_sent_is_required_and_the_rest_is_not(schema: dict[str, Any]) -> None:
    defs = schema["$defs"]
    assert set(defs["ToolResult"]["required"]) == set(facts.ToolResult.__struct_fields__)
    assert "error" not in defs["Done"]["required"]
    assert "skillExecutions" in defs["Done"]["required"]
    assert defs["SessionUpdate"]["required"] == []
    assert defs["Send"]["required"] == ["client_id", "text"]


def test_a_fact_without_its_optional_field_leaves_it_out() -> None:
    sent = msgspec.to_builtins(facts.SessionUpdate(is_running=True))
    assert sent == {"isRunning": True}


def test_the_schema_is_printed_without_a_server(schema: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "silu.gateway.protocol"], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(msgspec.json.encode(schema))


def test_the_openapi_document_names_every_route_and_no_missing_schema() -> None:
    told = openapi.document(OPERATIONS, version="1")
    names = {target.removeprefix("#/components/schemas/") for target in references(told)}
    assert names <= set(told["components"]["schemas"])
    assert {op.path for op in OPERATIONS} == set(told["paths"])
    ids = [op.name for op in OPERATIONS]
    assert len(ids) == len(set(ids))
