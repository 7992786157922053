"""What a page can do beside clicking: keys, hints, undo, coming back, watching."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from monsterzoo.envs import replay
from page import Page
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

PIKIT = ("play", "pikit_v0", "--players", "2", "--opponents", "random", "--seed", "4")


def test_a_whole_game_is_played_by_keys_alone(serve: Callable[..., str], browse: Callable[..., Page]) -> None:
    """The focus is on something to choose whenever it is one's turn, without a key that fetches it."""
    page = browse(serve("play", "bite_night_v0", "--players", "3", "--option", "laps=1", "--seed", "4"))
    page.await_turn()
    page.at_once()
    page.driver.execute_script("document.activeElement.blur()")
    page.press("ARROW_RIGHT")
    decisions = 0
    while page.await_turn() == "mine":
        before = page.decision
        focused = page.driver.switch_to.active_element
        assert "target" in (focused.get_attribute("class") or ""), f"decision {decisions}"
        assert page.find("#says").text == focused.get_attribute("aria-label"), "what it does is said before it is done"
        if decisions % 2:
            page.press("ARROW_RIGHT")
        page.press("ENTER")
        if page.all("#menu[open]"):
            page.press("ARROW_DOWN")
            page.press("ENTER")
        decisions += 1
        page.await_turn(before)
    assert decisions > 5
    assert page.find("#result").text == "You win!" or page.find("#result").text.startswith("You lose: player_")
    assert page.problems() == []


@pytest.mark.parametrize(("pace", "gap"), [("quick", 450), ("slow", 1200)])
def test_every_move_stays_for_its_time(
    pace: str, gap: float, serve: Callable[..., str], browse: Callable[..., Page]
) -> None:
    page = browse(serve("play", "yokai_septet_v0", "--seed", "3", "--opponents", "random"))
    page.await_turn()
    page.at_once()
    while "pass" in " ".join(page.targets).lower():
        before = page.decision
        page.rings[0].click()
        page.await_turn(before)
    Select(page.find("#pace")).select_by_visible_text(pace)
    page.watch_the_clock()
    for _ in range(2):  # a trick and the next one
        before = page.decision
        page.rings[0].click()
        page.await_turn(before)
    assert len(page.gaps()) > 4
    assert min(page.gaps()) > 0.95 * gap, "measured by the browser's own clock"


def test_a_click_shows_at_once_what_is_still_to_come(serve: Callable[..., str], browse: Callable[..., Page]) -> None:
    page = browse(serve("play", "yokai_septet_v0", "--seed", "3", "--opponents", "random"))
    page.await_turn()
    Select(page.find("#pace")).select_by_visible_text("slow")
    page.watch_the_clock()
    while page.state == "mine":
        before = page.decision
        page.rings[0].click()
        page.until(lambda old=before: page.decision != old)
    page.until(lambda: page.find("#scene").click() or page.state == "mine")
    assert min(page.gaps()) < 600


def test_hint_undo_and_coming_back(serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path) -> None:
    address = serve(*PIKIT)
    page = browse(address)
    page.await_turn()
    page.at_once()
    first_targets, first_game = page.targets, page.driver.current_url
    assert page.find("#undo").get_attribute("disabled"), "there is nothing to undo yet"
    page.find("#hint").click()
    page.until(lambda: page.all("#bars li"))
    assert len(page.all("#bars li")) >= len(first_targets)
    best = page.find("#bars li.chosen").text
    assert best == page.all("#bars li")[0].text
    advised = page.find("#scene .target.advised")
    assert advised.find_element(By.CSS_SELECTOR, ".advice").text == "★", "the choice is marked on the card itself"
    assert not set(page.all("#bars li.pale")) & set(page.all("#bars li.chosen"))
    page.screenshot(screenshots / "hint.png")
    page.rings[0].click()
    if page.all("#menu[open]"):
        page.screenshot(screenshots / "menu.png")
        page.all("#choices button")[0].click()
    page.await_turn("0")
    later_targets, lines = page.targets, page.history
    page.driver.get("about:blank")  # the tab is closed …
    page.driver.get(address)  # … and the printed address opened again
    page.await_turn()
    assert page.targets == later_targets
    assert page.history == lines
    page.find("#undo").click()
    page.until(lambda: page.decision == "0")
    assert page.targets == first_targets
    assert page.driver.current_url != first_game, "undo is a new game"


