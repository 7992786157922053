"""The engine against the rules written a second time, in plain Python: same legal actions, same positions."""

import numpy as np
import pytest
from pikit_table import REACTIVE, Board, Model

CASES = [
    {"players": 2},
    {"players": 3},
    {"players": 4},
    {"players": 2, "deck": REACTIVE},
    {"players": 4, "deck": REACTIVE},
    {"players": 3, "deck": {4: 12, 5: 12, 6: 12, 3: 12}},
    {"players": 3, "max_turns": 9},
    {"players": 4, "deck": {1: 20, 8: 20}, "max_turns": 60},
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_engine_and_model_play_the_same_game(options):
    random = np.random.default_rng(7)
    for seed in range(15):
        board = Board(seed=seed, **options)
        model = Model(board.position)
        while not model.over:
            legal = board.legal
            assert len(legal) == len(set(legal))
            assert set(legal) == model.legal()
            # Discards and cancels are more interesting than they are frequent in random play.
            busy = [name for name in legal if ":" in name]
            name = str(random.choice(busy if busy and random.random() < 0.5 else legal))
            board.act(name)
            after = board.position
            model.play(name, after)
            expected = model.snapshot()
            assert {key: after[key] for key in expected} == expected
