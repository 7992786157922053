"""Scenes: what can be clicked, what can be read, and what must not be shown."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.render.perspective import Trail, check_view, narrate, perspective_of, scene_of
from monsterzoo.envs.render.picture import text_size
from monsterzoo.envs.render.scene import HEIGHT, WIDTH, Part, Scene, Shape
from needs import marked
from nim import NIM
from toys import import_game, write_game

SMALLEST = 18.2
"""Units; fourteen pixels on the page in a window of 1366 × 625, nine in a picture of 640 × 480."""


def positions(variant: Variant, seed: int, every: int = 1) -> Iterator[tuple[GameEnv, Trail]]:
    """A random game, every so many steps, with its last moves."""
    env, random, trail = GameEnv(variant.game, **variant.options), Random(seed), Trail()
    env.reset(seed=seed)
    step = 0
    while int(env._states["acting"][0]) and step < 400:
        if step % every == 0:
            yield env, trail
        seat = random.choice([s for s in range(variant.players) if int(env._states["acting"][0]) >> s & 1])
        action = random.choice(np.flatnonzero(variant.legal_actions(env._states, 0, seat)).tolist())
        trail.add(env._states, seat, action)
        env.step_for(variant.agents[seat], action)
        step += 1
    yield env, trail


def text_of(scene: Scene) -> str:
    return json.dumps(scene.as_json())


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return across > 1 and down > 1


def test_nothing_to_click_covers_another(name: str, options: dict[str, Any]) -> None:
    variant = find_game(name).variant(**options)
    for env, _ in positions(variant, seed=1, every=5):
        boxes = [part.box or () for part in scene_of(variant, env._states, env._acting).parts if part.actions]
        assert not [(one, other) for i, one in enumerate(boxes) for other in boxes[:i] if overlap(one, other)]


def shapes(name: str, options: dict[str, Any]) -> Iterator[tuple[Part, Shape]]:
    """Everything that is drawn in a game, for spectators and for who decides."""
    variant = find_game(name).variant(**options)
    for env, trail in positions(variant, seed=2, every=23):
        for seat in (None, env._acting):
            events = trail.events(variant, env._states, seat)
            for part in scene_of(variant, env._states, seat, events).parts:
                for shape in part.shapes:
                    yield part, shape


def test_nothing_leaves_the_canvas(name: str, options: dict[str, Any]) -> None:
    for part, shape in shapes(name, options):
        if shape["kind"] == "text":
            assert 0 <= shape["x"] <= WIDTH
            assert 0 <= shape["y"] <= HEIGHT
        elif shape["kind"] == "rect":
            assert shape["x"] >= 0, f"{part.label} sticks out on the left"
            assert shape["x"] + shape["w"] <= WIDTH + 0.1, f"{part.label} sticks out on the right"
            assert shape["y"] + shape["h"] <= HEIGHT + 0.1, f"{part.label} sticks out below"


@marked("pygame")  # its font has the sizes
def test_all_text_can_be_read(name: str, options: dict[str, Any]) -> None:
    for _, shape in shapes(name, options):
        assert shape["kind"] != "text" or text_size(shape) >= SMALLEST, f"{shape['text']!r} is tiny"


def test_scenes_and_events_do_not_depend_on_secrets(name: str, options: dict[str, Any]) -> None:
    """Two games side by side: the hidden part of the second is resampled, and the other seats choose for themselves.

    As long as a seat knows the same in both, scene and last moves are the same to the letter, whatever the others did.
    """
    variant = find_game(name).variant(**options)
    luck, random, compared = streams(7, 1, "search"), Random(4), 0
    for env, _ in positions(variant, seed=3, every=31):
        for seat in range(variant.players):
            worlds = [env._states.copy(), variant.new_states(1)]
            imagine(worlds[1], env._states, seat, luck[0])
            trails = [Trail(), Trail()]
            compared += _play_side_by_side(variant, worlds, trails, seat, random)
    assert compared > 8, "the games parted at once"


def _play_side_by_side(
    variant: Variant, worlds: list[np.ndarray], trails: list[Trail], seat: int, random: Random, steps: int = 8
) -> int:
    """Steps in which a seat could not tell the two games apart, and its scenes were compared."""
    twins = [GameEnv(variant.game, **variant.options) for _ in worlds]
    for twin, world in zip(twins, worlds):
        twin.reset(seed=0)
        twin._states = world.copy()
        twin._begin()
    texts: list[list[str]] = [[], []]
    for compared in range(steps):
        views = [variant.look(twin._states, 0, seat).tobytes() for twin in twins]
        if views[0] != views[1] or not all(int(twin._states["acting"][0]) for twin in twins):
            return compared
        assert texts[0] == texts[1]
        scenes = [text_of(scene_of(variant, twin._states, seat)) for twin in twins]
        assert scenes[0] == scenes[1]
        deciding = [int(twin._states["acting"][0]) >> seat & 1 for twin in twins]
        assert deciding[0] == deciding[1]
        mine = None
        if deciding[0]:
            mine = random.choice(np.flatnonzero(variant.legal_actions(twins[0]._states, 0, seat)).tolist())
        for i, twin in enumerate(twins):
            mover = seat if mine is not None else twin._acting
            legal = np.flatnonzero(variant.legal_actions(twin._states, 0, mover)).tolist()
            action = mine if mine is not None else random.choice(legal)
            before = twin._states.copy()
            twin.step_for(variant.agents[mover], action)
            texts[i] += [event.text for event in narrate(variant, seat, before, twin._states, mover, action)]
    return steps


def test_others_choices_are_events_once_everybody_sees_them() -> None:
    variant = find_game("yokai_septet_v0").variant(players=3)
    env = GameEnv(variant.game, players=3)
    env.reset(seed=1)
    seen: list[str] = []
    for _ in range(12):
        seat, before = env._acting, env._states.copy()
        action = int(np.flatnonzero(variant.legal_actions(env._states, 0, seat))[0])
        env.step_for(variant.agents[seat], action)
        seen += [event.text for event in narrate(variant, 0, before, env._states, seat, action)]
    assert [line.partition(" ")[0] for line in seen[:3]] == ["you:", "you:", "you:"], "own passes only"
    assert not any("player_1: pass" in line or "player_2: pass" in line for line in seen)
    assert seen[3].startswith("received from player_2: ")
    assert seen[3].count(",") == 2, "three cards in one line"
    assert any(line.startswith("player_") for line in seen[4:]), "cards that are played are told"


def test_spectators_see_all_hands_and_seats_only_their_own() -> None:
    variant = find_game("yokai_septet_v0").variant(players=4)
    env = GameEnv(variant.game)
    env.reset(seed=5)
    own, everything = (
        " ".join(part.label for part in scene_of(variant, env._states, seat).parts) for seat in (0, None)
    )
    assert "player_2 holds 12 cards" in own
    assert "player_2 holds 12 cards" not in everything
    assert perspective_of(variant, env._states, 0).views[1:] == (None, None, None)
    assert all(view is not None for view in perspective_of(variant, env._states, 0, reveal=True).views)


def test_a_game_that_draws_nothing_is_shown_in_words_with_a_button_for_every_action(tmp_path: Any) -> None:
    write_game(tmp_path, "drawnot")
    variant = import_game(tmp_path, "drawnot").variant()
    env = GameEnv(variant.game)
    env.reset(seed=0)
    env.step(1)
    trail = Trail()
    scene = scene_of(variant, env._states, 1, trail.events(variant, env._states, 1))
    assert [part.label for part in scene.parts if part.actions] == ["one", "two"]
    assert any("place: 2" in part.label or "place: [2]" in part.label for part in scene.parts)
    assert not [part for part in scene_of(variant, env._states, 0).parts if part.actions], "not its turn"


@pytest.mark.parametrize("view", ["player_4", "player_00", "everything", 0, ("all",)])
def test_views_that_are_none_are_refused(view: Any) -> None:
    with pytest.raises(ValueError, match="allowed: None, 'all', 'player_0', 'player_1', 'player_2', 'player_3'"):
        check_view(find_game("pikit_v0").variant(), view)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_mechas_of_a_seat_lie_in_its_panel_side_by_side(players: int) -> None:
    env = GameEnv(find_game("pikit_v0"), players=players)
    env.reset(seed=1)
    position = env.snapshot()
    position["mechas_on_table"], position["hands"][1]["mecha"] = [], [1, 2, 3, 4, 5, 6]
    env.reset(options={"snapshot": position})
    scene = scene_of(env.variant, env.states, 0)
    panel = next(part for part in scene.parts if part.key == "seat 1").shapes[0]
    boxes = []
    for part in scene.parts:
        if part.key.startswith("mecha "):
            frame = part.shapes[0]
            boxes.append((frame["x"], frame["y"], frame["w"], frame["h"]))
            assert panel["x"] < frame["x"] < frame["x"] + frame["w"] < panel["x"] + panel["w"]
            assert panel["y"] < frame["y"] < frame["y"] + frame["h"] < panel["y"] + panel["h"]
    assert len(boxes) == 6
    assert not [(one, other) for i, one in enumerate(boxes) for other in boxes[:i] if overlap(one, other)]
    rows = [len([box for box in boxes if box[1] == top]) for top in sorted({box[1] for box in boxes})]
    assert rows == ([4, 2] if players == 4 else [6]), "of four, the seat on the left is narrow"


def test_a_table_in_words_has_a_panel_of_lines_and_buttons_side_by_side_below() -> None:
    variant = NIM.variant()
    states = variant.new_states(1)
    states["stones"], states["acting"] = 5, 1
    for seat, height, prompt, buttons in (
        (0, 300, "Choose an action", [(8.0, 370.0, 624.0, 42.0), (640.0, 370.0, 624.0, 42.0)]),
        (1, 620, "", []),
    ):
        scene = scene_of(variant, states, seat)
        assert scene.prompt == prompt
        assert [part.box for part in scene.parts if part.actions] == buttons
        assert [(part.label, part.actions) for part in scene.parts if part.actions] == [
            (name, ((action, name),)) for action, name in enumerate(["take 1", "take 2"]) if buttons
        ]
        shapes = [shape for part in scene.parts for shape in part.shapes]
        panels = [one for one in shapes if one["kind"] == "rect" and (one["x"], one["y"]) == (8, 58)]
        assert [(one["w"], one["h"]) for one in panels] == [(1264, height)]
        (line,) = [one for one in shapes if one.get("text") == "count: 5"]
        assert (line["x"], line["y"], line["size"], line["room"]) == (24, 110, 22, 1232)
