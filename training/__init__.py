"""Tournaments between players, and training of new ones."""
