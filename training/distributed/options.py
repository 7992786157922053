"""The flags `--ray` and `--workers`; imports no Ray."""

import argparse

from ..settings import Whole, kept


def add_ray_arguments(parser: argparse.ArgumentParser, work: str) -> None:
    """Add both flags; `work` says what is spread."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help=f"{work} on Ray: 'local' starts it here, 'auto' or HOST:PORT joins a cluster (needs monsterzoo[rllib])",
    )
    parser.add_argument("--workers", metavar="N", help="with --ray: number of workers (default: one a processor)")


def uses_ray(parsed: argparse.Namespace) -> bool:
    """Whether Ray is wanted; `workers` is a number afterwards. Raises `ValueError` for what is not allowed."""
    if parsed.workers is not None:
        parsed.workers = kept("workers", parsed.workers, Whole(1, 100_000))
        if parsed.ray is None:
            raise ValueError("--workers says nothing without --ray")
    return parsed.ray is not None
