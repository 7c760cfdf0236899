"""The OpenAPI document, made from the table of operations and the structs."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from silu.gateway.dispatch import Operation, Parameter
from silu.gateway.protocol import schemas

_REF = "#/components/schemas/{name}"
_PATH_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


def document(operations: Iterable[Operation], *, version: str) -> dict[str, Any]:
    """OpenAPI 3.1 over the given operations; every error answer is an `ErrorBody`."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = _PATH_PARAMETER.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "silu gateway", "version": version},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": schemas(_REF),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "silu_<port>"},
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    answers: dict[str, Any] = {
        str(operation.status): _content(operation, "The answer."),
        "default": _json("ErrorBody", "What went wrong, in one sentence."),
    }
    told: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": [
            *(_path_parameter(name) for name in _PATH_PARAMETER.findall(operation.path)),
            *(_query_parameter(parameter) for parameter in operation.query),
        ],
        "responses": answers,
    }
    if operation.body is not None:
        told["requestBody"] = _request_body(operation.body)
    return told


def _request_body(shape: type[msgspec.Struct] | type[bytes]) -> dict[str, Any]:
    if issubclass(shape, bytes):
        return {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    needed = any(field.required for field in msgspec.structs.fields(shape))
    return {"required": needed, "content": _json(shape.__name__, "")["content"]}


def _content(operation: Operation, about: str) -> dict[str, Any]:
    if operation.answer is None:
        return {"description": about}
    return _json(operation.answer.__name__, about)


def _json(name: str, about: str) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=name)}
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.about,
        "required": parameter.required,
        "schema": schema,
    }
