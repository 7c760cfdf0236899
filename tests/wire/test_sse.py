"""Framing of server-sent events (field cases F040–F044)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silu.wire.sse import ALIVE, Sse


def events(*chunks: bytes) -> list[tuple[bytes, bytes]]:
    framing = Sse()
    out: list[tuple[bytes, bytes]] = []
    for piece in chunks:
        out += framing.feed(piece)
    return [*out, *framing.close()]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_delivers_an_event_as_soon_as_its_empty_line_is_there(end: bytes) -> None:
    framing = Sse()
    assert framing.feed(b"data: a" + end + end) == [(b"", b"a")]
    assert framing.feed(b"event: ping" + end + b"data:b" + end + end) == [(b"ping", b"b")]


def test_a_crlf_cut_in_two_is_one_line_end() -> None:
    framing = Sse()
    assert framing.feed(b"data: a\r") == []
    assert framing.feed(b"\ndata: b\r\n") == []
    assert framing.feed(b"\r") == [(b"", b"a\nb")]
    assert framing.feed(b"\n") == []


def test_data_lines_of_one_event_are_joined() -> None:
    assert events(b'data: {\ndata: "a":1\ndata: }\n\n') == [(b"", b'{\n"a":1\n}')]


def test_comments_and_unknown_fields_are_no_events() -> None:
    framing = Sse()
    assert framing.feed(b": keep-alive\n\nid: 7\nretry: 3\nevent: x\n\nother\n\n") == [ALIVE]


def test_a_body_without_its_last_newline_gives_its_last_event() -> None:
    assert events(b"data: a\n\ndata: b") == [(b"", b"a"), (b"", b"b")]
    assert events(b"data: a\n\ndata: b\n") == [(b"", b"a"), (b"", b"b")]
    assert events(b"data") == [(b"", b"")]
    assert events() == []


@pytest.mark.parametrize("cut", range(6))
def test_a_byte_order_mark_is_no_part_of_the_first_line(cut: int) -> None:
    body = b"\xef\xbb\xbfdata: a\n\n"
    assert events(body[:cut], body[cut:]) == [(b"", b"a")]


def test_a_body_that_is_only_the_start_of_a_mark_is_no_event() -> None:
    assert events(b"\xef\xbb") == []


def test_a_line_of_a_megabyte_in_small_pieces_is_read_in_linear_time() -> None:
    framing = Sse()
    assert framing.feed(b"data: ") == []
    for _ in range(100_000):
        assert framing.feed(b"0123456789") == []
    [(_, data)] = framing.feed(b"\n\n")
    assert len(data) == 1_000_000


_line = st.sampled_from(
    [b"data: x", b"data:y", b"data", b": c", b"", b"event: e", b"id: 1", "data: 思🙂".encode()]
)


@given(
    st.lists(st.tuples(_line, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12),
    st.lists(st.integers(0, 80), max_size=6),
)
def test_cuts_make_no_difference(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    body = b"".join(line + end for line, end in lines)
    places = sorted({min(cut, len(body)) for cut in cuts})
    pieces = [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
    assert events(*pieces) == events(body)
