"""The routes do what the OpenAPI document says, whatever is sent to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from silu.gateway import documents, openapi
from tests.gateway.house import TOKEN, Workspace, ended
from tests.gateway.test_load import memory

OUTSIDE = frozenset(
    {"add_endpoint", "test_endpoint", "add_mcp_server", "patch_mcp_server", "test_mcp_server"}
)
"""They call other hosts or start programs of the caller's choice: not with made-up ones."""

BEARER = {"Authorization": f"Bearer {TOKEN}"}

CHECKS: list[Any] = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Its settings are changed at random: no other test may have it."""
    home: Path = tmp_path_factory.mktemp("fuzzed")
    with ended(Workspace(home).start()) as workspace:
        yield workspace


def operations() -> Iterator[Any]:
    document = openapi.document(documents.OPERATIONS, version="1")
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = found.ok()
        if operation.definition.raw["operationId"] not in OUTSIDE:
            yield operation


def strategies(operation: Any, session_id: str) -> Iterator[Any]:
    """What fits the document, what does not, and what meets a session that is there."""
    yield operation.as_strategy()
    raw = operation.definition.raw
    if raw["parameters"] or "requestBody" in raw:
        yield operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    if "{session_id}" in operation.path and raw["operationId"] != "delete_session":
        yield operation.as_strategy(path_parameters={"session_id": session_id})


@pytest.mark.parametrize(
    "examples", [3, pytest.param(150, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_no_request_makes_the_gateway_fail_or_answer_otherwise_than_it_says(
    fresh: Workspace, examples: int
) -> None:
    base = fresh.url.rstrip("/")
    made = Request(f"{base}/api/v1/sessions", data=b"{}", headers=BEARER, method="POST")
    session_id = json.loads(urlopen(made).read())["id"]
    tried: dict[str, int] = {}
    before = 0

    def run(operation: Any, strategy: Any) -> None:
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def each(case: Any) -> None:
            answer = case.call(base_url=base, headers=BEARER)
            case.validate_response(answer, checks=CHECKS)
            tried[operation.path] = tried.get(operation.path, 0) + 1

        each()

    for number, operation in enumerate(operations()):
        for strategy in strategies(operation, session_id):
            run(operation, strategy)
        if number == 10:
            before = memory(fresh)
    assert len(tried) > 30
    assert memory(fresh) - before < 60_000_000
    assert urlopen(f"{base}/api/v1/health").status == 200
    assert "unforeseen" not in fresh.stderr(), fresh.stderr()
    assert "Traceback" not in fresh.stderr(), fresh.stderr()