def test_another_game_is_set_up_on_the_page(serve: Callable[..., str], browse: Callable[..., Page]) -> None:
    page = browse(serve(*PIKIT))
    page.await_turn()
    page.find("#new").click()
    Select(page.find("#setup-game")).select_by_visible_text("Yokai Septet, 3 players")
    opponents = page.find("#setup-opponents")
    opponents.clear()
    opponents.send_keys("random heuristic")
    Select(page.find("#setup-seat")).select_by_visible_text("player_2")
    page.find("#setup-start").click()
    page.until(lambda: page.find("#title").text == "Yokai Septet" and page.state == "mine")
    assert page.find("#players").text == "3 players · player_0: random · player_1: heuristic · you are player_2"
    page.find("#new").click()
    assert Select(page.find("#setup-game")).first_selected_option.text == "Yokai Septet, 3 players"
    assert Select(page.find("#setup-seat")).first_selected_option.text == "player_2"
    assert page.find("#setup-opponents").get_attribute("value") == "random heuristic"
    page.find("#setup-opponents").clear()
    page.find("#setup-opponents").send_keys("nobody")
    page.find("#setup-start").click()
    page.until(lambda: page.find("#problem").is_displayed())
    assert "'nobody' cannot be chosen here" in page.find("#problem").text
    assert page.state == "mine", "the game goes on"


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (("yokai_septet_v0",), "Yokai Septet, 4 players"),
        (("yokai_septet_v0", "--option", "variant=seven_suitors"), "Yokai Septet, 4 players, Seven Suitors"),
        (("bite_night_v0", "--option", "advanced=true", "--option", "laps=1"), "Bite Night, 4 players, advanced cards"),
    ],
)
def test_the_dialog_offers_the_running_variant(
    words: tuple[str, ...], chosen: str, serve: Callable[..., str], browse: Callable[..., Page]
) -> None:
    page = browse(serve("play", *words, "--opponents", "random"))
    page.await_turn()
    page.find("#new").click()
    assert Select(page.find("#setup-game")).first_selected_option.text == chosen
    before = page.driver.current_url
    status = page.find("#status").text
    page.find("#setup-start").click()
    page.until(lambda: page.driver.current_url != before and page.state == "mine")
    assert page.find("#status").text == status, "other options, such as laps, stay"


def test_a_finished_game_is_saved_looked_back_at_and_played_again(
    serve: Callable[..., str], browse: Callable[..., Page], tmp_path: Path, screenshots: Path
) -> None:
    page = browse(serve("play", "pikit_v0", "--players", "2", "--opponents", "random", "--option", "max_turns=4"))
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.await_turn()
    assert not page.find("#ending").is_displayed()
    page.play_to_the_end(seed=1)
    assert page.find("#result").text == "The game was truncated: nobody wins."
    page.screenshot(screenshots / "ending.png")
    page.find("#save").click()
    saved = page.until(lambda: next(tmp_path.glob("pikit_v0-*.json"), None))
    assert replay(json.loads(saved.read_text())).snapshot()["over"]
    finished = page.driver.current_url
    page.find("#again").click()
    page.until(lambda: page.driver.current_url != finished and page.state == "mine")
    page.play_to_the_end(seed=2)
    page.find("#review").click()
    page.until(lambda: page.find("#watching").is_displayed())
    assert page.find("#move").text.startswith("Move 0 of ")
    assert page.problems() == []


def test_policies_are_watched(serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path) -> None:
    page = browse(serve("watch", "yokai_septet_v0", "--policies", "random", "--seed", "2"))
    page.until(lambda: page.all("#scene text") and page.find("#move").text == "Move 0 of 0 so far")
    for _ in range(3):
        before = page.find("#move").text
        page.find("#forward").click()
        page.until(lambda old=before: page.find("#move").text != old)
    assert page.find("#move").text == "Move 3 of 3 so far"
    page.find("#back").click()
    page.until(lambda: page.find("#move").text == "Move 2 of 3 so far")
    page.driver.execute_script("document.activeElement.blur()")
    page.press("HOME")
    page.until(lambda: page.find("#move").text == "Move 0 of 3 so far")
    Select(page.find("#pace")).select_by_visible_text("quick")
    page.driver.execute_script("document.activeElement.blur()")
    page.press("SPACE")
    page.until(lambda: page.find("#move").text == "Move 2 of 3 so far")
    page.press("SPACE")
    page.until(lambda: page.find("#run").text == "Run")
    page.press("HOME")
    page.until(lambda: page.find("#move").text.startswith("Move 0 of "))
    page.press("ARROW_RIGHT")
    page.until(lambda: page.find("#move").text.startswith("Move 1 of "))
    everything = page.find("#scene").get_attribute("innerHTML")
    Select(page.find("#view")).select_by_visible_text("player_1")
    page.until(lambda: page.find("#scene").get_attribute("innerHTML") != everything)
    assert "player_0 holds 12 cards" in (page.find("#scene").get_attribute("innerHTML") or "")
    page.find("#end").click()
    page.until(lambda: "so far" not in page.find("#move").text)
    page.screenshot(screenshots / "watch.png")
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".target")
    assert page.problems() == []
