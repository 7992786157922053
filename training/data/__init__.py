"""Games as data: files of seeds, seatings and moves, from which everything else is regenerated at batch speed.

`docs/data.md` is the guide.
"""

from .recording import record_games
from .replaying import GameFile, Samples

__all__ = ["GameFile", "Samples", "record_games"]
