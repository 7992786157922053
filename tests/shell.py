"""Commands as a shell sees them."""

from monsterzoo import cli


def exit_code(words: list[str]) -> int | str | None:
    """Exit code of `monsterzoo` with some words, which argparse may also raise."""
    try:
        return cli.main(words)
    except SystemExit as end:
        return end.code
