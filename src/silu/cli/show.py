"""What `silu ask` makes of frames: text as it comes, or one JSON object at the end."""

import sys
from typing import Any, Protocol

import msgspec

Frame = dict[str, Any]

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class Sink(Protocol):
    """Takes the frames of one run."""

    run_id: str | None

    def take(self, frame: Frame) -> None: ...

    def notice(self, text: str) -> None: ...

    def finish(self, session_id: str, done: Frame) -> None: ...

    def broken(self) -> None:
        """The run was lost from sight; what went wrong is told elsewhere, on a line of its own."""
        ...


class Texts:
    """The text of each block as far as it has come, whatever way it came.

    A delta repeats nothing that is known; a snapshot brings whole blocks; a higher attempt at a
    message takes back what lower ones showed of it.
    """

    def __init__(self) -> None:
        self.blocks: dict[str, list[str]] = {}
        self.kinds: dict[str, str] = {}
        self._lengths: dict[str, int] = {}
        self._attempts: dict[str, int] = {}
        self._messages: dict[str, str] = {}

    def new_text(self, block: Frame, text: str, offset: int) -> str:
        """What of `text` (at `offset` code points of its block) was not known yet."""
        block_id = str(block["block_id"])
        self._enter(str(block["message_id"]), int(block["attempt"]))
        if block_id not in self.blocks:
            self._messages[block_id] = str(block["message_id"])
            self.kinds[block_id] = str(block["kind"])
            self.blocks[block_id] = []
            self._lengths[block_id] = 0
        fresh = text[max(0, self._lengths[block_id] - offset) :]
        self.blocks[block_id].append(fresh)
        self._lengths[block_id] += len(fresh)
        return fresh

    def _enter(self, message_id: str, attempt: int) -> None:
        if attempt <= self._attempts.get(message_id, -1):
            return
        self._attempts[message_id] = attempt
        for block_id in [b for b, its in self._messages.items() if its == message_id]:
            for table in (self.blocks, self.kinds, self._lengths, self._messages):
                table.pop(block_id, None)

    def joined(self, kind: str) -> list[str]:
        return ["".join(self.blocks[key]) for key, its in self.kinds.items() if its == kind]


def fresh_texts(texts: Texts, frame: Frame) -> list[tuple[str, str, str]]:
    """The new text a frame brings: (kind, block id, text) for each block it touches."""
    data = frame["data"]
    match frame["type"]:
        case "thinking_delta" | "content_delta" | "tool_call_delta":
            blocks, offset = [data], int(data["offset"])
        case "snapshot":
            blocks, offset = data["blocks"], 0
        case _:
            return []
    found = [(b["kind"], b["block_id"], texts.new_text(b, b["text"], offset)) for b in blocks]
    return [item for item in found if item[2]]


class Printer:
    """Thinking and notices to stderr, answer text to stdout, each as it comes."""

    def __init__(self, *, quiet: bool) -> None:
        self.run_id: str | None = None
        self._quiet = quiet
        self._texts = Texts()
        self._tty = sys.stderr.isatty()
        self._open: str | None = None
        self._kind = ""
        self._answered = False

    def take(self, frame: Frame) -> None:
        for kind, block_id, text in fresh_texts(self._texts, frame):
            if kind == "content":
                self._answer(block_id, text)
            elif kind == "thinking":
                self._think(block_id, text)
        if not self._quiet:
            self._tell(frame["type"], frame["data"])

    def notice(self, text: str) -> None:
        if not self._quiet:
            self._end_block()
            sys.stderr.write(f"· {text}\n")
            sys.stderr.flush()

    def finish(self, session_id: str, done: Frame) -> None:
        self._end_block()
        error = done.get("error")
        if error:
            setting = f" (setting: {error['setting']})" if error.get("setting") else ""
            sys.stderr.write(f"silu: {error['message']}{setting}\n")
        elif done["status"] == "cancelled":
            sys.stderr.write("silu: stopped\n")
        elif done["status"] != "completed":
            sys.stderr.write(f"silu: {done['status']}: {done.get('reason') or 'unknown'}\n")

    def broken(self) -> None:
        self._end_block()

    def _answer(self, block_id: str, text: str) -> None:
        if self._open != block_id:
            self._end_block()
            if self._answered:
                # Two blocks of one answer (a tool ran between) stay two paragraphs.
                sys.stdout.write("\n")
            self._open, self._kind, self._answered = block_id, "content", True
        sys.stdout.write(text)
        sys.stdout.flush()

    def _think(self, block_id: str, text: str) -> None:
        if self._quiet:
            return
        if self._open != block_id:
            self._end_block()
            self._open, self._kind = block_id, "thinking"
            if self._tty:
                sys.stderr.write(_DIM)
        sys.stderr.write(text)
        sys.stderr.flush()

    def _end_block(self) -> None:
        if self._open is None:
            return
        if self._kind == "content":
            sys.stdout.write("\n")
            sys.stdout.flush()
        else:
            sys.stderr.write(f"{_PLAIN}\n" if self._tty else "\n")
            sys.stderr.flush()
        self._open = None

    def _tell(self, kind: str, data: Frame) -> None:
        match kind:
            case "run_start":
                level = data["level"]
                self.notice(f"{data['model']} · thinking {level['effective']}")
                for note in level["notes"]:
                    self.notice(note)
            case "tool_call_done":
                self.notice(f"{data['name']} {_short(data['arguments'])}")
            case "tool_result":
                self.notice(f"{data['name']}: {data['status']}")
            case "notice":
                self.notice(data["text"])
            case "todo_update":
                summary = data["summary"]
                self.notice(f"todo {summary['completed']}/{summary['total']}")
            case _:
                return


class Collected:
    """One JSON object at the end of the run."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        self._texts = Texts()
        self._start: Frame = {}
        self._calls: list[Frame] = []
        self._results: list[Frame] = []
        self._todos: list[Frame] = []
        self._notices: list[str] = []

    def take(self, frame: Frame) -> None:
        fresh_texts(self._texts, frame)
        data = frame["data"]
        match frame["type"]:
            case "run_start":
                self._start = data
            case "tool_call_done":
                self._calls.append({k: data[k] for k in ("call_id", "name", "arguments")})
            case "tool_result":
                self._results.append({k: data[k] for k in ("call_id", "name", "status", "summary")})
            case "todo_update":
                self._todos = data["todos"]
            case "notice":
                self._notices.append(data["text"])
            case _:
                return

    def notice(self, text: str) -> None:
        self._notices.append(text)

    def broken(self) -> None:
        """Half an object is none: nothing is written."""

    def finish(self, session_id: str, done: Frame) -> None:
        told = {
            "session_id": session_id,
            "run_id": self.run_id,
            "model": self._start.get("model"),
            "level": self._start.get("level"),
            "thinking": self._texts.joined("thinking"),
            "answer": "\n".join(self._texts.joined("content")),
            "tool_calls": self._calls,
            "tool_results": self._results,
            "todos": self._todos,
            "notices": self._notices,
            "status": done["status"],
            "reason": done.get("reason"),
            "finish_reason": done.get("finish_reason"),
            "usage": done.get("usage"),
            "error": done.get("error"),
        }
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")


def _short(text: str, limit: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
