"""Which recorded turn the demo plays: a pure function of the request that came.

The turns' texts are in `demo_data/`. A turn of several steps keeps no state: where it stands is
read from the calls and results that the request carries, so a run that is resumed, regenerated or
forked goes on where it should.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from silu.types.calls import CallRequest
from silu.types.levels import Level, LevelChoice
from silu.types.parts import TextPart, ToolCallPart, ToolResultPart

_DATA = Path(__file__).with_name("demo_data")
# A word from silu itself stands in a tag that is named per session.
_NOTICE = re.compile(r"<(silu-[0-9a-f]+)>.*?</\1>", re.DOTALL)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_THINK = re.compile(
    r"\bthink (?:hard |carefully )?about\b|想一想|想想|想一下|思考一下", re.IGNORECASE
)
_HELLO = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|evening))\b|\W*(?:你好|您好|嗨)", re.IGNORECASE
)
_CONTINUITY = re.compile(
    r"continuity|how (?:does|do|is) .*th(?:ink|ought)|思考.*(?:延续|连续|保留|怎|如何)",
    re.IGNORECASE,
)
_SEARCH = re.compile(
    r"\b(?:search|grep|look|find)\b(?: the workspace)?(?: for)?\s+(.+)"
    r"|(?:搜索|查找|搜一下|找一下)\s*(.+)",
    re.IGNORECASE,
)
_READ = re.compile(
    r"\b(?:read|open|show)\b\s+[`\"']?([\w./-]+\.\w+)"
    r"|(?:打开|读一下|读|查看|看看)\s*[`“]?([\w./-]+\.\w+)",
    re.IGNORECASE,
)
_QUOTES = " \t\"'`“”‘’「」《》.?!。？！"
_ENTRY = re.compile(r"(?P<path>.+?)(?: \((?P<size>[\d.]+ (?:B|kB|MB))\)|/)")
_TELLING = (
    re.compile(r"readme(\.\w+)?", re.IGNORECASE),
    re.compile(r"pyproject\.toml|package\.json|Cargo\.toml|go\.mod|pom\.xml|Makefile"),
    re.compile(r".+\.(?:md|rst|txt)", re.IGNORECASE),
    re.compile(r".+\.(?:py|js|ts|go|rs|c|h|java|rb|sh|toml|json|ya?ml|html|css|csv)"),
)
_SHARES: dict[LevelChoice, float] = {
    Level.OFF: 0,
    Level.MINIMAL: 1 / 3,
    Level.LOW: 1 / 3,
    Level.MEDIUM: 2 / 3,
    "default": 2 / 3,
}


Words = dict[str, str]


class DemoCall(msgspec.Struct, frozen=True):
    name: str
    args: dict[str, Any]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What one model call answers: thought, then text, then calls; each may be missing."""

    thought: str = ""
    text: str = ""
    calls: tuple[DemoCall, ...] = ()


class _Scene:
    """The request as the demo reads it: the person's words, and this turn's calls and results."""

    def __init__(self, call: CallRequest, body: dict[str, Any], size: int) -> None:
        self.call = call
        self.body = body
        self.size = size
        self.said: list[str] = []
        self.results: dict[str, str] = {}
        self.called: list[str] = []
        self.reminded = False
        self._read(call)
        self.user = self.said[-1] if self.said else ""
        self.texts = _texts("zh" if _CHINESE.search(self.user) else "en")
        usable = call.tool_choice != "none"
        self.tools = {tool.name for tool in call.tools} if usable else set[str]()

    def _read(self, call: CallRequest) -> None:
        names: dict[str, str] = {}
        for message in call.messages:
            if message.role == "user":
                whole = "".join(p.text for p in message.parts if isinstance(p, TextPart))
                plain = _NOTICE.sub("", whole).strip()
                self.reminded = not plain and bool(whole)
                if plain:
                    self.said.append(plain)
                    self.results, self.called = {}, []
            for part in message.parts:
                if isinstance(part, ToolCallPart):
                    self.reminded = False
                    names[part.call_id] = part.name
                    self.called.append(part.name)
                elif isinstance(part, ToolResultPart):
                    # A notice behind a result is a reminder too, unless the turn has more to do.
                    name = names.get(part.call_id, "")
                    self.results[name] = _NOTICE.sub("", part.shown).strip()

    def paragraphs(
        self, text: str, words: Words | None = None, *, share: float | None = None
    ) -> str:
        """A thought at this request's level: the first paragraphs of it."""
        part = _SHARES.get(self.call.level, 1.0) if share is None else share
        whole = text.strip().split("\n\n")
        kept = whole[: max(1, round(len(whole) * part))] if part else []
        return fill("\n\n".join(kept), words)


@cache
def _texts(language: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / f"{language}.toml").read_text(encoding="utf-8"))


