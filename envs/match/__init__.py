"""Players at a table: the decisions they are asked to make, players from specs, and who sits where.

Rules are in the games' own packages, loops over many games in `core`, the players themselves in `monsterzoo.policies`.
"""
