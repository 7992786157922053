"""Golden scenes: what pictures and words say of seeded games, as readable text, kept under tests/scenes.

A label that lies, a prompt that is missing, a shape that has moved and a refusal that is wrong show as a difference in
these files. `python -m tools.scenes` writes them anew; read the difference before committing it.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.render.perspective import Trail, scene_of
from monsterzoo.envs.render.scene import Scene
from monsterzoo.envs.render.svg import to_svg

from .playthrough import SEED, playthroughs

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "scenes"
_DRAWN_EVERY = 11


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
        (FOLDER / file).write_text(scenes(game, chosen), encoding="utf-8")
