"""Playing games: compiled loops over many of them, players from specs, who sits where, and their decisions.

Rules are in the games' own packages, the players themselves in `monsterzoo.policies`.
"""
