"""The flags `--ray` and `--workers`; imports no Ray."""

import argparse

from ..settings import Whole, refusal


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
    if parsed.workers is None:
        return parsed.ray is not None
    allowed = Whole(1, 100_000)
    try:
        parsed.workers = allowed(parsed.workers)
    except (ValueError, TypeError):
        raise refusal("workers", parsed.workers, allowed) from None
    if parsed.ray is None:
        raise ValueError("--workers says nothing without --ray")
    return True