def fill(text: str, words: Words | None = None) -> str:
    """`text` with each `$word` that is given replaced, in one pass."""
    if not words:
        return text.strip()
    given = dict(words)
    names = "|".join(sorted(given, key=len, reverse=True))
    return re.sub(rf"\$({names})\b", lambda found: given[found[1]], text).strip()


def next_step(call: CallRequest, body: dict[str, Any], size: int) -> Step:
    """The demo's answer to a request; `size` is that of its JSON in bytes."""
    scene = _Scene(call, body, size)
    if scene.reminded and "todo" in scene.tools and len(scene.said) > 1:
        return _tidy(scene)
    if _THINK.search(scene.user):
        return _think(scene)
    if len(scene.said) <= 1:
        return _tour(scene)
    return _follow_up(scene)


def _follow_up(scene: _Scene) -> Step:
    texts, user = scene.texts, scene.user
    if scene.called[-1:] == ["todo"] and "search_files" not in scene.called:
        return Step(text=fill(texts["tidy"]["answer"]))
    if found := _READ.search(user):
        return _read(scene, found[1] or found[2])
    if found := _SEARCH.search(user):
        return _search(scene, (found[1] or found[2]).strip(_QUOTES)[:80])
    if _CONTINUITY.search(user):
        return _plain(scene, texts["continuity"])
    if _HELLO.match(user):
        return _plain(scene, texts["hello"])
    return _other(scene)


def _plain(scene: _Scene, turn: dict[str, str], words: Words | None = None) -> Step:
    return Step(thought=scene.paragraphs(turn["think"], words), text=fill(turn["answer"], words))


def _think(scene: _Scene) -> Step:
    turn = scene.texts["think"]
    shares: dict[LevelChoice, float] = {Level.OFF: 0, Level.MINIMAL: 0.25, Level.LOW: 0.5}
    share = shares.get(scene.call.level, 1.0)
    return Step(thought=scene.paragraphs(turn["think"], share=share), text=fill(turn["answer"]))


def _other(scene: _Scene) -> Step:
    turns: list[dict[str, str]] = scene.texts["other"]
    turn = turns[(len(scene.said) - 2) % len(turns)]
    words = {
        "turn": str(len(scene.said)),
        "model": scene.call.model,
        "wire": _wire(scene),
        "messages": str(len(scene.call.messages)),
        "tools": str(len(scene.call.tools)),
        "size": f"{scene.size / 1000:.1f} kB",
    }
    return _plain(scene, turn, words)


def _wire(scene: _Scene) -> str:
    names = ("reasoning_effort", "thinking", "output_config")
    fields = [
        f"`{name}: {msgspec.json.encode(scene.body[name]).decode()}`"
        for name in names
        if name in scene.body
    ]
    return ", ".join(fields) or scene.texts["phrases"]["no_field"]


# ---------------------------------------------------------------------------- the tour


def _tour(scene: _Scene) -> Step:
    turn = scene.texts["tour"]
    if "list_files" not in scene.tools and "list_files" not in scene.called:
        text = fill(turn["answer"], {"real": "", "found": fill(turn["found_plain"])})
        return Step(thought=scene.paragraphs(turn["plain_think"]), text=text)
    if "list_files" not in scene.called:
        calls = (*_todo(scene, 0), DemoCall("list_files", {"depth": 2}))
        return Step(thought=scene.paragraphs(turn["think"]), calls=calls)
    words = _findings(scene)
    if "read_file" in scene.tools and "read_file" not in scene.called and words["file"]:
        calls = (*_todo(scene, 1), DemoCall("read_file", {"path": words["file"], "max_lines": 40}))
        return Step(thought=scene.paragraphs(turn["listed_think"], words), calls=calls)
    settled = _todo(scene, 3)
    if settled and scene.called.count("todo") < (3 if words["file"] else 2):
        text = turn["read_think" if words["first"] else "nothing_think"]
        return Step(thought=scene.paragraphs(text, words), calls=settled)
    if words["first"]:
        found = turn["found"]
    else:
        found = turn["found_empty" if _is_empty(scene) else "found_nothing"]
    answer = fill(turn["answer"], {"real": turn["real"], "found": fill(found, words)})
    return Step(thought=scene.paragraphs(turn["answer_think"]), text=answer)


def _todo(scene: _Scene, done: int) -> tuple[DemoCall, ...]:
    """The list with its first `done` items finished and the next one begun."""
    if "todo" not in scene.tools:
        return ()
    todos: list[dict[str, str]] = []
    opened = "read_file" in scene.called
    for number, content in enumerate(scene.texts["tour"]["todos"]):
        status = "completed" if number < done else "pending"
        if number == done:
            status = "in_progress"
        todo = {"id": str(number + 1), "content": content, "status": status}
        if done == 3 and number == 1 and not opened:
            todo |= {"status": "cancelled", "reason": _findings(scene)["trouble"]}
        todos.append(todo)
    return (DemoCall("todo", {"todos": todos}),)


