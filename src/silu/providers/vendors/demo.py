"""The built-in demo: turns of our own writing, for silu without any model.

It is an ordinary vendor up to its transport: requests are encoded for it, its answers come as the
bytes of two dialects at a model's pace, and they run through the real decoder and the real loop.
It never passes for a model: its first answer says what it is and how to connect a real one.
"""

from silu.config import Settings
from silu.providers.facts import SWITCH_ON, Facts, up_to
from silu.providers.forms import anthropic_thinking, reasoning_effort
from silu.providers.vendor import Door, Vendor
from silu.types.calls import Transport
from silu.types.errors import UserError
from silu.types.levels import Level

THINKER = "thinker"
SWITCH = "switch"
RATE_VARIABLE = "SILU_DEMO_RATE"


def _transport(settings: Settings) -> Transport:
    """`SILU_DEMO_RATE` sets the pace in deltas a second; 0 plays everything at once."""
    # Imported when the demo answers: it brings the server half of the dialects along.
    from silu.providers.vendors.demo_play import RATE, DemoTransport

    given = settings.env.get(RATE_VARIABLE)
    try:
        rate = RATE if given is None else float(given)
    except ValueError as error:
        raise UserError(
            f"{RATE_VARIABLE} is {given!r}, which is no number.",
            code="bad_argument",
            setting=RATE_VARIABLE,
            fix="Set it to deltas a second, or remove it.",
        ) from error
    return DemoTransport(rate if rate > 0 else None)


_THINKER = Facts(
    family="demo", levels=up_to(Level.HIGH), default=Level.MEDIUM, echo="all", tags=None
)
_SWITCH = Facts(
    family="demo",
    levels=(Level.OFF, SWITCH_ON),
    default=SWITCH_ON,
    switch_only=True,
    echo="all",
    tags=None,
)

VENDOR = Vendor(
    id="demo",
    label="Demo",
    needs_key=False,
    demo=True,
    # What a model of its size would have: the token meter shows how full the conversation is.
    context_window=131_072,
    start_models=(THINKER,),
    models=(THINKER, SWITCH),
    listing="none",
    transport=_transport,
    door_of=lambda model: "anthropic-messages" if model == SWITCH else "openai-chat",
    doors=(
        Door(
            dialect="openai-chat",
            base_url="demo://silu/v1",
            auth="none",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=lambda facts, model: _THINKER,
            encode=lambda facts, thinking: {"echo_field": "reasoning_content"},
        ),
        Door(
            dialect="anthropic-messages",
            base_url="demo://silu",
            auth="none",
            form=anthropic_thinking,
            adapt=lambda facts, model: _SWITCH,
        ),
    ),
)
