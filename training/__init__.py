"""Learning to play, and comparing players."""
