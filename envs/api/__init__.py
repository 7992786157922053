"""Adapters: each file is one interface over the compiled engine (PettingZoo, Gymnasium, batches, text)."""
