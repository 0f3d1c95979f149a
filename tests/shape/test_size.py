"""How large things may grow: a module fits on a few screens, a function on one (house 1)."""

import ast
import re
import statistics
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path

import grimp
import pytest

from inbox.store.sqlfile import parse
from tests.conftest import ROOT

PACKAGES = ("ucan", "inbox", "ops", "venue")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
SCRIPTS = sorted((ROOT / "venue" / "web").glob("*.js"))
MOST_LINES = 400
MOST_IN_FUNCTION = 60


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_and_its_functions_stay_small(path: Path) -> None:
    """No module above 400 lines, no function above 60."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    long = [
        node.name for node in _functions(path) if (node.end_lineno or 0) - node.lineno >= MOST_IN_FUNCTION
    ]
    assert not long


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_module_of_the_page_stays_small(path: Path) -> None:
    """As those in Python, and it begins by saying what it is."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith("// ")


def test_the_usual_module_and_function_are_short() -> None:
    """The median module has at most 150 lines, the median function at most 10."""
    modules = [len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES]
    functions = [(node.end_lineno or 0) - node.lineno + 1 for path in MODULES for node in _functions(path)]
    assert statistics.median(modules) <= 150
    assert statistics.median(functions) <= 10


def _is_public(node: ast.stmt) -> bool:
    """A class or function that others may use; an overload says nothing that its function does not."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    overloads = any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list)
    return not node.name.startswith("_") and not overloads


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_public_things_say_what_they_decide(path: Path) -> None:
    """Every module, and every public class and function in it, has a docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not tree.body:
        return
    assert ast.get_docstring(tree), "the module has no docstring"
    for node in tree.body:
        if _is_public(node):
            assert ast.get_docstring(node), node.name


def test_empty_packages_stay_empty() -> None:
    """`inbox` and `venue` load nothing that whoever imports a part of them does not use."""
    for package in ("inbox", "venue"):
        assert (ROOT / package / "__init__.py").read_text(encoding="utf-8") == ""


def test_no_module_imports_in_a_circle() -> None:
    """Inside a package the modules stand in a line, too: a module imports only what stands above it."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=False)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert list(TopologicalSorter(imports).static_order())


def test_sql_is_only_where_it_belongs() -> None:
    """Statements stand in files; no module of the venue holds any."""
    words = re.compile(r"\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b")
    allowed = {"inbox/store/sqlite.py"}
    for path in MODULES:
        name = str(path.relative_to(ROOT))
        if name not in allowed and not name.startswith("inbox/gates/"):
            assert not words.search(path.read_text(encoding="utf-8")), name


@pytest.mark.parametrize(("package", "file"), [("inbox", "sql/inbox.sql"), ("ops", "sql/ops.sql")])
def test_every_statement_is_used(package: str, file: str) -> None:
    """A named statement that no module names is dead."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    statements = parse(files(package).joinpath(file).read_text(encoding="utf-8"))
    unused = [name for name in statements if f'"{name.partition("_by_")[0]}"' not in source]
    assert not unused
