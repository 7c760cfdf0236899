"""What a refusal says, in every shape vendors give it (vendors.md §19)."""

import json
from typing import Any

import pytest

from silu.wire.errors import failure_from_body, failure_from_object, mask


def body(**error: Any) -> bytes:
    return json.dumps({"error": error}).encode()


CASES: list[tuple[int, bytes, str]] = [
    (401, body(message="Incorrect API key provided", type="invalid_request_error"), "auth"),
    (401, b"", "auth"),
    (403, body(message="forbidden", type="permission_error"), "auth"),
    (400, body(message="API key not valid. Please pass a valid API key."), "auth"),
    (402, body(message="Insufficient Balance"), "quota"),
    (429, body(message="slow", code="rate_limit_exceeded"), "rate_limit"),
    (429, body(message="You exceeded your current quota", code="insufficient_quota"), "quota"),
    (429, body(message="m", type="exceeded_current_quota_error"), "quota"),
    (429, body(message="余额不足", code="1113"), "quota"),
    (429, body(message="Rate limit: credit balance too low", type="rate_limit_error"), "quota"),
    (400, body(message="Your credit balance is too low to access the API."), "quota"),
    (403, body(message="Arrearage", code="Arrearage"), "quota"),
    (
        429,
        body(
            message="You exceeded your current quota, please check your plan and billing details.",
            status="RESOURCE_EXHAUSTED",
            details=[{"retryDelay": "13s"}],
        ),
        "rate_limit",
    ),
    (429, body(message="engine is overloaded"), "overloaded"),
    (404, body(message="The model `x` does not exist", code="model_not_found"), "unknown_model"),
    (
        404,
        b'{"type":"error","error":{"type":"not_found_error","message":"model: x"}}',
        "unknown_model",
    ),
    (404, b"", "not_an_api"),
    (404, b'{"detail":"Not Found"}', "not_an_api"),
    (404, b"404 page not found", "not_an_api"),
    (405, b"", "not_an_api"),
    (404, b'{"error":"model \'x\' not found"}', "unknown_model"),
    (404, body(message="The API deployment for this resource does not exist."), "unknown_model"),
    (400, body(message="x is not a valid model ID"), "unknown_model"),
    (400, body(message="Model Not Exist"), "unknown_model"),
    (400, body(message="The provided model identifier is invalid."), "unknown_model"),
    (400, body(message="模型不存在", code="1211"), "unknown_model"),
    (400, body(message="prompt is too long: 250000 tokens > 200000 maximum"), "context_overflow"),
    (400, body(message="m", code="context_length_exceeded"), "context_overflow"),
    (400, body(message="Range of input length should be [1, 30720]"), "context_overflow"),
    (400, body(message="maximum prompt length is 131072"), "context_overflow"),
    (400, body(message="Prompt exceeds max length", code="1261"), "context_overflow"),
    (400, body(message="prompt token count of 9 exceeds the limit of 8"), "context_overflow"),
    (400, body(message="The prompt is greater than the context length"), "context_overflow"),
    (400, body(message="The input is longer than the model's context length"), "context_overflow"),
    (400, body(message="Your request exceeded model token limit: 8"), "context_overflow"),
    (400, body(message="Input tokens exceed the configured limit of 8"), "context_overflow"),
    (400, body(message="Total tokens of text exceed max message tokens"), "context_overflow"),
    (400, body(message="too many tokens"), "context_overflow"),
    (400, body(message="too many tokens per minute"), "bad_request"),
    (413, b"", "context_overflow"),
    (
        429,
        body(message="Request too large: tokens per minute, maximum context length"),
        "rate_limit",
    ),
    (529, body(type="overloaded_error", message="Overloaded"), "overloaded"),
    (503, b"", "overloaded"),
    (500, body(message="the server is busy"), "overloaded"),
    (500, body(message="oops", type="server_error"), "server"),
    (504, b"", "timeout"),
    (408, b"", "timeout"),
    (403, body(code=403, message="flagged", metadata={"reasons": ["violence"]}), "refusal"),
    (400, body(code="data_inspection_failed", message="m"), "refusal"),
    (400, body(message="Unsupported value", code="unsupported_value"), "bad_request"),
    (422, b'{"detail":[{"loc":["body"],"msg":"extra fields"}]}', "bad_request"),
    (200, body(message="odd"), "unknown"),
    (200, body(message="m", type="invalid_request_error"), "bad_request"),
    (200, body(message="m", type="api_error"), "server"),
    (200, body(message="m", code="server_error"), "server"),
    (200, body(message="Rate limit reached"), "rate_limit"),
    (302, b"", "unknown"),
]


@pytest.mark.parametrize(("status", "said", "kind"), CASES)
def test_a_refusal_is_classified(status: int, said: bytes, kind: str) -> None:
    failure = failure_from_body(status, said)
    assert failure.kind == kind, failure
    assert failure.message.endswith((".", "!", "?"))


