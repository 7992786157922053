"""Makers of what is kept beside the code: tables in the documentation, golden playthroughs. Not installed."""
