"""Imports run one way, and nothing is imported by accident."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import ROOT, needs_checkout

FOLDERS = ("envs", "policies", "training", "benchmarks")
MODULES = sorted(path for folder in (*FOLDERS, "tools") for path in (ROOT / folder).rglob("*.py"))
HEAVY = ("torch", "matplotlib", "pygame", "rich", "stable_baselines3", "tensorboard", "hypothesis", "pytest")

# All exceptions. A file may name what stands above it, or import what is not written in it, for these reasons only:
ALLOWED = {
    ("envs/core/registry.py", "envs"): "the folder of our own games, and what PettingZoo is to call, by address",
    ("envs/core/registry.py", "envs.api.gym"): "what Gymnasium is to call, by address",
    ("envs/match/players.py", "policies"): "a group of entry points; packaging fills it with what makes players",
    ("envs/match/players.py", "?"): "players of the user's own, by the address the user gives",
    ("training/runs/extras.py", "?"): "looks whether a package of an extra is there, for whoever needs it",
}

# --- What a file imports ---

UNKNOWN = ["?"]


def module_name(path: Path) -> list[str]:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def is_module(parts: list[str]) -> bool:
    return ROOT.joinpath(*parts).is_dir() or ROOT.joinpath(*parts).with_suffix(".py").exists()


def imported(path: Path, source: str | None = None) -> Iterator[list[str]]:
    """Our modules that a file imports or names, anywhere and in any way, without "monsterzoo"; `UNKNOWN` is a guess."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path)[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8") if source is None else source)
    variables = locals_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ours(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield from ours(f"{'.' * node.level}{node.module or ''}", package, alias.name)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__", "find_spec"):
            yield from dynamic(node, path, package, variables.get(node, {}))
        elif isinstance(node, ast.Constant) and re.fullmatch(r"monsterzoo(\.\w+)+(:\w+)?", str(node.value)):
            # "package.module:function" is imported sooner or later, by whoever it is given to
            yield from ours(str(node.value).partition(":")[0])


def called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def locals_of(tree: ast.Module) -> dict[ast.AST, dict[str, ast.expr]]:
    """For everything inside of functions, what the innermost function assigns to single names."""
    found: dict[ast.AST, dict[str, ast.expr]] = {}
    for function in ast.walk(tree):  # from the outside in
        if isinstance(function, ast.FunctionDef):
            nodes = list(ast.walk(function))
            assigned: dict[str, ast.expr] = {}
            for node in nodes:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    assigned[node.targets[0].id] = node.value
            found |= dict.fromkeys(nodes, assigned)
    return found


def dynamic(
    node: ast.Call, path: Path, package: list[str], variables: dict[str, ast.expr]
) -> Iterator[list[str]]:  # fmt: skip
    """What a call of `import_module` imports as far as its text tells: a package, where the last names are not told."""
    own = ".".join(["monsterzoo", *package])
    name = own if path.name == "__init__.py" else f"{own}.{path.stem}"
    known = {"__name__": ast.Constant(name), "__package__": ast.Constant(own), **variables}
    text, base = (spelled(argument, known) for argument in (*node.args, ast.Constant(""), ast.Constant(""))[:2])
    dots, rest = re.fullmatch(r"(\.*)(.*)", text).groups()  # type: ignore[union-attr]
    certain = re.split(r"\.?[^.]*\?", rest)[0]
    if "?" in base or not (dots or certain):
        yield UNKNOWN
        return
    yield from ours(dots + certain, base.split(".")[1:] if base else package)


def spelled(node: ast.expr, known: dict[str, ast.expr]) -> str:
    """A text as far as it is written down, with "?" for the rest."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        rest = {name: value for name, value in known.items() if name != node.id}
        return spelled(known[node.id], rest) if node.id in known else "?"
    if isinstance(node, ast.JoinedStr):
        return "".join(spelled(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return spelled(node.value, known)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return spelled(node.left, known) + spelled(node.right, known)
    return "?"


def ours(name: str, package: list[str] | None = None, member: str = "") -> Iterator[list[str]]:
    """A module by its name, absolute or relative to a package, and a member of it that may be a module too."""
    dots = len(name) - len(name.lstrip("."))
    parts = [part for part in name.split(".") if part]
    if dots:
        parts = [*(package or [])[: len(package or []) - dots + 1], *parts]
    elif parts[0] == "monsterzoo":
        parts = parts[1:]
    elif parts[0] != "tools":
        return
    if member and is_module([*parts, member]):
        parts = [*parts, member]
    if is_module(parts):
        yield parts


# --- Who may import whom ---


def is_game(part: str) -> bool:
    return (ROOT / "envs" / part / "rules.py").exists()


def level(parts: list[str]) -> int:
    """How high a module stands: it may import what is not above it."""
    if parts and parts[0] != "envs":
        return 3 + (*FOLDERS, "tools").index(parts[0])
    if parts[1:2] in (["core"], ["compiling"]) or parts[1:] in (["render", "scene"], ["render", "parts"]):
        return 0
    return 1 if parts[1:] and is_game(parts[1]) else 2


def problem(path: Path, other: list[str]) -> str:
    """What is wrong with an import, or nothing."""
    own, file = module_name(path), path.relative_to(ROOT).as_posix()
    if (file, ".".join(other)) in ALLOWED:
        return ""
    if other == UNKNOWN:
        return f"{file} imports a module whose name is not in its text"
    if level(other) > level(own):
        return f"{file} imports {'.'.join(other)}, which stands above it"
    if level(own) == level(other) == 1 and own[1] != other[1]:
        return f"{file} imports another game, {other[1]}"
    return ""


@needs_checkout
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    assert [text for other in imported(path) if (text := problem(path, other))] == []


@needs_checkout
def test_every_exception_is_needed() -> None:
    used = {(path.relative_to(ROOT).as_posix(), ".".join(other)) for path in MODULES for other in imported(path)}
    assert set(ALLOWED) <= used


@needs_checkout
@pytest.mark.parametrize(
    ("file", "source", "module"),
    [
        ("policies/new.py", "from monsterzoo.envs.match import kernels", "envs.match.kernels"),
        ("policies/new.py", "import monsterzoo.training.algorithms.ppo", "training.ppo"),
        ("envs/new.py", "from .match import kernels as k", "envs.match.kernels"),
        ("envs/new.py", "def f():\n    from . import pikit_v0", "envs.pikit_v0"),
        ("envs/core/new.py", "from ..pikit.rules import STATE", "envs.pikit.rules"),
        ("envs/core/new.py", "import_module('monsterzoo.envs.pikit')", "envs.pikit"),
        ("envs/core/new.py", "importlib.import_module('..pikit', __package__)", "envs.pikit"),
        ("envs/core/new.py", "import_module(f'..{name}.rules', __package__)", "envs"),
        ("envs/core/new.py", "__import__('monsterzoo.envs.' + name)", "envs"),
        ("envs/new.py", "import_module(f'monsterzoo.policies.heuristics.{name}')", "policies.heuristics"),
        ("envs/new.py", "import_module(name)", "?"),
        ("envs/new.py", "def f(x):\n    name = f'..policies.{x}'\n    import_module(name, __package__)", "policies"),
        ("envs/new.py", "__import__(f'{package}.policies')", "?"),
        ("policies/heuristics/__init__.py", "import_module(f'{__name__}.{game}')", "policies.heuristics"),
        ("policies/heuristics/new.py", "find_spec(f'{__package__}.{game}')", "policies.heuristics"),
        ("envs/new.py", "register(entry_point='monsterzoo.training.arena:arena')", "training.arena"),
        ("training/new.py", "from tools import tables", "tools.tables"),
    ],
)
def test_the_check_sees_every_kind_of_import(file: str, source: str, module: str) -> None:
    assert module in {".".join(parts) for parts in imported(ROOT / file, source)}


@needs_checkout
@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("envs/core/new.py", "envs.pikit.rules"),
        ("envs/core/new.py", "envs.vector"),
        ("envs/core/new.py", "envs.match.kernels"),
        ("envs/pikit/new.py", "envs.match.kernels"),
        ("envs/pikit/new.py", "envs.yokai_septet.rules"),
        ("envs/pikit/new.py", "envs.vector"),
        ("envs/new.py", "policies.heuristics"),
        ("policies/new.py", "training.arena"),
        ("training/new.py", "benchmarks.measuring"),
        ("benchmarks/new.py", "tools.tables"),
        ("envs/new.py", "?"),
    ],
)
def test_the_check_refuses_what_stands_above(file: str, module: str) -> None:
    assert problem(ROOT / file, module.split("."))


@needs_checkout
def test_the_check_lets_the_rest_pass() -> None:
    for file, module in [
        ("envs/pikit/new.py", "envs.core.bits"),
        ("envs/pikit/new.py", "envs.pikit.rules"),
        ("envs/new.py", "envs.pikit"),
        ("policies/new.py", "envs.api.gym"),
        ("benchmarks/new.py", "training.arena"),
        ("tools/new.py", "benchmarks.measuring"),
    ]:
        assert not problem(ROOT / file, module.split("."))


# --- What is imported when it runs ---


@needs_checkout
def test_no_module_is_called_like_one_of_the_standard_library() -> None:
    for path in MODULES:
        assert path.stem not in sys.stdlib_module_names, f"{path.relative_to(ROOT)} hides a standard module's name"


def run(code: str, *, cwd: Path = ROOT) -> str:
    result = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_folders_are_no_packages_of_their_own(tmp_path: Path) -> None:
    code = f"""
import sys
from monsterzoo import envs, policies
envs.make("pikit_v0")
print([name for name in {FOLDERS} if name in sys.modules])
"""
    assert run(code, cwd=tmp_path).strip() == "[]"


def test_importing_the_environments_imports_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
import sys
import monsterzoo.envs as mz
mz.make("pikit_v0")
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert run(code, cwd=tmp_path).strip() == "[]"


def test_making_environments_imports_no_player(tmp_path: Path) -> None:
    code = """
import sys
import monsterzoo.envs as mz
mz.make("pikit_v0"), mz.make_parallel("pikit_v0"), mz.make_vec("pikit_v0", 2)
print([name for name in sys.modules if name.startswith(("monsterzoo.policies", "monsterzoo.training"))])
"""
    assert run(code, cwd=tmp_path).strip() == "[]"
