"""The public names of the package and its rooms: a change here is a change for others.

`public_names.txt` lists them, one room a line. Whoever adds or takes away a name on purpose
changes that file in the same commit: `python -m tests.house.test_public_names` writes it.
"""

import ast
import importlib
from pathlib import Path

from tests.house.tree import SRC, syntax

LIST = Path(__file__).with_name("public_names.txt")


def rooms() -> list[Path]:
    """The `__init__` of the package and of each room, public sub-rooms included."""
    inner = [SRC / "wire" / "serve" / "__init__.py"]
    return [SRC / "__init__.py", *sorted(SRC.glob("*/__init__.py")), *inner]


def module_name(init: Path) -> str:
    return ".".join(["silu", *init.parent.relative_to(SRC).parts])


def public_names(init: Path) -> list[str]:
    """`__all__` where there is one, else what the file itself defines without an underscore."""
    module = importlib.import_module(module_name(init))
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    defined: set[str] = set()
    for node in syntax(init).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                defined.add(name)
            case ast.ClassDef(name=name):
                defined.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                defined.add(name)
            case _:
                pass
    return sorted(name for name in defined if not name.startswith("_"))


def listing() -> str:
    lines = (f"{module_name(init)}: {' '.join(public_names(init))}".rstrip() for init in rooms())
    return "\n".join(lines) + "\n"


def test_the_public_names_are_the_listed_ones() -> None:
    assert listing() == LIST.read_text()


def test_every_public_name_is_there() -> None:
    for init in rooms():
        module = importlib.import_module(module_name(init))
        for name in public_names(init):
            assert hasattr(module, name), f"{module.__name__}.{name}"


if __name__ == "__main__":
    LIST.write_text(listing())
