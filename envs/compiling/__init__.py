"""Compilation with numba: decorators, cache, type dispatch, threads, encoders.

All code that knows numba's internals is here; `core` and the games use these modules and numba's public extension API.
Rules, observations and loops over games are elsewhere.
"""
