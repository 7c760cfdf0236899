"""The door: links, cookies, bearer tokens, Host and Origin."""

from pathlib import Path

import pytest

from silu.config.tokens import TokenFile
from silu.gateway.auth import LINK_SECONDS, Guard, RefusalError, content_policy
from silu.gateway.rates import Rates
from silu.types.access import TokenCreate

HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> Guard:
    return Guard(port=8765, bind="127.0.0.1", secret=b"s" * 32, owner_token="owner", clock=clock)


def cookie_of(set_cookie: str) -> dict[str, str]:
    return {"cookie": set_cookie.partition(";")[0]}


def refused(guard_call: object, code: str) -> bool:
    return isinstance(guard_call, RefusalError) and guard_call.code == code


def test_a_link_opens_once_and_becomes_a_cookie_named_by_port(guard: Guard) -> None:
    token = guard.new_link_token()
    cookie = guard.trade(token)
    assert cookie.startswith("silu_8765=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert guard.identify(cookie_of(cookie)).via == "cookie"
    with pytest.raises(RefusalError, match="has been used"):
        guard.trade(token)


def test_a_link_is_dead_after_ten_minutes(guard: Guard, clock: Clock) -> None:
    token = guard.new_link_token()
    clock.now += LINK_SECONDS + 1
    with pytest.raises(RefusalError):
        guard.trade(token)


def test_a_cookie_outlives_a_restart_but_not_its_month(guard: Guard, clock: Clock) -> None:
    cookie = cookie_of(guard.trade("owner"))
    again = Guard(port=8765, bind="127.0.0.1", secret=b"s" * 32, owner_token="new", clock=clock)
    assert again.identify(cookie).name == "owner"
    clock.now += 31 * 24 * 3600
    with pytest.raises(RefusalError) as caught:
        again.identify(cookie)
    assert caught.value.status == 401


def test_a_cookie_of_another_port_or_secret_opens_nothing(guard: Guard) -> None:
    cookie = cookie_of(guard.trade("owner"))
    other_secret = Guard(port=8765, bind="127.0.0.1", secret=b"x" * 32, owner_token="owner")
    other_port = Guard(port=8766, bind="127.0.0.1", secret=b"s" * 32, owner_token="owner")
    renamed = {"cookie": cookie["cookie"].replace("silu_8765", "silu_8766")}
    for door, jar in ((other_secret, cookie), (other_port, cookie), (other_port, renamed)):
        with pytest.raises(RefusalError):
            door.identify(jar)


@pytest.mark.parametrize("jar", ["", "silu_8765=", "silu_8765=abc", "silu_8765=a.b.c", "=;=,\x00"])
def test_a_malformed_cookie_is_a_refusal(guard: Guard, jar: str) -> None:
    with pytest.raises(RefusalError):
        guard.identify({"cookie": jar})


@pytest.mark.parametrize(
    "host", [HOST, "localhost:8765", "LOCALHOST:1", "[::1]:8765", "127.0.0.1", "localhost"]
)
def test_our_own_names_are_let_in(guard: Guard, host: str) -> None:
    guard.check_host({"host": host})


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example:8765",
        "127.0.0.1:8765@evil.example",
        "[::1",
        "[::1]x",
        "localhost:evil",
        "192.168.0.7:8765",
    ],
)
def test_a_rebound_name_is_refused(guard: Guard, host: str) -> None:
    with pytest.raises(RefusalError) as caught:
        guard.check_host({"host": host})
    assert caught.value.code == "wrong_host"


def test_a_gateway_on_all_addresses_answers_to_addresses_and_configured_names_only() -> None:
    guard = Guard(port=1, bind="0.0.0.0", secret=b"s", owner_token="t", hosts=["silu.example"])
    guard.check_host({"host": "192.168.0.7:8765"})
    guard.check_host({"host": "silu.example"})
    with pytest.raises(RefusalError):
        guard.check_host({"host": "evil.example"})


def test_an_equal_origin_passes_and_every_other_is_refused(guard: Guard) -> None:
    assert guard.check_origin("POST", {"host": HOST, "origin": ORIGIN}, handshake=False)
    for origin in ("https://evil.example", "null", "http://localhost:8765", f"https://{HOST}", ""):
        for headers in ({}, {"authorization": "Bearer owner"}):
            asked = {"host": HOST, "origin": origin, **headers}
            with pytest.raises(RefusalError) as caught:
                guard.check_origin("GET", asked, handshake=False)
            assert caught.value.code == "wrong_origin"


def test_without_origin_a_change_or_a_handshake_needs_a_bearer_token(guard: Guard) -> None:
    for method, handshake in (
        ("POST", False),
        ("DELETE", False),
        ("OPTIONS", False),
        ("GET", True),
    ):
        with pytest.raises(RefusalError) as caught:
            guard.check_origin(method, {"host": HOST}, handshake=handshake)
        assert caught.value.code == "no_origin"
        bearer = {"host": HOST, "authorization": "Bearer owner"}
        assert not guard.check_origin(method, bearer, handshake=handshake)
    assert not guard.check_origin("GET", {"host": HOST}, handshake=False)


def test_the_compatible_routes_take_no_cookie(guard: Guard) -> None:
    cookie = cookie_of(guard.trade("owner"))
    with pytest.raises(RefusalError) as caught:
        guard.identify(cookie, bearer_only=True)
    assert caught.value.code == "no_token"
    assert guard.identify({"authorization": "bearer owner"}, bearer_only=True).via == "bearer"


def test_guessing_is_slowed_down_but_the_owner_still_gets_in(guard: Guard, clock: Clock) -> None:
    codes: list[str] = []
    for n in range(30):
        with pytest.raises(RefusalError) as caught:
            guard.identify({"authorization": f"Bearer guess{n}"})
        codes.append(caught.value.code)
    assert codes[0] == "bad_token"
    assert codes[-1] == "too_many_tries"
    assert guard.identify({"authorization": "Bearer owner"}).name == "owner"
    clock.now += 61
    with pytest.raises(RefusalError) as caught:
        guard.trade("guess")
    assert caught.value.code == "bad_token"


def test_the_page_may_run_no_inline_script_and_load_nothing_from_elsewhere() -> None:
    policy = {
        part.strip().partition(" ")[0]: part.strip().partition(" ")[2]
        for part in content_policy(HOST).split(";")
    }
    assert policy["script-src"] == "'self'"
    assert policy["img-src"] == "'self' data: blob:"
    assert policy["default-src"] == "'none'"
    assert "*" not in content_policy(HOST)


def test_a_bucket_fills_again_evenly(clock: Clock) -> None:
    rates = Rates(clock=clock)
    assert [rates.take("a", per_minute=2) for _ in range(2)] == [0, 0]
    assert rates.take("a", per_minute=2) == pytest.approx(30)
    assert rates.take("b", per_minute=2) == 0
    clock.now += 31
    assert rates.take("a", per_minute=2) == 0
    assert rates.take("a", per_minute=2) > 0


def test_a_token_of_the_file_holds_until_its_day(tmp_path: Path, clock: Clock) -> None:
    file = TokenFile(tmp_path / "tokens.json", clock=clock)
    made = file.create(TokenCreate(name="editor", days=1))
    assert made.text not in (tmp_path / "tokens.json").read_text()
    assert file.find(made.text) == made.token
    assert file.find(made.text + "x") is None
    clock.now += 25 * 3600
    assert file.find(made.text) is None
    assert file.all().tokens == []
