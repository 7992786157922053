"""Recorded games for other libraries: a torch `IterableDataset`, and Minari's datasets of one-seat episodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from monsterzoo.envs.core.contract import TRUNCATED
from torch.utils.data import IterableDataset, get_worker_info

from .replaying import GameFile, Samples


class GameDataset(IterableDataset):
    """Minibatches of decisions, dicts of tensors with the names of `Samples`.

    For `DataLoader(dataset, batch_size=None, num_workers=…)`: workers share the row groups. With `shuffle` these and
    the decisions of each come in another random order in every epoch. `history=T` adds the last T events.
    """

    def __init__(
        self, path: Path | str, batch_size: int = 1024, *, shuffle: bool = True, seed: int = 0, history: int = 0
    ) -> None:
        GameFile(path)  # refuses what is none
        self.path, self.batch_size = path, batch_size
        self._shuffle, self._seed, self._history, self._epoch = shuffle, seed, history, 0

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        order = np.random.default_rng((self._seed, self._epoch))
        self._epoch += 1
        file = GameFile(self.path)  # workers have files of their own
        groups, worker = np.arange(file.groups), get_worker_info()
        if self._shuffle:
            order.shuffle(groups)
        if worker is not None:
            groups = groups[worker.id :: worker.num_workers]
        for samples in file.samples(groups.tolist(), history=self._history):
            rows = np.arange(len(samples.seats))
            if self._shuffle:
                order.shuffle(rows)
            for first in range(0, len(rows), self.batch_size):
                yield _tensors(samples, rows[first : first + self.batch_size])


def _tensors(samples: Samples, rows: np.ndarray) -> dict[str, torch.Tensor]:
    columns = {name: values for name, values in samples._asdict().items() if values is not None}
    return {name: torch.from_numpy(values[rows]) for name, values in columns.items()}


def to_minari(path: Path | str, dataset_id: str, policy: str | None = None, **about: Any) -> Any:
    """A Minari dataset with an episode for every game and seat, or for the seats of one policy.

    Observations are `{"observation", "action_mask"}` as those of `gymnasium.make`; `about` goes to Minari's
    `create_dataset_from_buffers`. Raises `ValueError` for a policy that did not play.
    """
    import minari
    from minari.data_collector import EpisodeBuffer
    from monsterzoo.envs.api.spaces import action_space, observation_space

    file = GameFile(path)
    if policy is not None and policy not in file.policies:
        raise ValueError(f"{policy!r} is none of the policies of {path}: {', '.join(file.policies)}")
    wanted = range(len(file.policies)) if policy is None else [file.policies.index(policy)]
    variant = file.variant
    episodes: list[Any] = []
    over = np.zeros(variant.num_actions, np.int8)
    over[-1] = 1
    for group in range(file.groups):
        table, replayed = file.replayed(group)
        samples, seating = replayed.samples, np.array(table["seating"].to_pylist())
        for game, seat in np.argwhere(np.isin(seating, wanted)).tolist():
            rows = np.flatnonzero((samples.games == game) & (samples.seats == seat))
            end = variant.observation(replayed.finals, game, seat)
            truncated = replayed.finals["outcome"][game] == TRUNCATED
            ends = np.arange(len(rows)) == len(rows) - 1
            episodes.append(
                EpisodeBuffer(
                    id=len(episodes),
                    seed=int(table["seed"][game].as_py()),
                    observations={
                        "observation": np.vstack([samples.observations[rows], end]),
                        "action_mask": np.vstack([samples.action_masks[rows], over]),
                    },
                    actions=samples.actions[rows],
                    rewards=samples.rewards[rows],
                    terminations=ends & (not truncated),
                    truncations=ends & truncated,
                )
            )
    spaces = {"observation_space": observation_space(variant), "action_space": action_space(variant)}
    return minari.create_dataset_from_buffers(dataset_id, episodes, **spaces, **about)
