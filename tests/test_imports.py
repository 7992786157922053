"""Nothing is imported by accident; who may import whom is import-linter's to check (`make lint`)."""

import json
import subprocess
import sys
from pathlib import Path

from needs import ROOT, needs_checkout

FOLDERS = ("envs", "policies", "training", "benchmarks")
MODULES = sorted(path for folder in (*FOLDERS, "src", "tools") for path in (ROOT / folder).rglob("*.py"))
HEAVY = ("torch", "matplotlib", "pygame", "stable_baselines3", "tensorboard", "hypothesis", "pytest")


@needs_checkout
def test_no_module_is_called_like_one_of_the_standard_library() -> None:
    for path in MODULES:
        assert path.stem not in sys.stdlib_module_names, f"{path.relative_to(ROOT)} hides a standard module's name"


IMPORTED = f"""
import json, sys
import monsterzoo.envs as mz
mz.make("pikit_v0"), mz.make_parallel("pikit_v0"), mz.make_vec("pikit_v0", 2)
heavy = [name for name in {HEAVY} if name in sys.modules]
players = [name for name in sys.modules if name.startswith(("monsterzoo.policies", "monsterzoo.training"))]
from monsterzoo import policies
folders = [name for name in {FOLDERS} if name in sys.modules]
print(json.dumps(dict(heavy=heavy, players=players, folders=folders)))
"""


def test_environments_import_nothing_heavy_and_no_player_and_folders_are_no_packages_of_their_own(
    tmp_path: Path,
) -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"heavy": [], "players": [], "folders": []}