def _tidy(scene: _Scene) -> Step:
    """Silu says that items are open after the person moved on: settle the tour's list."""
    turn = scene.texts["tidy"]
    todos = [
        {"id": str(number + 1), "content": content, "status": "cancelled", "reason": turn["reason"]}
        for number, content in enumerate(scene.texts["tour"]["todos"])
    ]
    return Step(calls=(DemoCall("todo", {"todos": todos, "merge": True}),))


def _findings(scene: _Scene) -> dict[str, str]:
    """What the tools gave, in words for the texts; `file` and `first` may be empty."""
    listing = scene.results.get("list_files", "")
    entries = [found for line in listing.splitlines() if (found := _ENTRY.fullmatch(line))]
    names = [f"`{entry[0].split(' (')[0]}`" for entry in entries if "/" not in entry["path"]]
    phrases = scene.texts["phrases"]
    shown = names[:4]
    file = _telling([entry["path"] for entry in entries if entry["size"]])
    joined = phrases["comma"].join(shown[:-1]) + phrases["and"] + shown[-1] if shown[1:] else ""
    return {
        "count": str(len(names)),
        "names": joined or "".join(shown),
        "file": file,
        "first": _first_line(scene.results.get("read_file", "")),
        "trouble": _trouble(scene, has_entries=bool(entries), file=file),
    }


def _is_empty(scene: _Scene) -> bool:
    """Whether the listing says that there is nothing in the workspace."""
    return scene.results.get("list_files", "").strip() in ("", ".: nothing found")


def _trouble(scene: _Scene, *, has_entries: bool, file: str) -> str:
    """Why there is no file to report on: what a tool said, or what its listing means."""
    if refusal := scene.results.get("read_file"):
        return _one_line(refusal)
    phrases = scene.texts["phrases"]
    if _is_empty(scene):
        return phrases["empty"]
    if not has_entries:
        return _one_line(scene.results.get("list_files", ""))
    return phrases["no_tool" if file else "no_text"]


def _telling(paths: list[str]) -> str:
    """The file that says most about a folder, or nothing."""
    near = sorted(paths, key=lambda path: (path.count("/"), path.lower()))
    for pattern in _TELLING:
        for path in near:
            if pattern.fullmatch(path.rpartition("/")[2]):
                return path
    return ""


def _numbered(shown: str) -> list[str]:
    """The file's own lines in what `read_file` shows."""
    return [line.split("\t", 1)[1] for line in shown.splitlines() if re.match(r" *\d+\t", line)]


def _first_line(shown: str) -> str:
    for line in _numbered(shown):
        plain = line.strip(" \t#*=->`_/").strip()
        if any(char.isalnum() for char in plain):
            return _one_line(plain)
    return ""


def _one_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return f"{line[:117]}…" if len(line) > 118 else line


# ---------------------------------------------------------------------------- single tools


def _search(scene: _Scene, word: str) -> Step:
    turn = scene.texts["search"]
    if "search_files" not in scene.called:
        if "search_files" not in scene.tools:
            return Step(text=fill(turn["plain"], {"word": word}))
        args = {"pattern": word, "literal": True, "ignore_case": True}
        thought = scene.paragraphs(turn["think"], {"word": word})
        return Step(thought=thought, calls=(DemoCall("search_files", args),))
    lines = scene.results.get("search_files", "").splitlines()
    hits = [line for line in lines if re.match(r".+?:\d+:", line)]
    phrases = scene.texts["phrases"]
    words = {"0": phrases["no_hits"], "1": phrases["one_hit"]}
    count = words.get(str(len(hits))) or fill(phrases["hits"], {"count": str(len(hits))})
    shown = _fenced([line[:160] for line in hits[:5] or lines[:1]])
    text = fill(turn["answer"], {"word": word, "hits": count, "shown": f"```text\n{shown}\n```"})
    return Step(thought=scene.paragraphs(turn["result_think"], {"hits": count}), text=text)


def _read(scene: _Scene, path: str) -> Step:
    turn = scene.texts["read"]
    if "read_file" not in scene.called:
        if "read_file" not in scene.tools:
            return Step(text=fill(turn["plain"], {"file": path}))
        thought = scene.paragraphs(turn["think"], {"file": path})
        call = DemoCall("read_file", {"path": path, "max_lines": 40})
        return Step(thought=thought, calls=(call,))
    result = scene.results.get("read_file", "")
    shown = _fenced((_numbered(result) or result.splitlines())[:12])
    text = fill(turn["answer"], {"file": path, "shown": shown})
    return Step(thought=scene.paragraphs(turn["result_think"]), text=text)


def _fenced(lines: list[str]) -> str:
    """Lines that cannot close the code block they are shown in."""
    return "\n".join(lines).replace("```", "'''").rstrip()
