"""Small games whose equilibria are known, or can be computed: to measure learners by, not to be played."""
