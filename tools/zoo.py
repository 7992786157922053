"""Measure and publish the shipped networks: `python -m tools.zoo VARIANT RUN…`.

The runs are finished ones of `monsterzoo train`, each of which started from the one before. The last one's network is
measured, copied to `policies/pretrained`, and entered into its index and page, with the commands of all runs. Without
runs a network that is shipped already is measured again, without a name all of them.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from monsterzoo.benchmarks.measuring import parser_of
from monsterzoo.policies.networks.files import PRETRAINED
from monsterzoo.training.runs.exits import exit_code

from .networks import enter, measure, networks_table, publish, read_index
from .variants import chosen_variants


def main(arguments: Sequence[str]) -> int:
    """The command; raises `ValueError` for bad options and for runs that are not finished."""
    parser = parser_of("python -m tools.zoo", __doc__)
    parser.add_argument("variant", nargs="?", metavar="VARIANT", help="such as pikit_v0-2p")
    parser.add_argument("trained", nargs="*", type=Path, metavar="RUN", help="folders of its training, in order")
    parser.add_argument("--games", type=int, default=4000, help="games against each opponent (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=PRETRAINED, metavar="FOLDER", help="of the networks")
    chosen = parser.parse_intermixed_args(arguments)
    if chosen.games < 4:
        raise ValueError(f"--games {chosen.games} is not allowed; allowed: an integer from 4")
    there = {model["file"].removesuffix(".npz"): model for model in read_index(chosen.out)["models"]}
    for one in chosen_variants([chosen.variant] if chosen.variant else list(there)):
        if not chosen.trained and one.name not in there:
            raise ValueError(f"there is no network of {one.name} in {chosen.out}: which runs made it?")
        print(f"{one.name}: measuring, {chosen.games} games against each opponent", flush=True)
        if chosen.trained:
            publish(one, chosen.trained, chosen.games, chosen.out)
        else:
            measured = measure(one.variant, chosen.out / f"{one.name}.npz", chosen.games)
            enter({**there[one.name], "arena": measured}, chosen.out)
    print(networks_table(read_index(chosen.out)["models"]))
    return 0


if __name__ == "__main__":
    sys.exit(exit_code("zoo", main, sys.argv[1:]))
