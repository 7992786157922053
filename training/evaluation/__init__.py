"""Measuring strength: tournaments, ratings, win rates, exploitability."""
