"""Small games whose equilibria are known or can be computed, to measure learning algorithms; not to be played."""
