"""What a search over the sessions gives."""

from typing import Literal

import msgspec

SearchScope = Literal["answer", "thought"]
"""`answer` is what was said (by the person too), `thought` what was thought."""


class SearchHit(msgspec.Struct, kw_only=True):
    """A message that was found: `snippet` is plain text, `marks` the places (start, end), in
    code points of it, of what was looked for."""

    session_id: str
    title: str
    message_id: str
    role: str
    scope: SearchScope
    snippet: str
    marks: list[tuple[int, int]]
    created_at: int


class SearchResult(msgspec.Struct, kw_only=True):
    """Newest first. `more`: there are further hits beyond the limit."""

    hits: list[SearchHit]
    more: bool