def test_a_wrong_key_names_the_setting() -> None:
    failure = failure_from_body(401, body(message="Invalid key"))
    assert failure.setting == "api_key" and "API key" in failure.message
    assert "Invalid key" in failure.message


def test_the_vendors_words_and_fields_are_kept() -> None:
    failure = failure_from_body(
        400,
        body(message="m", type="t", code=7, param="reasoning.effort", request_id="r"),
    )
    assert (failure.vendor_type, failure.code, failure.param) == ("t", "7", "reasoning.effort")
    assert (failure.request_id, failure.status, failure.retryable) == ("r", 400, False)


def test_words_inside_raw_metadata_are_found() -> None:
    raw = json.dumps({"code": "bad argument", "error": "prompt is too long"})
    failure = failure_from_body(
        400, body(code=400, message="Provider error", metadata={"raw": raw})
    )
    assert failure.kind == "context_overflow" and "prompt is too long" in failure.message
    plain = failure_from_body(400, body(message="", metadata={"raw": "no JSON at all"}))
    assert "no JSON at all" in plain.message
    same = failure_from_body(400, body(message="twice", metadata={"raw": "twice"}))
    assert same.message.count("twice") == 1


def test_words_inside_param_are_told() -> None:
    said = body(
        code="400", message="Param Incorrect", param="the field must be passed back", type=""
    )
    assert "must be passed back" in failure_from_body(400, b"data: " + said).message
    alone = failure_from_body(400, body(message="", param="the field is missing"))
    assert "the field is missing" in alone.message


def test_a_body_with_lines_around_its_data_is_read() -> None:
    said = b"event: error\n: note\ndata: " + body(message="inner") + b"\n\ndata: [DONE]\n\n"
    assert "inner" in failure_from_body(400, said).message


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b'{"code":"c","error":"Model X does not support y."}', "does not support y"),
        (b'{"error":[{"message":"first"}]}', "first"),
        (b'{"errors":[{"message":"first"}]}', "first"),
        (b'[{"error":{"message":"in a list"}}]', "in a list"),
        (b'{"message":"flat"}', "flat"),
        (b'{"detail":"plain"}', "plain"),
        (b'"just words"', "just words"),
        (b"just words", "just words"),
        (b'{"error":{"message":{"deep":"down"}}}', "down"),
        (b'{"error":{"message":"cut', "cut"),
        (b"null", "null"),
        (b"[]", ""),
        (b"{}", ""),
    ],
)
def test_an_error_in_any_shape_is_told(said: bytes, words: str) -> None:
    assert words in failure_from_body(400, said).message


def test_a_web_page_points_at_the_base_url_or_at_the_gateway() -> None:
    page = b"<html><head><title>404  Not\nFound</title></head></html>"
    failure = failure_from_body(404, page)
    assert failure.kind == "not_an_api" and failure.setting == "base_url"
    assert "404 Not Found" in failure.message
    for status, kind in ((502, "overloaded"), (504, "timeout"), (500, "server")):
        gateway = failure_from_body(status, b"<html></html>")
        assert gateway.kind == kind and gateway.retryable


def test_a_wait_is_read_from_the_body() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13.5s"}, 1]
    assert failure_from_body(429, body(message="m", details=details)).retry_after == 13.5
    assert failure_from_body(429, body(message="m", retry_after=3)).retry_after == 3
    assert (
        failure_from_body(429, body(message="m", details=[{"retryDelay": "soon"}])).retry_after
        is None
    )


def test_an_error_inside_a_good_answer_takes_its_status_from_its_code() -> None:
    failure = failure_from_object({"error": {"code": 502, "message": "m"}}, 200)
    assert failure.status == 502 and failure.kind == "server"
    assert failure_from_object({"error": {"message": "m"}}, 200).status is None


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefgh12345678",
        "sk_live_abcdefgh1234",
        "AIzaSyA1234567890abcdefghijklm",
        "gsk_abcdefgh12345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    ],
)
def test_what_looks_like_a_key_is_not_passed_on(secret: str) -> None:
    said = body(message=f"Incorrect API key provided: {secret}. Find it at …")
    assert secret not in failure_from_body(401, said).message
    assert mask(f"Authorization: Bearer {secret}").endswith("[key]")


def test_ordinary_words_are_no_keys() -> None:
    text = "The key-value pair in risk-assessment, model gpt-5.6-terra, sk-1"
    assert mask(text) == text


def test_a_very_long_message_is_shortened() -> None:
    assert len(failure_from_body(400, body(message="x" * 10_000)).message) < 800


def test_deep_nesting_is_no_trouble() -> None:
    said = b'{"error":' * 3000 + b"1" + b"}" * 3000
    assert failure_from_body(400, said).kind == "bad_request"


def test_words_very_deep_down_are_let_go() -> None:
    said = b'{"error":{"message":"m","a":{"b":{"c":{"d":{"e":{"f":{"g":"prompt is too long"}}}}}}}}'
    assert failure_from_body(400, said).kind == "bad_request"
