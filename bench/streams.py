"""Streams to decode: the bytes a vendor would send for `n` deltas, half thought, half answer.

Texts differ from delta to delta, because real ones do and because some clients watch for
repetition; `said` replaces them. Field names and envelopes are those of each dialect.
"""

import itertools
import json
from collections.abc import Iterable, Iterator

WORDS = ("the", "lamp", "was", "lit", "before", "the", "rain", "began", "and", "nobody", "asked")
READ = 64 * 1024
"""Bytes of one read in a burst: what aiohttp hands out at most at a time."""


def texts(n: int) -> Iterator[str]:
    words = itertools.cycle(WORDS)
    return (f" {next(words)}{i % 10}" for i in range(n))


def openai_chat(n: int, said: Iterable[str] | None = None) -> bytes:
    head = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": "bench-1",
        "system_fingerprint": "fp_bench",
    }

    def chunk(delta: dict[str, object], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return f"data: {json.dumps({**head, 'choices': [choice]}, separators=(',', ':'))}\n\n"

    out = [chunk({"role": "assistant", "content": ""})]
    for number, text in enumerate(said or texts(n)):
        out.append(chunk({"reasoning_content" if number < n // 2 else "content": text}))
    out.append(chunk({}, "stop"))
    usage = {"prompt_tokens": 9, "completion_tokens": n, "total_tokens": n + 9}
    tail = json.dumps({**head, "choices": [], "usage": usage}, separators=(",", ":"))
    out.append(f"data: {tail}\n\ndata: [DONE]\n\n")
    return "".join(out).encode()


def anthropic_messages(n: int, said: Iterable[str] | None = None) -> bytes:
    def event(kind: str, **fields: object) -> str:
        body = json.dumps({"type": kind, **fields}, separators=(",", ":"))
        return f"event: {kind}\ndata: {body}\n\n"

    message = {
        "id": "msg_bench",
        "type": "message",
        "role": "assistant",
        "model": "bench-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    out = [event("message_start", message=message)]
    out.append(event("content_block_start", index=0, content_block=thinking))
    for number, text in enumerate(said or texts(n)):
        if number == n // 2:
            signature = {"type": "signature_delta", "signature": "c2lnbmVk" * 30}
            out.append(event("content_block_delta", index=0, delta=signature))
            out.append(event("content_block_stop", index=0))
            block = {"type": "text", "text": ""}
            out.append(event("content_block_start", index=1, content_block=block))
        if number < n // 2:
            delta = {"type": "thinking_delta", "thinking": text}
            out.append(event("content_block_delta", index=0, delta=delta))
        else:
            delta = {"type": "text_delta", "text": text}
            out.append(event("content_block_delta", index=1, delta=delta))
    out.append(event("content_block_stop", index=1))
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    out.append(event("message_delta", delta=ending, usage={"output_tokens": n}))
    out.append(event("message_stop"))
    return "".join(out).encode()


STREAMS = {"openai-chat": openai_chat, "anthropic-messages": anthropic_messages}


def reads(stream: bytes) -> list[bytes]:
    """The stream in the pieces a burst is read in."""
    return [stream[at : at + READ] for at in range(0, len(stream), READ)]
