"""The shape of the package as rules over its syntax trees: layers, order, sizes, names.

A rule is a function from one `Module` to the complaints about it, and is run over every module of
the package. tests/test_architecture_rules.py shows that each rule refuses what it should.
"""

import ast
import re
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import pytest

from minipaddle.imperative import functions
from minipaddle.ops.op import OPS
from tests.architecture_tables import (
    BOUND_OPS_IN,
    DEVICE_WORDS,
    DEVICE_WORDS_IN,
    INPLACE_OPS_IN,
    LAYERS,
    LOCAL_IMPORTS,
    LONG_FUNCTIONS,
    MAX_CORE_LINES,
    MAX_FILE_LINES,
    MAX_FUNCTION_LINES,
    MAX_LINES_OF_AN_OP,
    MAX_PARAMETERS,
    NOT_CORE,
    OF_OPS,
    ONLY_IN,
    OPTIONAL_EXTRAS,
    ORDER,
    ROOT,
    SUBJECTS,
    TRAILING_UNDERSCORE,
    TYPES_ALONE_IN,
    VAGUE_FILES,
    VAGUE_FILES_OF_PADDLE,
    WIDE_SIGNATURES,
)


@dataclass
class Module:
    """One source file: its path below the package and its syntax tree."""

    path: str
    source: str
    known: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def name(self) -> str:
        """Dotted name below the package: ops.kernels.cpu.linalg; "" is the package itself."""
        return self.path.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".")

    def below(self, places: Iterable[str]) -> bool:
        return any(self.path == p or (p.endswith("/") and self.path.startswith(p)) for p in places)

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Every function with its key in the tables of exceptions."""

        def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
            for child in ast.iter_child_nodes(node):
                named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                inner = f"{prefix}.{child.name}".lstrip(".") if named else prefix
                if named and not isinstance(child, ast.ClassDef):
                    yield f"{self.path}:{inner}", child
                yield from walk(child, inner)

        return walk(self.tree, "")

    def imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Every import statement that is run, with the full name of what it binds."""
        blocks = [n for n in ast.walk(self.tree) if isinstance(n, ast.If)]
        blocks = [n for n in blocks if is_name(n.test, "TYPE_CHECKING")]
        unread = {id(node) for block in blocks for node in ast.walk(block)}
        for node in ast.walk(self.tree):
            if id(node) in unread:  # a type checker's only
                continue
            if isinstance(node, ast.Import):
                yield from ((node, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)

    def own_imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Modules of the package that this one imports, as names below the package."""
        for node, full in self.imports():
            root, _, target = full.partition(".")
            if root == "minipaddle":
                if isinstance(node, ast.ImportFrom) and target not in self.known:
                    target = target.rpartition(".")[0]
                yield node, target


def rule_imports_point_down(module: Module) -> Iterator[str]:
    for node, target in module.own_imports():
        mine, theirs = module.name.split("."), target.split(".")
        shared = 0
        while shared < min(len(mine), len(theirs)) and mine[shared] == theirs[shared]:
            shared += 1
        if shared == len(mine) or module.name == "":
            continue  # a package's __init__ collects its own modules
        what = f"{module.path}:{node.lineno} imports {target or 'the package itself'}"
        if shared == len(theirs) or target == "":
            yield f"{what}, the package that it is part of"
        elif shared == 0:
            if LAYERS.get(theirs[0], 99) >= LAYERS.get(mine[0], -1):
                yield f"{what}: {mine[0]} may not import {theirs[0]}"
        else:
            order = ORDER.get(".".join(mine[:shared]), [])
            if (
                mine[shared] not in order
                or theirs[shared] not in order[: order.index(mine[shared])]
            ):
                yield f"{what}: ORDER does not list {theirs[shared]} before {mine[shared]}"


def rule_absolute_imports(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"{module.path}:{node.lineno} relative import"


def rule_restricted_libraries(module: Module) -> Iterator[str]:
    for node, full in module.imports():
        root = full.partition(".")[0]
        if root in ONLY_IN and not module.below(ONLY_IN[root]):
            yield f"{module.path}:{node.lineno} imports {root}; only {ONLY_IN[root]} may"


def rule_environment_is_read_in_device(module: Module) -> Iterator[str]:
    readers = {"environ", "environb", "getenv", "putenv", "unsetenv"}
    for node in ast.walk(module.tree):
        names = {node.attr} if isinstance(node, ast.Attribute) else set()
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            names = {alias.name for alias in node.names}
        if isinstance(node, ast.Attribute) and not is_name(node.value, "os"):
            continue
        if names & readers and not module.below(ONLY_IN["os.environ"]):
            yield f"{module.path}:{node.lineno} uses the environment; see device/flags.py"


def rule_imports_at_the_top(module: Module) -> Iterator[str]:
    for key, function in module.functions():
        local = {id(node) for node in ast.walk(function)}
        for node, full in module.imports():
            lazy = full.partition(".")[0] in OPTIONAL_EXTRAS or key in LOCAL_IMPORTS
            if id(node) in local and not lazy:
                yield f"{key} imports {full} at line {node.lineno}, inside a function"


def rule_no_type_checking(module: Module) -> Iterator[str]:
    if module.below(TYPES_ALONE_IN):
        return
    for node in ast.walk(module.tree):
        named = getattr(node, "id", None) or getattr(node, "attr", None)
        aliases = [a.name for a in node.names] if isinstance(node, ast.ImportFrom) else []
        if "TYPE_CHECKING" in [named, *aliases]:
            yield f"{module.path}:{node.lineno} TYPE_CHECKING"


def rule_file_size(module: Module) -> Iterator[str]:
    lines = len(module.source.splitlines())
    if lines > MAX_FILE_LINES:
        yield f"{module.path} has {lines} lines, limit {MAX_FILE_LINES}"


def rule_function_size(module: Module) -> Iterator[str]:
    for key, function in module.functions():
        lines = code_lines(function)
        if lines > MAX_FUNCTION_LINES and key not in LONG_FUNCTIONS:
            yield f"{key} has {lines} lines without its docstring, limit {MAX_FUNCTION_LINES}"


def rule_parameters(module: Module) -> Iterator[str]:
    for key, function in module.functions():
        a = function.args
        names = [arg.arg for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs]]
        count = len([name for name in names if name not in {"self", "cls"}])
        excused = key in WIDE_SIGNATURES or module.below(WIDE_SIGNATURES)
        if count > MAX_PARAMETERS and not excused:
            yield f"{key} has {count} parameters, limit {MAX_PARAMETERS}"


def rule_no_vague_files(module: Module) -> Iterator[str]:
    vague = VAGUE_FILES & set(module.name.split("."))
    if vague and module.name not in VAGUE_FILES_OF_PADDLE:
        yield f"{module.path}: {vague.pop()} does not say what is inside"


def rule_no_device_ladders(module: Module) -> Iterator[str]:
    if module.below(DEVICE_WORDS_IN):
        return
    for node in ast.walk(module.tree):
        found: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            found = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            found = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = list(node.args) if node.func.attr in {"startswith", "endswith", "find"} else []
        literals = [leaf for part in found for leaf in [part, *getattr(part, "elts", [])]]
        if any(isinstance(x, ast.Constant) and x.value in DEVICE_WORDS for x in literals):
            yield f"{module.path}:{node.lineno} asks for a kind of device; ask its Backend"
        check = isinstance(node, ast.Call) and is_name(node.func, "isinstance")
        if check and any(is_name(leaf, "cupy") for leaf in ast.walk(node)):
            yield f"{module.path}:{node.lineno} isinstance(..., cupy); ask the Backend"


def rule_trailing_underscores(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        stored = isinstance(getattr(node, "ctx", None), ast.Store)
        function = isinstance(node, ast.FunctionDef)
        name = ""
        if function or isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif stored and isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
        if not re.fullmatch(r".*[^_]_", name) or name in TRAILING_UNDERSCORE:
            continue
        bound = isinstance(node, ast.Name) and module.below(BOUND_OPS_IN)
        if not (bound or (function and module.below(INPLACE_OPS_IN))):
            yield f"{module.path}:{node.lineno} {name}: the underscore is for in-place ops"


RULES: list[Callable[[Module], Iterator[str]]] = [
    value for name, value in list(globals().items()) if name.startswith("rule_")
]


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def code_lines(function: ast.FunctionDef) -> int:
    """Lines of a function from its def on, without its docstring."""
    total = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return total
    return total - (function.body[0].end_lineno - function.body[0].lineno + 1)


def load(folder: str) -> list[Module]:
    base = ROOT / folder
    paths = {p.relative_to(base).as_posix(): p.read_text("utf-8") for p in base.rglob("*.py")}
    known = frozenset(Module(path, "").name for path in paths)
    return [Module(path, source, known) for path, source in sorted(paths.items())]


PACKAGE = load("minipaddle")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_package_keeps(rule: Callable[[Module], Iterator[str]]) -> None:
    assert PACKAGE, "the package was not found"
    complaints = dict.fromkeys(complaint for module in PACKAGE for complaint in rule(module))
    assert not complaints, "\n" + "\n".join(complaints)


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "tests"])
def test_other_folders_keep_the_sizes(folder: str) -> None:
    rules = [rule_file_size, rule_no_vague_files]
    rules += [rule_function_size, rule_parameters] if folder != "tests" else []
    complaints = [c for module in load(folder) for rule in rules for c in rule(module)]
    assert not complaints, "\n" + "\n".join(complaints)


def test_exceptions_are_still_needed() -> None:
    """A table of exceptions names only functions that exist."""
    functions = {key for module in PACKAGE for key, _ in module.functions()}
    keys = [k for t in (LOCAL_IMPORTS, LONG_FUNCTIONS, WIDE_SIGNATURES) for k in t if ":" in k]
    assert set(keys) <= functions, sorted(set(keys) - functions)


def test_package_size() -> None:
    sizes = {module.path: len(module.source.splitlines()) for module in PACKAGE}
    core = sum(code_only(module) for module in PACKAGE if not module.below(NOT_CORE))
    ops = sum(code_only(module) for module in PACKAGE if module.below(OF_OPS))
    composed = {path.rpartition(".")[2] for m in vars(functions).values() for path in api(m)}
    count = len(OPS) + len(composed)
    print_report(sizes, core, ops / count, count)
    assert core <= MAX_CORE_LINES
    for subject, limit in SUBJECTS.items():
        assert sum(code_only(module) for module in PACKAGE if module.below([subject])) <= limit
    assert ops / count <= MAX_LINES_OF_AN_OP


def api(module: object) -> Iterable[str]:
    """Where the functions of a module that are made of ops are found."""
    return getattr(module, "API", ())


def code_only(module: Module) -> int:
    """Lines of a file without blank lines, comments and docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs: set[int] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docs.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(module.source.splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" and n not in docs for n, line in lines)


def print_report(sizes: dict[str, int], core: int, of_an_op: float, count: int) -> None:
    functions = {key: code_lines(f) for module in PACKAGE for key, f in module.functions()}
    layers: dict[str, int] = {}
    for path, lines in sizes.items():
        top = path.split("/")[0].removesuffix(".py")
        layers[top] = layers.get(top, 0) + lines
    print(f"\n{core} lines of code in the core, {of_an_op:.0f} for each of {count} ops")
    print("with comments and docstrings, and all else:", sum(sizes.values()))
    for top in sorted(layers, key=lambda name: LAYERS.get(name, 99)):
        print(f"  layer {LAYERS.get(top, '-')}  {top:12} {layers[top]:5}")
    for what, table in (("files", sizes), ("functions", functions)):
        largest = sorted(table.items(), key=lambda item: -item[1])[:5]
        print(f"largest {what}:", ", ".join(f"{name} {lines}" for name, lines in largest))
    print(f"median function: {statistics.median(functions.values() or [0]):g} lines")
