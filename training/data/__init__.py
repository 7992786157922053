"""Games as data: files of seeds, seatings and moves, from which everything else is regenerated at batch speed.

- `recording`: play games and write them as Parquet;
- `replaying`: read a file, regenerate observations, masks, rewards, events and the true states;
- `datasets`: the same for torch and Minari.

`docs/data.md` is the guide.
"""

from .recording import record_games
from .replaying import GameFile, Samples

__all__ = ["GameFile", "Samples", "record_games"]
