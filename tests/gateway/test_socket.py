"""Frames as the server writes them, against the websockets library's own."""

import pytest
from websockets.frames import Frame, Opcode

from silu.engine.api import Out
from silu.gateway.socket import portions, text_frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
def test_a_frame_has_the_form_that_every_client_reads(length: int) -> None:
    data = b"x" * length
    assert text_frame(data) == Frame(Opcode.TEXT, data).serialize(mask=False)


def test_what_is_due_goes_out_in_order_and_in_portions_of_bounded_size() -> None:
    outs = [Out(n, b"%d " % n * 5_000) for n in range(40)]
    messages = list(portions(outs))
    assert 1 < len(messages) < len(outs)
    assert max(len(message["data"]) for message in messages) < 300_000
    assert b"".join(m["data"] for m in messages) == b"".join(text_frame(o.data) for o in outs)


def test_a_frame_is_made_once_for_all_clients() -> None:
    out = Out(1, b"{}")
    first, second = (next(portions([out]))["data"] for _ in range(2))
    assert out.wire is not None and first == second == out.wire
