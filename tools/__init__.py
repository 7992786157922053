"""Makers of what is kept beside the code: tables of the documentation, golden playthroughs, scenes. Not installed."""
