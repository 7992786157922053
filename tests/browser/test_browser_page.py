"""What a page can do beside clicking: keys, hints, undo, coming back, watching."""

from collections.abc import Callable
from pathlib import Path

from page import Page
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

PIKIT = ("play", "pikit_v0", "--players", "2", "--opponents", "random", "--seed", "4")


def test_a_game_is_played_by_keys_alone(serve: Callable[..., str], browse: Callable[..., Page]) -> None:
    page = browse(serve(*PIKIT))
    page.await_turn()
    for _ in range(4):
        before = page.decision
        page.driver.execute_script("document.activeElement.blur()")
        page.press("ARROW_RIGHT")
        focused = page.driver.switch_to.active_element
        assert "target" in (focused.get_attribute("class") or "")
        assert page.find("#says").text == focused.get_attribute("aria-label"), "what it does is said before it is done"
        page.press("ENTER")
        if page.all("#menu[open]"):
            page.press("ARROW_DOWN")
            page.press("ENTER")
        if page.await_turn(before) == "over":
            break
    assert page.history
    assert page.problems() == []


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
    page.screenshot(screenshots / "hint.png")
    page.all("#scene .target .ring")[0].click()
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
    Select(page.find("#setup-game")).select_by_visible_text("Yokai Septet (players 3)")
    opponents = page.find("#setup-opponents")
    opponents.clear()
    opponents.send_keys("random heuristic")
    Select(page.find("#setup-seat")).select_by_visible_text("player_2")
    page.find("#setup-start").click()
    page.until(lambda: page.find("#title").text == "Yokai Septet" and page.state == "mine")
    assert page.find("#players").text == "player_0: random, player_1: heuristic, you are player_2"
    page.find("#new").click()
    page.find("#setup-opponents").clear()
    page.find("#setup-opponents").send_keys("nobody")
    page.find("#setup-start").click()
    page.until(lambda: page.find("#problem").is_displayed())
    assert "there is no policy 'nobody'" in page.find("#problem").text
    assert page.state == "mine", "the game goes on"


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
    everything = page.find("#scene").get_attribute("innerHTML")
    Select(page.find("#view")).select_by_visible_text("player_1")
    page.until(lambda: page.find("#scene").get_attribute("innerHTML") != everything)
    assert "player_0 holds 12 cards" in (page.find("#scene").get_attribute("innerHTML") or "")
    page.find("#end").click()
    page.until(lambda: "so far" not in page.find("#move").text)
    page.screenshot(screenshots / "watch.png")
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".target")
    assert page.problems() == []
