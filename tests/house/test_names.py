"""Vendors are data: their names stand in `providers/`, the fakes and the catalogue alone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, SRC, files, show, syntax

ANYWHERE_IN_A_WORD = (
    "openai|anthropic|claude|gemini|deepseek|moonshot|dashscope|qwen|zhipu|bigmodel|minimax|"
    "modelscope|openrouter|siliconflow|cerebras|mistral|ollama|vllm|sglang|llama_?cpp|lm_?studio|"
    "nvidia|bedrock|stepfun|hunyuan|tencent|xiaomi|fireworks|volcengine"
)
AS_A_WORD = "kimi|glm|mimo|xai|grok|groq|azure|vertex|gpt|qiniu|doubao"

VENDOR = re.compile(rf"{ANYWHERE_IN_A_WORD}|(?<![a-z])(?:{AS_A_WORD})(?![a-z])")

FREE_ROOMS = ("providers", "fakes")
DIALECT_WORDS = {"openai", "anthropic", "gemini", "ollama", "mistral", "bedrock"}
"""Dialects are named after who invented them: `wire/` may say these, and the compatible routes."""


KEY_PREFIXES = {"config/secrets.py": {"xai"}, "wire/errors.py": {"xai"}}
"""What masks keys in texts knows how keys begin."""

WIRE_FIELDS = re.compile(r"x_groq")
"""Fields that are so called in the bytes of a dialect."""


def allowed(path: Path) -> set[str]:
    """The vendor words a file may contain beside none at all."""
    inside = path.relative_to(SRC)
    prefixes = KEY_PREFIXES.get(inside.as_posix(), set())
    if inside.parts[0] == "wire":
        return DIALECT_WORDS | prefixes
    if inside.parts[0] == "cli" and inside.name.startswith("wire"):
        return DIALECT_WORDS  # `silu wire` speaks of dialects
    if inside.parts[0] == "gateway" and inside.name.startswith("compat"):
        return {"openai", "anthropic"}
    return prefixes


def words_of_code(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names and strings that do something: comments, docstrings and bare strings are prose."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                yield text, node.lineno
            case ast.Constant(value=bytes(data)):
                yield data.decode("utf-8", "replace"), node.lineno
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name, getattr(node, "lineno", 0)
            case ast.ImportFrom(module=str(name)):
                yield name, node.lineno
            case ast.alias(name=name):
                yield name, getattr(node, "lineno", 0)


def vendors_in(text: str) -> set[str]:
    return set(VENDOR.findall(WIRE_FIELDS.sub("", text.lower())))


def test_python_outside_the_vendors_rooms_names_no_vendor() -> None:
    found: list[str] = []
    for path in files(".py"):
        if SRC not in path.parents or path.relative_to(SRC).parts[0] in FREE_ROOMS:
            continue
        may = allowed(path)
        for text, line in words_of_code(syntax(path)):
            for name in vendors_in(text) - may:
                found.append(f"{show(path)}:{line} says {name!r}")
    assert not found, "\n".join(found)


def test_prompts_and_tool_texts_name_no_vendor() -> None:
    found = [
        f"{show(path)} says {name!r}"
        for path in files(".md")
        if SRC in path.parents and path.relative_to(SRC).parts[0] not in FREE_ROOMS
        for name in vendors_in(path.read_text())
    ]
    assert not found, "\n".join(found)


COMMENT = re.compile(r"/\*.*?\*/|<!--.*?-->|(?<!:)//[^\n]*", re.DOTALL)


def test_the_web_app_names_no_vendor() -> None:
    found: list[str] = []
    for path in files(".ts", ".vue"):
        if ROOT / "web" / "src" not in path.parents:
            continue
        for name in vendors_in(COMMENT.sub("", path.read_text())):
            found.append(f"{show(path)} says {name!r}")
    assert not found, "\n".join(found)
