"""Ending a thought by the vendor's own way: it says whether that worked, and never fails a turn."""

import pytest

from tests.providers.server import Answer, Server, whole

pytestmark = pytest.mark.anyio
PATH = "/v1/chat/completions/control"


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        (whole({"success": True}), True),
        (whole({"success": False, "message": "it is over"}), False),
        (whole({"success": True}, status=500), False),
        (Answer(chunks=[b"<html>"]), False),
        (Answer(chunks=[b" " * 40_000] * 2), False),
        (Answer(cut=True), False),
    ],
    ids=["done", "too late", "refused", "a web page", "too much", "cut"],
)
async def test_only_a_clear_yes_counts(house, answer, ended):
    async with Server(routes={PATH: answer}) as server:
        house.connect("box", server.url, like="llamacpp")
        assert await house.client().end_thinking("box/m", "chatcmpl-1") is ended
    assert server.seen[0].json == {"id": "chatcmpl-1", "action": "reasoning_end"}


async def test_without_a_way_or_an_answer_to_name_nothing_is_sent(house):
    async with Server(whole({"success": True})) as server:
        house.connect("box", server.url, like="llamacpp")
        house.connect("plain", server.url)
        assert not await house.client().end_thinking("box/m", "")
        assert not await house.client().end_thinking("plain/m", "chatcmpl-1")
    assert server.seen == []
