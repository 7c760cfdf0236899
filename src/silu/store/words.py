"""Words of a text as the search index knows them: bigrams for Chinese, Japanese and Korean, which
have no spaces, words for the rest. Text and query are cut by the same rule on both databases."""

import re
from collections.abc import Iterator

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_LONGEST = 60
_MOST_CHARS = 1_000_000
"""Of a longer message only so much can be found: cutting it up would hold up every session."""
_MOST_VECTOR_BYTES = 900_000
"""PostgreSQL takes no tsvector of a megabyte or more."""

Term = list[str]
"""Tokens that stand next to each other; the last one may go on."""


def tokens(text: str) -> list[str]:
    """The tokens of a text in order. A CJK run ends with its last character alone, so that one
    character can be looked for wherever it stands."""
    found: list[str] = []
    for run in _runs(text[:_MOST_CHARS]):
        if _IS_CJK.match(run):
            found += [run[at : at + 2] for at in range(len(run))]
        else:
            found.append(run[:_LONGEST])
    return found


def terms(query: str) -> list[Term]:
    """What a query asks for, all of it to be found."""
    asked: list[Term] = []
    for run in _runs(query):
        if _IS_CJK.match(run) and len(run) > 1:
            asked.append([run[at : at + 2] for at in range(len(run) - 1)])
        else:
            asked.append([run[:_LONGEST]])
    return asked


def sqlite_query(asked: list[Term]) -> str:
    """An FTS5 expression: phrases, each open at its end."""
    return " AND ".join(f'"{" ".join(term)}"*' for term in asked)


def postgres_query(asked: list[Term]) -> str:
    """A tsquery literal of the same meaning."""
    return " & ".join(
        "(" + " <-> ".join([f"'{token}'" for token in term[:-1]] + [f"'{term[-1]}':*"]) + ")"
        for term in asked
    )


def postgres_vector(text: str) -> str:
    """A tsvector literal with positions; more than 16,383 share the last one."""
    places: dict[str, list[int]] = {}
    size = 0
    for at, token in enumerate(tokens(text), 1):
        if token not in places:
            size += len(token.encode()) + 8
        size += 2
        if size > _MOST_VECTOR_BYTES:
            break
        places.setdefault(token, []).append(min(at, 16_383))
    return " ".join(
        f"'{token}':{','.join(map(str, dict.fromkeys(at[:250])))}" for token, at in places.items()
    )


def snippet(text: str, query: str, *, around: int = 60) -> tuple[str, list[tuple[int, int]]]:
    """A stretch of the text about the first word that was asked for, and where those words stand
    in it (start, end)."""
    pattern = re.compile("|".join(re.escape(run) for run in _runs(query)) or "$^", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, (first.start() if first else 0) - around)
    end = min(len(text), (first.end() if first else 0) + around)
    cut = " ".join(text[start:end].split())
    shown = ("…" if start else "") + cut + ("…" if end < len(text) else "")
    return shown, [match.span() for match in pattern.finditer(shown)]


def _runs(text: str) -> Iterator[str]:
    for match in _RUN.finditer(text.lower()):
        yield match.group()
