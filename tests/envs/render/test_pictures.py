"""Pictures, windows and text of all environments."""

import builtins
import copy
import pickle
import re
from typing import Any

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from gymnasium.wrappers import RenderCollection
from monsterzoo.envs import bite_night_v0, pikit_v0, yokai_septet_v0
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.render import renderer
from monsterzoo.envs.render.perspective import scene_of
from monsterzoo.envs.render.picture import paint
from needs import marked

needs_pygame = marked("pygame")
MODULES = [bite_night_v0, pikit_v0, yokai_septet_v0]


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def play(env: Any, steps: int) -> None:
    """Some random moves of an AEC environment."""
    random = np.random.default_rng(0)
    for _ in range(steps):
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            return
        env.step(int(random.choice(np.flatnonzero(info["action_mask"]))))


@needs_pygame
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("kind", ["env", "raw_env", "parallel_env"])
def test_every_environment_gives_pixels(module: Any, kind: str) -> None:
    env = getattr(module, kind)(render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    assert first.shape == (480, 640, 3)
    assert first.dtype == np.uint8
    if kind != "parallel_env":
        play(env, 9)
    else:
        env.step({agent: int(env.infos[agent]["action_mask"].argmax()) for agent in env.agents})
    assert (env.render() != first).any(), "the picture does not change"
    env.close()


@needs_pygame
@pytest.mark.parametrize("size", [(320, 240), (1280, 960), (700, 300)])
def test_pictures_have_the_size_that_is_asked_for(size: tuple[int, int]) -> None:
    env = pikit_v0.raw_env(render_mode="rgb_array", render_size=size)
    env.reset(seed=1)
    assert env.render().shape == (size[1], size[0], 3)


@pytest.mark.parametrize("size", [(0, 480), (640,), "640x480", (640.5, 480), (True, 480), None, (640, 100_000)])
def test_sizes_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(ValueError, match=r"render_size=.* is not allowed; allowed: \(width, height\) in pixels"):
        pikit_v0.raw_env(render_mode="rgb_array", render_size=size)


@needs_pygame
@pytest.mark.parametrize("module", MODULES)
def test_pixels_of_a_seat_do_not_depend_on_what_it_cannot_know(module: Any) -> None:
    env = module.raw_env()
    env.reset(seed=4)
    variant, luck, shown = env.variant, streams(0, 1, "search"), 0
    world = variant.new_states(1)
    for moment in range(25):
        if moment >= 4 and shown:
            break
        play(env, 12)
        if not int(env._states["acting"][0]):
            env.reset(seed=moment)
        for seat in (0, variant.players - 1):
            imagine(world, env._states, seat, luck[0])
            own = [paint(scene_of(variant, states, seat), (640, 480)) for states in (env._states, world)]
            assert (own[0] == own[1]).all()
            everything = [paint(scene_of(variant, states, None), (640, 480)) for states in (env._states, world)]
            shown += int((everything[0] != everything[1]).any())
    assert shown, "spectators see all hands"


@needs_pygame
def test_the_acting_seat_is_shown_unless_a_view_is_asked_for() -> None:
    pictures = {}
    for view in (None, "all", "player_0", "player_1"):
        env = yokai_septet_v0.raw_env(render_mode="rgb_array", view=view)
        env.reset(seed=1)
        pictures[view] = env.render()
        assert env.agent_selection == "player_0"
    assert (pictures[None] == pictures["player_0"]).all()
    for one, other in (("player_0", "player_1"), ("all", "player_0"), ("all", "player_1")):
        assert (pictures[one] != pictures[other]).any()


def test_text_of_a_seat_keeps_the_others_cards_secret() -> None:
    env = yokai_septet_v0.raw_env(render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.text_observation("player_0")
    spectators = yokai_septet_v0.raw_env(render_mode="ansi", view="all")
    spectators.reset(seed=1)
    assert spectators.render() == spectators.variant.draw_table(spectators._states, 0)


@needs_pygame
@pytest.mark.parametrize("name", ["Pikit", "YokaiSeptet", "BiteNight"])
def test_frames_of_gymnasium_environments_are_collected(name: str) -> None:
    env = RenderCollection(gymnasium.make(f"monsterzoo/{name}-v0", render_mode="rgb_array", seat="rotate"))
    _, info = env.reset(seed=3)
    for _ in range(4):
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            break
    frames = env.render()
    assert len(frames) == 5
    assert all(frame.shape == (480, 640, 3) for frame in frames)
    assert (frames[0] != frames[1]).any()


def test_the_finished_game_of_a_learner_is_shown() -> None:
    env = gymnasium.make("monsterzoo/Pikit-v0", players=2, render_mode="ansi", view="all", seat=1).unwrapped
    with pytest.raises(RuntimeError, match="before reset"):
        env.render()
    _, info = env.reset(seed=3)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    assert env.render() == env.variant.draw_table(env._games.final_states, 0)


@needs_pygame
def test_windows_open_show_and_close() -> None:
    import pygame

    env = pikit_v0.env(render_mode="human", render_size=(320, 240))
    env.reset(seed=0)
    assert env.render() is None
    play(env, 3)
    assert pygame.display.get_surface().get_size() == (320, 240)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    play(env, 2)
    assert pygame.display.get_surface() is None, "closed by hand, a window stays closed"
    env.close()


@needs_pygame
def test_a_machine_without_a_screen_is_told_what_works_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "there is no such driver")
    env = pikit_v0.raw_env(render_mode="human")
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match='"rgb_array" and "ansi" work without one'):
        env.render()


def test_without_pygame_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pygame":
            raise ModuleNotFoundError("No module named 'pygame'", name="pygame")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    for mode in ("human", "rgb_array"):
        with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[render\]'"):
            pikit_v0.raw_env(render_mode=mode)
    pikit_v0.raw_env(render_mode="ansi")


@needs_pygame
def test_copies_of_an_environment_show_the_same() -> None:
    env = mz.make("pikit_v0", render_mode="rgb_array")
    env.reset(seed=1)
    play(env, 5)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert (twin.render() == env.render()).all()


def test_drawings_are_never_compiled() -> None:
    from monsterzoo.envs.compiling import cache

    folder = next(iter(cache.SHARED)).parent
    drawings = sorted(folder.rglob("scene*.py"))
    assert len(drawings) >= 5
    assert not [
        path
        for path in (*drawings, *(folder / "render").glob("*.py"))
        if re.search(r"jit|^@(compiled|inlined|kernel)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ], "drawings are no sources of compiled code"
    assert renderer.MODES == ["ansi", "human", "rgb_array", "svg"]


@needs_pygame
@pytest.mark.parametrize("again", [False, True], ids=["quit", "quit and begun again"])
def test_pictures_outlive_somebody_elses_pygame_quit(again: bool) -> None:
    import pygame

    env, window = pikit_v0.raw_env(render_mode="rgb_array"), pikit_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    window.reset(seed=1)
    before = env.render()
    window.render()
    pygame.quit()
    if again:
        pygame.init()
    np.testing.assert_array_equal(env.render(), before)
    window.render()
    window.close()
