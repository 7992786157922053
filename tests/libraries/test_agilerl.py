"""AgileRL: training of the guide works."""

import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("agilerl", reason="AgileRL is not installed: make test-agilerl")

from guide import Audit, check_beats_random, run_guide
from monsterzoo import policies


def test_training_of_the_guide_works(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    audit, names = Audit(monkeypatch), run_guide("agilerl")
    audit.check(65_536)
    agent = names["agent"]
    check_beats_random(policies.from_function(lambda rows, masks: agent.get_action(rows, action_mask=masks)[0]))
