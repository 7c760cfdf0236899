"""Which efforts each OpenAI model takes (vendors.md §2.1)."""

import msgspec

_OLD = ("low", "medium", "high")
_FIRST_FIVE = ("minimal", "low", "medium", "high")
_NONE_TO_XHIGH = ("none", "low", "medium", "high", "xhigh")
_NONE_TO_MAX = (*_NONE_TO_XHIGH, "max")
_LOW_TO_MAX = ("low", "medium", "high", "xhigh", "max")


class Gpt(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `sampling`: `never`, `off` (with effort none only) or `free`. `responses_tools`:
    tool calls work over Responses only. `binds`: since 6.2 moved reasoning is dropped in silence.
    `efforts` empty: the model does not reason."""

    efforts: tuple[str, ...]
    default: str = "medium"
    sampling: str = "never"
    responses_tools: bool = False
    binds: bool = False


MODELS: dict[str, Gpt] = {
    "o3": Gpt(efforts=_OLD),
    "o3-mini": Gpt(efforts=_OLD),
    "o4-mini": Gpt(efforts=_OLD),
    "gpt-5": Gpt(efforts=_FIRST_FIVE),
    "gpt-5-mini": Gpt(efforts=_FIRST_FIVE),
    "gpt-5-nano": Gpt(efforts=_FIRST_FIVE),
    "gpt-5-pro": Gpt(efforts=("high",), default="high"),
    "gpt-5-chat-latest": Gpt(efforts=(), sampling="free"),
    "gpt-5.1": Gpt(efforts=("none", *_OLD), default="none", sampling="off"),
    "gpt-5.1-chat-latest": Gpt(efforts=("medium",)),
    "gpt-5.2": Gpt(efforts=_NONE_TO_XHIGH, default="none", sampling="off"),
    "gpt-5.3-codex": Gpt(efforts=_NONE_TO_XHIGH, default="none", sampling="off"),
    "gpt-5.4": Gpt(efforts=_NONE_TO_XHIGH, default="none", sampling="off"),
    "gpt-5.4-mini": Gpt(efforts=_NONE_TO_XHIGH, default="none", sampling="off"),
    "gpt-5.5": Gpt(efforts=_NONE_TO_XHIGH, sampling="off"),
    "gpt-5.5-pro": Gpt(efforts=("medium", "high", "xhigh")),
    "gpt-5.6-sol": Gpt(efforts=_NONE_TO_MAX, sampling="off"),
    "gpt-5.6-terra": Gpt(efforts=_NONE_TO_MAX, sampling="off"),
    "gpt-5.6-luna": Gpt(efforts=_NONE_TO_MAX, sampling="off"),
    "gpt-6-sol": Gpt(efforts=_NONE_TO_MAX, responses_tools=True),
    "gpt-6-luna": Gpt(efforts=_NONE_TO_MAX, responses_tools=True),
    "gpt-6-astra": Gpt(efforts=_LOW_TO_MAX, responses_tools=True),
    "gpt-6.1-terra": Gpt(efforts=_NONE_TO_MAX, responses_tools=True),
    "gpt-6.1-sol": Gpt(efforts=_LOW_TO_MAX, responses_tools=True),
    "gpt-6.2-astra": Gpt(efforts=_LOW_TO_MAX, responses_tools=True, binds=True),
    "gpt-6.2-sol": Gpt(efforts=_LOW_TO_MAX, responses_tools=True, binds=True),
    "gpt-4.1": Gpt(efforts=(), sampling="free"),
}


def in_words(efforts: tuple[str, ...]) -> str:
    """`'none', 'low', and 'high'`: how the refusals list what is accepted."""
    quoted = [f"'{word}'" for word in efforts]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
