"""Recorded or written answers on disk, as exchanges in the order they are to be served."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from silu.fakes.answers import Told, read_answer
from silu.fakes.raw import obj
from silu.types.errors import UserError

Form = Literal["sse", "json", "ndjson", "eventstream"]
_TYPES: dict[Form, str] = {
    "sse": "text/event-stream",
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "eventstream": "application/vnd.amazon.eventstream",
}
_SUFFIXES: dict[str, Form] = {
    ".sse": "sse",
    ".json": "json",
    ".ndjson": "ndjson",
    ".eventstream": "eventstream",
    ".txt": "sse",
}


class Exchange(msgspec.Struct, kw_only=True):
    """One answer. `opens` is true where a conversation begins with it; `turn` counts from 1."""

    label: str
    form: Form
    body: bytes
    told: Told
    status: int = 200
    vendor: str | None = None
    model: str | None = None
    turn: int = 1
    opens: bool = True

    @property
    def content_type(self) -> str:
        return _TYPES[self.form]


def load(dialect: str, paths: list[Path]) -> list[Exchange]:
    """The exchanges of all paths. A path is an answer's file, the folder of an exchange or of a
    case with `turn-…` folders, or any folder above such."""
    found = [exchange for path in paths for exchange in _load(dialect, path)]
    if not found:
        raise UserError(
            f"No {dialect} answers were found in {', '.join(map(str, paths))}.",
            code="bad_argument",
            setting="PATH",
            fix="Name a response file or a folder that holds response.* files.",
        )
    return found


def _load(dialect: str, path: Path) -> list[Exchange]:
    if path.is_file():
        return [_exchange(dialect, path, {}, label=path.name)]
    if not path.is_dir():
        raise UserError(f"There is no file or folder {path}.", code="bad_argument", setting="PATH")
    files = sorted(path.glob("response.*"))
    if files:
        meta = _meta(path)
        told = str(meta.get("dialect", dialect))
        if told != dialect:
            raise UserError(
                f"{path} was recorded in the dialect {told}.",
                code="bad_argument",
                setting="--dialect",
                fix=f"Use --dialect {told}.",
            )
        return [_exchange(dialect, files[0], meta, label=path.name)]
    turns = sorted(path.glob("turn-*"), key=lambda turn: int(turn.name.split("-")[1]))
    if turns:
        return _case(dialect, path, turns)
    below = sorted(child for child in path.iterdir() if child.is_dir())
    fitting = [child for child in below if _dialect_below(child) in (dialect, None)]
    return [exchange for child in fitting for exchange in _load(dialect, child)]


def _case(dialect: str, path: Path, turns: list[Path]) -> list[Exchange]:
    out: list[Exchange] = []
    for number, turn in enumerate(turns, start=1):
        (exchange,) = _load(dialect, turn)
        label = f"{path.name}/{turn.name}"
        out.append(msgspec.structs.replace(exchange, label=label, turn=number, opens=number == 1))
    return out


def _dialect_below(path: Path) -> str | None:
    """The dialect that the first recording below a folder is in."""
    for meta in sorted(path.rglob("meta.json")):
        return str(_meta(meta.parent).get("dialect"))
    return None


def _meta(folder: Path) -> dict[str, Any]:
    file = folder / "meta.json"
    if not file.is_file():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise UserError(f"{file} is not JSON: {error}.", code="bad_argument") from error


def _exchange(dialect: str, file: Path, meta: dict[str, Any], *, label: str) -> Exchange:
    body = file.read_bytes()
    form = _SUFFIXES.get(file.suffix) or _guess(body)
    told = read_answer(dialect, body, form=form)
    return Exchange(
        label=label,
        form=form,
        body=body,
        told=told,
        status=int(meta.get("status") or _status(body, form)),
        vendor=meta.get("vendor"),
        model=meta.get("model") or told.model,
    )


def _guess(body: bytes) -> Form:
    return "json" if body.lstrip().startswith((b"{", b"[")) else "sse"


def _status(body: bytes, form: Form) -> int:
    """The status of a body without metadata: a whole error document was a refusal."""
    if form != "json":
        return 200
    try:
        value = obj(msgspec.json.decode(body)) or {}
    except msgspec.DecodeError:
        return 200
    failed = value.get("type") == "error" or ("error" in value and "choices" not in value)
    return 400 if failed and value.get("error") else 200
