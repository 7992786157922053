"""Benchmarks of speed; `monsterzoo bench` lists them."""
