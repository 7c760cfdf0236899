"""How failures are told: the right status, one sentence, and never what a person wrote."""

import logging

import aiohttp
import pytest

from silu.gateway.auth import RefusalError
from silu.gateway.dispatch import describe, failure
from silu.types.errors import Failure, ToolError, UserError, VendorError
from tests.gateway.house import TOKEN, Workspace
from tests.gateway.test_door import cookie


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (RefusalError(403, "wrong_origin", "No."), 403, "refused"),
        (UserError("No.", code="unknown_session"), 404, "user"),
        (UserError("No.", code="workspace_locked"), 409, "user"),
        (UserError("No.", code="too_large"), 413, "user"),
        (UserError("No.", code="not_available"), 501, "user"),
        (UserError("No.", code="whatever"), 400, "user"),
        (VendorError(Failure(kind="overloaded", message="Busy.")), 502, "overloaded"),
        (ToolError("No."), 400, "user"),
        (ZeroDivisionError("x"), 500, "internal"),
    ],
)
def test_each_failure_has_its_status(error: Exception, status: int, kind: str) -> None:
    told, info = describe(error)
    assert (told, info.kind) == (status, kind)
    assert info.message


def test_what_nobody_foresaw_is_logged_by_its_place_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def breaks(text: str) -> None:
        raise ValueError(f"could not read {text}")

    with caplog.at_level(logging.DEBUG):
        try:
            breaks("a private thought")
        except ValueError as exc:
            response = failure(exc)
    assert response.status_code == 500
    assert b"private" not in response.body
    assert "private" not in caplog.text
    assert "ValueError" in caplog.text
    assert "test_dispatch.py" in caplog.text


def test_too_many_tries_say_when_to_come_back() -> None:
    response = failure(RefusalError(429, "too_many_tries", "Wait."))
    assert response.headers["retry-after"] == "60"


@pytest.mark.anyio
async def test_a_page_can_ask_whether_it_is_signed_in_and_sign_out(demo: Workspace) -> None:
    jar = await cookie(demo)
    url = f"{demo.url}api/v1/auth"
    origin = {"Origin": demo.url.rstrip("/")}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser:
        asked = {**jar, **origin}
        assert (await browser.get(url)).status == 401
        assert (await browser.get(url, headers=jar)).status == 204
        assert (await browser.put(url, headers=asked)).status == 405
        assert (await browser.post(url, headers=asked, data=b"{")).status == 400
        assert (await browser.post(url, headers=asked, json={"token": "x"})).status == 401
        assert (await browser.get(f"{url}/link", headers=jar)).status == 401
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert (await browser.get(f"{url}/link", headers=bearer)).status == 405
        out = await browser.delete(url, headers=asked)
        assert out.status == 204
        assert "Max-Age=0" in out.headers["set-cookie"]
        assert (await browser.post(demo.url, headers=asked)).status == 405
        assert (await browser.get(f"{demo.url}nothing.js")).status == 404
        first = await browser.get(demo.url)
        again = await browser.get(demo.url, headers={"if-none-match": first.headers["etag"]})
        assert again.status == 304
