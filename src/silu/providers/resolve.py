"""From what was asked of the thinking to what is sent: the one resolver.

`resolve` first settles the level against the facts, then the budget and the output limit, then
lets the vendor's form write it. Every move is told in a note.
"""

from typing import Any

import msgspec

from silu.providers.facts import SWITCH_ON, Facts
from silu.providers.vendor import Ask, Form
from silu.types.capabilities import LevelSource, Resolution
from silu.types.errors import UserError
from silu.types.levels import ORDER, Level, LevelChoice, parse_level

ANSWER_ROOM = 4096
"""Tokens left for the answer above a budget, where the person set no limit."""
LEAST_ROOM = 1024
"""Tokens left for the answer where the person's own limit stands."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Output limits in tokens: the person's own, the model's maximum, and the window."""

    asked: int | None = None
    model_max: int | None = None
    window: int | None = None


NO_LIMITS = Limits()


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A resolution with what the encoder needs beside it.

    `max_tokens` is `None` where neither a person nor a budget sets one. `thinking_on` is false
    only where thinking is known to be off.
    """

    resolution: Resolution
    max_tokens: int | None
    thinking_on: bool


def level_choice(word: LevelChoice | str) -> LevelChoice:
    """A level as a program may write it: a `Level`, or a word or alias in any case.

    Raises `UserError` (`bad_argument`) that names the choices.
    """
    if isinstance(word, Level):
        return word
    try:
        return parse_level(word)
    except ValueError as error:
        choices = str(error).partition("use one of: ")[2]
        raise UserError(
            f"{word!r} is no thinking level.",
            code="bad_argument",
            setting="level",
            fix=f"Use one of: {choices}.",
        ) from error


def resolve(
    facts: Facts,
    form: Form,
    choice: LevelChoice,
    *,
    source: LevelSource,
    thinking_enabled: bool = True,
    limits: Limits = NO_LIMITS,
) -> Resolved:
    """Settle a level for one request. `thinking_enabled` is the server's switch: off, it stands
    above every choice."""
    if not thinking_enabled:
        choice, source = Level.OFF, "switch"
    level, notes = settle(facts, choice)
    requested = choice.value if isinstance(choice, Level) else choice
    if not thinking_enabled:
        notes.insert(0, "Thinking is switched off for this server (thinking.enabled).")
    if level is None:
        resolution = Resolution(
            requested=requested, source=source, effective="unset", notes=tuple(notes)
        )
        thinks = facts.default is not Level.OFF
        return Resolved(resolution=resolution, max_tokens=limits.asked, thinking_on=thinks)
    if facts.thinking == "unsupported":
        resolution = Resolution(
            requested=requested, source=source, effective=Level.OFF.value, notes=tuple(notes)
        )
        return Resolved(resolution=resolution, max_tokens=limits.asked, thinking_on=False)
    quiet = choice is Level.OFF and level is not Level.OFF
    level, budget, max_tokens = _budget(facts, level, limits=limits, quiet=quiet, notes=notes)
    if level is Level.OFF and (note := facts.extra.get("off_note")):
        notes.append(note)
    wire: dict[str, Any] = form(facts, Ask(level=level, budget=budget))
    resolution = Resolution(
        requested=requested, source=source, effective=level.value, wire=wire, notes=tuple(notes)
    )
    return Resolved(
        resolution=resolution, max_tokens=max_tokens, thinking_on=level is not Level.OFF
    )


def settle(facts: Facts, choice: LevelChoice) -> tuple[Level | None, list[str]]:
    """The level that is in force for a choice (`None`: nothing is sent), and why it moved."""
    if facts.thinking == "unsupported":
        asks = choice not in {"default", "unset", Level.OFF}
        return Level.OFF, ["This model does not think; no level was sent."] if asks else []
    if choice == "unset":
        return None, []
    if not facts.levels:
        asks = choice != "default"
        return None, ["This server takes no thinking level; its default applies."] if asks else []
    if choice == "default":
        return facts.default, []
    if choice is Level.ADAPTIVE:
        return _adaptive(facts)
    if choice is Level.OFF:
        return _off(facts)
    return _nearest(facts, Level(choice))


def _adaptive(facts: Facts) -> tuple[Level | None, list[str]]:
    if facts.adaptive and not facts.switch_only:
        return Level.ADAPTIVE, []
    if facts.switch_only:
        return _thinking(facts)[0], ["This model can only be switched on or off: on."]
    if own := facts.extra.get("adaptive_as"):
        return own, [f"This model has no adaptive thinking; {own} is used."]
    if facts.default is None and (facts.thinking == "unknown" or "adaptive_as" in facts.extra):
        return None, ["How this model chooses its own depth is not known; its default applies."]
    # Where the default is off, or nobody knows it, asking for thinking still gives thinking.
    level = facts.default
    if level in {None, Level.OFF}:
        level = _nearest(facts, Level.MEDIUM)[0]
    return level, [f"This model has no adaptive thinking; {level} is used."]


def _off(facts: Facts) -> tuple[Level | None, list[str]]:
    if Level.OFF in facts.levels:
        return Level.OFF, []
    if facts.thinking == "unknown":
        note = "There is no known way to switch thinking off here; the vendor's default applies."
        return None, [note]
    lowest = _thinking(facts)[0]
    if facts.switch_only:
        return lowest, ["This model always thinks and cannot be switched off."]
    return lowest, [f"This model always thinks; its lowest level {lowest} is used."]


def _nearest(facts: Facts, level: Level) -> tuple[Level | None, list[str]]:
    """The nearest lower thinking level, else the lowest: asking for thinking never gives off."""
    thinking = _thinking(facts)
    if facts.switch_only:
        on = thinking[0]
        return on, [] if level is SWITCH_ON else ["This model can only be switched on or off: on."]
    if level in thinking:
        return level, []
    if same := facts.same.get(level):
        return same, [f"{level} and {same} are the same for this model."]
    below = [known for known in thinking if ORDER.index(known) < ORDER.index(level)]
    moved = below[-1] if below else thinking[0]
    return moved, [f"This model has no level {level}; {moved} is used."]


def _thinking(facts: Facts) -> tuple[Level, ...]:
    return facts.thinking_levels or (SWITCH_ON,)


def _budget(
    facts: Facts, level: Level, *, limits: Limits, quiet: bool, notes: list[str]
) -> tuple[Level, int | None, int | None]:
    """The budget and the output limit of a level: (level, budget, max_tokens).

    No limit of the person's: `min(model maximum, budget + 4096)`. A limit of theirs stands, and
    the budget gives way. A budget too small for the model switches thinking off, where it can be.
    """
    budget = facts.budgets.get(level)
    if quiet and facts.quiet_budget is not None:
        budget = facts.quiet_budget
    if budget is None or budget <= 0:
        return level, budget, limits.asked
    max_tokens = limits.asked or _at_most(budget + ANSWER_ROOM, limits.model_max)
    max_tokens = _at_most(max_tokens, limits.model_max)
    room = min(_at_most(budget, facts.budget_max), max_tokens - LEAST_ROOM)
    if room >= max(facts.budget_min, 1):
        if room < budget:
            notes.append(f"The budget is {room} tokens, so that {max_tokens} leave an answer.")
        return level, room, max_tokens
    if Level.OFF in facts.levels:
        notes.append(f"{max_tokens} tokens leave no room for thinking; it is off.")
        return Level.OFF, None, max_tokens
    notes.append(f"{max_tokens} tokens leave no room; the least budget is used.")
    return level, facts.budget_min, max_tokens


def _at_most(value: int, limit: int | None) -> int:
    return value if limit is None else min(value, limit)
