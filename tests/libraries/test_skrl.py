"""skrl: training of the guide works, with a mask in the model."""

import numpy as np
import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("skrl", reason="skrl is not installed: make test-skrl")

from guide import Audit, check_beats_random, run_guide
from monsterzoo import policies


def test_training_of_the_guide_works(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # for its logs
    torch.set_num_threads(1)
    audit, names = Audit(monkeypatch), run_guide("skrl")
    audit.check(65_536)
    actor = names["models"]["policy"]

    def act(observations, action_masks):
        seen = torch.as_tensor(np.concatenate([action_masks, observations], axis=1))
        with torch.no_grad():
            return actor.compute({"observations": seen}, "policy")[0].argmax(dim=1).numpy()

    check_beats_random(policies.from_function(act))
