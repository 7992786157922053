"""Nothing is imported by accident; who may import whom is import-linter's to check (`make lint`)."""

import subprocess
import sys
from pathlib import Path

from needs import ROOT, needs_checkout

FOLDERS = ("envs", "policies", "training", "benchmarks")
MODULES = sorted(path for folder in (*FOLDERS, "src", "tools") for path in (ROOT / folder).rglob("*.py"))
HEAVY = ("torch", "matplotlib", "pygame", "rich", "stable_baselines3", "tensorboard", "hypothesis", "pytest")


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
