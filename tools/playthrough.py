"""Golden playthroughs: one seeded game per variant as readable text, kept under tests/playthroughs.

A change of rules, texts, observations, masks or rewards shows as a difference in these files. `python -m
tools.playthrough` writes them anew; tests say which differ from what the code plays now.
"""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.layout import Layout
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match import sampling

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "playthroughs"
SEED = 23

_VIEW_EVERY = 50
_RULE = "-" * 100


def file_name(name: str, options: dict[str, Any]) -> str:
    """As in "yokai_septet_v0.players=4.variant=seven_suitors.txt"; without brackets and spaces."""
    values = {key: re.sub(r"[^\w.]+", "-", str(value)).strip("-") for key, value in options.items()}
    return ".".join([name, *(f"{key}={value}" for key, value in values.items())]) + ".txt"


def playthroughs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """File name, game and options of every playthrough there must be: one per variant."""
    for name in names():
        for options in find_game(name).variants:
            yield file_name(name, options), name, options


def playthrough(name: str, options: dict[str, Any], seed: int = SEED) -> str:
    """One game of random legal actions, step by step, as text."""
    env = GameEnv(find_game(name), **options)
    env.reset(seed=seed)
    luck = streams(seed, 1, "playthrough")
    returns = dict.fromkeys(env.possible_agents, 0.0)
    lines = list(_heading(env, seed))
    step, seen = 0, set[str]()
    action = np.zeros(1, np.int64)
    while not any([*env.terminations.values(), *env.truncations.values()]):
        phase = env.snapshot()["phase"]
        if phase not in seen or step % _VIEW_EVERY == 0:
            lines += _view(env, step)
            seen.add(phase)
        sampling.sample_rows(env.observe(env.agent_selection)["action_mask"][None], luck, action)
        lines += _step(env, step, int(action[0]))
        env.step(int(action[0]))
        lines += [f"    reward  {agent} {reward:+.6g}" for agent, reward in env.rewards.items() if reward]
        for agent, reward in env.rewards.items():
            returns[agent] += reward
        step += 1
    lines += _view(env, step)
    lines += _ending(env, step, returns)
    return "\n".join(lines) + "\n"


def _heading(env: GameEnv, seed: int) -> Iterator[str]:
    variant = env.variant
    yield f"game          {variant.game.name} ({variant.game.title})"
    yield f"options       {', '.join(f'{key}={value!r}' for key, value in variant.options.items())}"
    yield f"seats         {variant.players}"
    yield "sides         " + "; ".join(f"{team}: {' '.join(agents)}" for team, agents in variant.teams.items())
    yield f"actions       {variant.num_actions}"
    yield f"observation   {variant.layout.size} columns: " + ", ".join(f"{f.name} {f.start}" for f in variant.layout)
    yield f"state         {variant.game.rules.record.itemsize} bytes"
    yield f"seed          {seed}, actions chosen at random"


def _view(env: GameEnv, step: int) -> Iterator[str]:
    """The whole table, every seat's view of it, and the observation of the seat to act."""
    yield ""
    yield f"{_RULE}\nbefore step {step}\n"
    yield env.variant.draw_table(env.states, 0)
    for agent in env.possible_agents:
        yield f"\n  {agent} knows"
        yield from (f"    {line}" for line in env.text_observation(agent).splitlines())
    agent = env.agent_selection
    yield f"\n  {agent} observes"
    yield from (f"    {line}" for line in observed(env.observation_layout, env.observe(agent)["observation"]))
    yield _RULE


def observed(layout: Layout, observation: np.ndarray) -> Iterator[str]:
    """An observation field by field: the columns that are set, or the numbers; empty sets are skipped."""
    for field in layout:
        values = layout.read(observation, field.name)
        if field.high > 1:
            yield f"{field.name} = {' '.join(map(str, values.reshape(-1).tolist()))}"
            continue
        for place in np.ndindex(*field.shape[:-1]):
            if values[place].any():
                name = field.name + "".join(f"[{index}]" for index in place)
                yield f"{name} = {' '.join(map(str, np.flatnonzero(values[place]).tolist()))}"


def _step(env: GameEnv, step: int, action: int) -> Iterator[str]:
    agent = env.agent_selection
    legal = np.flatnonzero(env.infos[agent]["action_mask"]).tolist()
    yield ""
    yield f"step {step}  {agent}"
    yield f"    legal   {' | '.join(env.action_name(number) for number in legal)}"
    yield f"    action  {env.action_name(action)} ({action})"
    yield f"    views   {' '.join(_checksum(env, seat) for seat in env.possible_agents)}"


def _checksum(env: GameEnv, agent: str) -> str:
    """Checksum of an agent's observation and mask."""
    view = env.observe(agent)
    return f"{zlib.crc32(view['observation'].tobytes() + view['action_mask'].tobytes()):08x}"


def _ending(env: GameEnv, steps: int, returns: dict[str, float]) -> Iterator[str]:
    snapshot = env.snapshot()
    winners = " ".join(f"player_{seat}" for seat in snapshot["winners"]) or "nobody"
    yield ""
    yield f"over after {steps} steps{', truncated' if snapshot['truncated'] else ''}; winners: {winners}"
    yield from (f"    return  {agent} {total:+.6g}" for agent, total in returns.items())


if __name__ == "__main__":
    for file, game, chosen in playthroughs():
        (FOLDER / file).write_text(playthrough(game, chosen), encoding="utf-8")
