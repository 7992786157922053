"""With bounds checks on, random, heuristic and searching players read and write nothing out of range."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from monsterzoo.envs import names
from monsterzoo.envs.core.registry import find_game

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", names())
def test_no_game_reaches_beyond_its_arrays(name: str) -> None:
    command = [sys.executable, str(Path(__file__).with_name("bounds.py")), name]
    environment = {**os.environ, "MONSTERZOO_CHECKS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert len(done.stdout.splitlines()) == len(find_game(name).variants)
