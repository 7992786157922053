"""Work on Ray: tournaments and rollout learning as maps over ranges of games.

A game depends on nothing but its own seed or state, so results are those without Ray, whoever plays it and however
often a lost worker's part is played again. RLlib is not here but in `training.rllib`.
"""
