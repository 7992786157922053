"""Compiled game loops, seating of players, and decisions."""
