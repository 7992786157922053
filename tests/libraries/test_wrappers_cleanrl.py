"""CleanRL: the changes of the guide apply to its PPO, and training works."""

import runpy
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("supersuit", reason="CleanRL is fetched where wrappers are tested: make test-wrappers")

from guide import Audit, check_beats_random, code_of, patched
from monsterzoo import policies

SETTINGS = (
    "--env-id monsterzoo/Pikit-v0 --num-envs 32 --num-steps 128 --num-minibatches 8 --gamma 1 --learning-rate 1e-3"
)


def test_training_of_the_guide_works(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    fetch = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--ignore-requires-python",
        "cleanrl==1.2.0",
    ]
    subprocess.run(fetch, check=True)
    (wheel,) = tmp_path.glob("cleanrl*.whl")
    source = zipfile.ZipFile(wheel).read("cleanrl/ppo.py").decode()
    (tmp_path / "ppo.py").write_text(patched(source, code_of("cleanrl", "diff")), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["ppo.py", *SETTINGS.split(), "--total-timesteps", "65536"])
    audit, names = Audit(monkeypatch), runpy.run_path("ppo.py", run_name="__main__")
    audit.check(60_000)  # a few steps are new deals

    def act(observations, action_masks):
        seen = torch.as_tensor(np.concatenate([action_masks, observations], axis=1)).float()
        with torch.no_grad():
            return names["agent"].get_action_and_value(seen)[0].numpy()

    check_beats_random(policies.from_function(act))
