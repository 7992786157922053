"""Golden playthroughs and scenes: seeded games of every variant as readable text.

A change of rules, texts, observations, masks or rewards shows as a difference in tests/playthroughs; a label that lies,
a prompt that is missing, a shape that has moved and a refusal that is wrong in tests/scenes. `python -m
tools.playthrough` writes both anew; tests say which differ from what the code plays now.
"""

import hashlib
import json
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
from monsterzoo.envs.render.perspective import Trail, scene_of
from monsterzoo.envs.render.scene import Scene
from monsterzoo.envs.render.svg import to_svg

TESTS = Path(__file__).resolve().parents[1] / "tests"
PLAYTHROUGHS, SCENES = TESTS / "playthroughs", TESTS / "scenes"
SEED = 23
_DRAWN_EVERY = 11

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


# --- Scenes ---


def scenes(name: str, options: dict[str, Any]) -> str:
    """A game of random actions: its scenes and refusals where a phase begins, and digests of all there were."""
    lines: list[str] = []
    drawn, said, seen = hashlib.sha256(), hashlib.sha256(), set[str]()
    for step, env, trail in _positions(name, options):
        variant, states, over = env.variant, env.states, not int(env.states["acting"][0])
        phase = "over" if over else env.snapshot()["phase"]
        if phase in seen and step % _DRAWN_EVERY:
            continue
        mover = None if over else variant.agents.index(env.agent_selection)
        for seat in [None, mover, step % variant.players] if phase in seen else [mover, ((mover or 0) + 1) % 2]:
            scene = scene_of(variant, states, seat, trail.events(variant, states, seat), reveal=over)
            drawn.update(f"{json.dumps(scene.as_json())}{to_svg(scene)}".encode())
            if phase not in seen:
                lines += _told(f"step {step}, {phase}, {'all' if seat is None else variant.agents[seat]}", scene)
        said.update("\n".join(_words(env)).encode())
        if phase not in seen and mover is not None:
            lines += ["", *_refusals(env, mover)]
        seen.add(phase)
    return "\n".join([f"drawn {drawn.hexdigest()}", f"said {said.hexdigest()}", *lines]) + "\n"


def _positions(name: str, options: dict[str, Any]) -> Iterator[tuple[int, GameEnv, Trail]]:
    env, trail, random = GameEnv(find_game(name), **options), Trail(), np.random.default_rng(SEED)
    env.reset(seed=SEED)
    for step in range(10_000):
        yield step, env, trail
        if not int(env.states["acting"][0]):
            return
        seat = env.variant.agents.index(env.agent_selection)
        action = int(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])))
        trail.add(env.states, seat, action)
        env.step(action)


def _words(env: GameEnv) -> Iterator[str]:
    """What seats and spectators read, and all refusals."""
    yield env.variant.draw_table(env.states, 0)
    for seat, agent in enumerate(env.possible_agents):
        yield env.text_observation(agent)
        yield from _refusals(env, seat) if int(env.states["acting"][0]) >> seat & 1 else ()


def _refusals(env: GameEnv, seat: int) -> Iterator[str]:
    """Why a seat may not do what it may not, and all such actions."""
    variant, reasons = env.variant, dict[str, list[str]]()
    for action in np.flatnonzero(variant.legal_actions(env.states, 0, seat)[:-1] == 0).tolist():
        why = str(variant.refuse(env.states[0], seat, action)).rpartition("is illegal")[2]
        reasons.setdefault(why, []).append(variant.action_names[action])
    yield from (f"  refused{why} <- {', '.join(actions)}" for why, actions in reasons.items())


def _told(title: str, scene: Scene) -> Iterator[str]:
    yield f"\n{title}: {scene.status}"
    yield f"  asked: {scene.prompt} | {scene.lesson}"
    yield from ("  " + " | ".join(row) for row in scene.scores)
    for part in scene.parts:
        if part.label or part.actions:
            yield "    " + " -> ".join([part.label, *(words for _, words in part.actions)])


if __name__ == "__main__":
    for file, game, chosen in playthroughs():
        (PLAYTHROUGHS / file).write_text(playthrough(game, chosen), encoding="utf-8")
        (SCENES / file).write_text(scenes(game, chosen), encoding="utf-8")
