"""Imports run one way, and nothing is imported by accident."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("envs", "policies", "training", "benchmarks")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
HEAVY = ("torch", "matplotlib", "pygame", "rich", "stable_baselines3", "tensorboard", "hypothesis", "pytest")


def module_name(path: Path) -> list[str]:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def is_game(part: str) -> bool:
    return (ROOT / "envs" / part / "rules.py").exists()


def level(parts: list[str]) -> int:
    """How high a module stands: it may import what is not above it."""
    if parts[0] != "envs":
        return 3 + FOLDERS.index(parts[0])
    if parts[1:2] == ["core"]:
        return 0
    return 1 if parts[1:] and is_game(parts[1]) else 2


def imported(path: Path) -> Iterator[list[str]]:
    """Our modules that a file imports anywhere, without "monsterzoo"."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path)[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("monsterzoo."):
                    yield alias.name.split(".")[1:]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            parts = base + (node.module.split(".") if node.module else [])
            if not node.level:
                if parts[0] != "monsterzoo":
                    continue
                parts = parts[1:]
            for alias in node.names:
                whole = [*parts, alias.name]
                is_module = (ROOT.joinpath(*whole)).is_dir() or ROOT.joinpath(*whole).with_suffix(".py").exists()
                yield whole if is_module else parts


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    own = module_name(path)
    for other in imported(path):
        assert level(other) <= level(own), f"{'.'.join(own)} imports {'.'.join(other)}, which stands above it"
        if level(own) == level(other) == 1:
            assert own[1] == other[1], f"{own[1]} imports another game, {other[1]}"


def test_the_check_sees_every_kind_of_import() -> None:
    seen = {".".join(parts) for parts in imported(ROOT / "policies" / "uniform.py")}
    assert {"envs.core.kernels", "envs.core.game", "envs.core.rng"} <= seen
    assert ["envs", "core", "kernels"] in list(imported(ROOT / "envs" / "aec.py"))


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
envs.make("yokai_septet_v0")
print([name for name in {FOLDERS} if name in sys.modules])
"""
    assert run(code, cwd=tmp_path).strip() == "[]"


def test_importing_the_environments_imports_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
import sys
import monsterzoo.envs as mz
mz.make("yokai_septet_v0")
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert run(code, cwd=tmp_path).strip() == "[]"
