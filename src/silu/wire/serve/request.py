"""What a client of a dialect asks for, and how its mistakes are told."""

from typing import Any

import msgspec

from silu.types.calls import CallRequest
from silu.types.errors import UserError
from silu.types.levels import Level, LevelChoice, parse_level

# Claude budgets as the seed contract lays them out; read backwards: the first level whose budget
# covers what the client asked for.
_BUDGETS: tuple[tuple[int, Level], ...] = (
    (2000, Level.MINIMAL),
    (4000, Level.LOW),
    (8000, Level.MEDIUM),
    (16000, Level.HIGH),
)


class BadRequestError(UserError):
    """The client's request is malformed: `param` names the field, `status` the HTTP status."""

    def __init__(self, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message, code="bad_request", setting=param or "")
        self.param = param
        self.status = status


class ServedRequest(msgspec.Struct, kw_only=True):
    """A decoded request. `call` is what is asked of the model; its `model` is the client's word.

    `level_given` is false where the client said nothing about thinking (`call.level` is then
    `default`). `include_usage`: an openai-chat stream ends with a usage chunk. `stop`,
    `response_format` and `metadata` are kept as sent for a caller that can honour them; `ignored`
    names the remaining fields that were present and have no meaning here.
    """

    call: CallRequest
    level_given: bool = False
    include_usage: bool = False
    stop: tuple[str, ...] = ()
    response_format: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    ignored: tuple[str, ...] = ()


def level_of(word: str, *, param: str) -> LevelChoice:
    """Read a client's effort word; raise `BadRequestError` naming the choices."""
    try:
        return parse_level(word)
    except ValueError as error:
        raise BadRequestError(str(error), param=param) from error


def level_of_budget(budget: int) -> Level:
    """The level whose budget covers `budget` thinking tokens."""
    for limit, level in _BUDGETS:
        if budget <= limit:
            return level
    return Level.XHIGH if budget < 32000 else Level.MAX


def bad_field(error: msgspec.ValidationError) -> BadRequestError:
    """Turn msgspec's complaint ("… - at `$.messages[0].content`") into a `BadRequestError`."""
    text = str(error)
    reason, _, where = text.partition(" - at `")
    param = where.rstrip("`").removeprefix("$").lstrip(".") or None
    return BadRequestError(f"{param}: {reason}" if param else reason, param=param)
