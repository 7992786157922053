"""Games in a real browser, played as a person would: by clicks and by keys."""

from collections.abc import Callable
from pathlib import Path

import pytest
from page import Page

DECK = '{"2": 3, "4": 3, "5": 2, "6": 3, "7": 3, "8": 4, "9": 1, "10": 1}'  # a short game
GAMES = {
    "pikit_v0": ("--players", "2", "--opponents", "random", "--option", f"deck={DECK}"),
    "yokai_septet_v0": ("--players", "2", "--option", "episode=round"),
    "bite_night_v0": ("--players", "3", "--option", "laps=1", "--option", "advanced=true"),
}
WINDOWS = {
    "laptop": ((1366, 625), 14),
    "screen": ((1920, 1080), 14),
    "small": ((820, 700), 11),
    "phone": ((390, 844), 12),
}
"""Sizes of windows, and the smallest text there, in pixels."""


@pytest.mark.parametrize("game", ["pikit_v0", "yokai_septet_v0"])  # Bite Night is played for its summaries
def test_a_whole_game_by_clicks(
    game: str, serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path
) -> None:
    page = browse(serve("play", game, *GAMES[game], "--seed", "3"))
    page.await_turn()
    page.screenshot(screenshots / f"{game}-start.png")
    tiny = [(words, pixels) for words, pixels in page.text_sizes() if pixels < 9]
    assert not tiny, "text that nobody can read"
    decisions = page.play_to_the_end(seed=5)
    assert decisions > 5
    assert page.state == "over"
    assert "The game is over" in (page.find("#prompt").get_attribute("textContent") or "")
    assert len(page.history) > decisions
    page.screenshot(screenshots / f"{game}-end.png")
    assert page.problems() == []


@pytest.mark.parametrize("game", GAMES)
def test_texts_can_be_read_and_targets_hit_in_every_window(
    game: str, serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path
) -> None:
    page = browse(serve("play", game, "--seed", "3", "--opponents", "random"))
    page.await_turn()
    for name, ((width, height), smallest) in WINDOWS.items():
        page.resize(width, height)
        page.screenshot(screenshots / f"{game}-{name}.png")
        tiny = [(words, pixels) for words, pixels in page.text_sizes() if pixels < smallest]
        assert not tiny, name
        assert min(page.target_sizes()) >= (40 if name == "phone" else 24), name
    assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 390, "nothing sticks out"
