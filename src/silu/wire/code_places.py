"""Where code stands in Markdown text that is still growing."""


class CodePlaces:
    """Whether a place in Markdown lies in a code fence or in inline code.

    Text is only looked at when a tag shows up: until then it is merely remembered.
    """

    __slots__ = ("_fence", "_line", "_waiting")

    def __init__(self) -> None:
        self._fence = ""
        self._line = ""
        self._waiting: list[str] = []

    def later(self, text: str) -> None:
        self._waiting.append(text)

    def open_after(self, text: str) -> bool:
        """Is the place behind all remembered text and `text` inside code?"""
        lines = "".join([self._line, *self._waiting]).split("\n")
        self._waiting.clear()
        for line in lines[:-1]:
            self._whole(line)
        self._line = lines[-1]
        fence, last = self._fence, self._line
        for line in (last + text).split("\n")[:-1]:
            self._whole(line)
        inside = bool(self._fence) or _ticks_open((last + text).rsplit("\n", 1)[-1])
        self._fence = fence
        return inside

    def _whole(self, line: str) -> None:
        body = line.lstrip(" ")
        if len(line) - len(body) > 3:
            return
        mark = body[:1]
        if mark not in ("`", "~"):
            return
        run = len(body) - len(body.lstrip(mark))
        if run < 3:
            return
        if not self._fence:
            if mark != "`" or "`" not in body[run:]:
                self._fence = mark * run
        elif self._fence[0] == mark and run >= len(self._fence) and not body[run:].strip():
            self._fence = ""


def _ticks_open(line: str) -> bool:
    """Does the line end inside inline code? A run of back quotes is closed by a like run."""
    opened = run = 0
    for char in line + " ":
        if char == "`":
            run += 1
            continue
        if run:
            if not opened:
                opened = run
            elif opened == run:
                opened = 0
        run = 0
    return bool(opened)
