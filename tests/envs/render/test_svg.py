"""SVG of positions, GIFs of records, and what notebooks show."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.render.scene import Scene, rect, text
from monsterzoo.envs.render.svg import to_svg
from needs import marked


def played(name: str, options: dict[str, Any], steps: int = 15) -> Any:
    env, random = mz.make_raw(name, **options), np.random.default_rng(1)
    env.reset(seed=3)
    for _ in range(steps):
        env.step(int(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
    return env


def words_of(svg: str) -> set[str]:
    root = ElementTree.fromstring(svg)
    return {element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")}


def test_positions_are_svg_documents(name: str, options: dict[str, Any]) -> None:
    env = played(name, options)
    own, everything = env.to_svg(), env.to_svg("all")
    assert "you" in words_of(own)
    assert "player_0" in words_of(everything)
    assert own == env.to_svg(env.agent_selection) != everything
    assert env.to_svg(width=320).startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1280 960" width="320"'
    )
    with pytest.raises(ValueError, match="view='player_9' is not allowed"):
        env.to_svg("player_9")


def test_text_is_escaped_and_made_to_fit() -> None:
    scene = Scene("")
    scene.add([rect((0, 0, 10, 10), "#ffffff"), text(1, 2, "<&>" * 20, 20, room=50)], 'a "label" <b>')
    (group,) = ElementTree.fromstring(to_svg(scene))
    title, _, words = group
    assert (title.text, words.text) == ('a "label" <b>', "<&>" * 20)
    assert float(words.get("font-size") or 0) < 3


def test_svg_of_a_seat_does_not_depend_on_what_it_cannot_know(name: str, options: dict[str, Any]) -> None:
    env = played(name, {**options, "render_mode": "svg"})
    luck, world = streams(1, 1, "search"), env.variant.new_states(1)
    assert env.render().startswith("<svg")
    imagine(world, env._states, env._acting, luck[0])
    assert world.tobytes() != env._states.tobytes()
    env._renderer.forget()
    assert env._renderer.render(world, env._acting) == env._renderer.render(env._states, env._acting)


def test_environments_and_layouts_show_themselves_in_notebooks() -> None:
    env = mz.make("pikit_v0", players=2)
    assert env._repr_svg_() is None, "there is nothing to show before reset()"
    env.reset(seed=1)
    assert env._repr_svg_() == env.unwrapped._repr_svg_() == env.unwrapped.to_svg(width=640)
    parallel = mz.make_parallel("pikit_v0", players=2)
    parallel.reset(seed=1)
    assert parallel._repr_svg_() == env._repr_svg_()
    seat = gymnasium.make("monsterzoo/Pikit-v0", players=2, opponents="random", seat=1).unwrapped
    assert seat._repr_svg_() is None
    seat.reset(seed=1)
    assert "you" in words_of(seat._repr_svg_())
    layout = env.unwrapped.observation_layout
    assert layout._repr_html_().count("<tr>") == len(layout.fields) + 1


@marked("pygame")
@marked("PIL")
def test_a_record_is_saved_as_a_gif(tmp_path: Path) -> None:
    from PIL import Image

    env = played("yokai_septet_v0", {"players": 4}, steps=20)
    record, path = env.record(), tmp_path / "game.gif"
    mz.save_gif(record, path, view="all", size=(160, 120))
    with Image.open(path) as gif:
        assert (gif.size, gif.n_frames) == ((160, 120), 21)
    mz.save_gif(record, path, view="player_1", size=(160, 120), start=15, stop=18)
    with Image.open(path) as gif:
        assert gif.n_frames == 4
    for bad, problem in (({"view": "nobody"}, "view='nobody'"), ({"start": 99}, "nothing to see")):
        with pytest.raises(ValueError, match=problem):
            mz.save_gif(record, path, **bad)
    with pytest.raises(ValueError, match="'game'"):
        mz.save_gif({"actions": []}, path)
