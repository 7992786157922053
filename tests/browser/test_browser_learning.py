"""What helps to follow and to learn a game on the page: rules, tooltips, lessons, summaries, opinions, motion."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

from monsterzoo.envs import replay
from page import Page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import Select

BITE = ("play", "bite_night_v0", "--players", "3", "--opponents", "random", "--seed", "4")


def test_rules_of_the_variant_are_opened_and_closed_by_keys(
    serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path
) -> None:
    page = browse(serve("play", "yokai_septet_v0", "--players", "3", "--opponents", "random", "--seed", "3"))
    page.await_turn()
    page.press("?")
    page.until(lambda: page.all("#book[open]"))
    rules = page.find("#pages").text
    assert "Three players" in rules
    assert "Four players" not in rules
    assert "**" not in rules
    assert len(page.all("#pages figure svg rect")) >= 9, "cards are drawn"
    assert "A boss: 3 of them win the round; this one then counts 3 tokens." in rules
    page.screenshot(screenshots / "rules.png")
    page.press("ESCAPE")
    page.until(lambda: not page.all("#book[open]"))
    assert page.problems() == []


def test_tooltips_come_on_hover_focus_and_long_press(serve: Callable[..., str], browse: Callable[..., Page]) -> None:
    page = browse(serve(*BITE))
    page.await_turn()
    page.driver.execute_script("document.activeElement.blur()")
    assert not page.find("#tip").is_displayed()
    cards = page.all("#scene .target")
    ActionChains(page.driver).move_to_element(cards[1]).perform()
    page.until(lambda: page.find("#tip").is_displayed())
    hovered = page.find("#tip").text
    assert "\n" in hovered
    ActionChains(page.driver).move_to_element(page.find("#title")).perform()
    page.until(lambda: not page.find("#tip").is_displayed())
    page.driver.execute_script("arguments[0].focus()", cards[1])
    assert page.find("#tip").text == hovered
    page.driver.execute_script("arguments[0].blur()", cards[1])
    before = page.decision
    page.driver.execute_script("arguments[0].dispatchEvent(new TouchEvent('touchstart'))", cards[1])
    page.until(lambda: page.find("#tip").is_displayed())
    assert page.find("#tip").text == hovered
    page.driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('click'))", cards[1])
    assert (page.decision, page.state) == (before, "mine"), "a long press chooses nothing"


def test_a_first_game_is_explained_step_by_step(
    serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path
) -> None:
    page = browse(serve("play", "pikit_v0", "--players", "2", "--opponents", "random", "--seed", "4"))
    page.await_turn()
    page.at_once()
    assert not page.find("#lesson").is_displayed()
    page.find("#learn").click()
    for _ in range(2):
        page.until(lambda: page.find("#why").text.startswith("★"))
        assert "discard" in page.find("#taught").text.lower() or "Take one thing" in page.find("#taught").text
        assert len(page.all("#scene .target.advised")) == 1
        before = page.decision
        page.click_target(Random(1))
        assert page.await_turn(before) == "mine"
    page.screenshot(screenshots / "learn.png")
    page.driver.refresh()
    page.await_turn()
    assert page.find("#lesson").is_displayed(), "the page remembers it"
    assert page.problems() == []


def test_the_end_of_a_round_waits_to_be_read_and_the_game_ends_with_a_breakdown(
    serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "record.json"
    page = browse(serve(*BITE, "--option", "laps=2", "--output", str(saved)), (1366, 760))
    page.await_turn()
    page.at_once()
    random, held = Random(3), False
    while page.await_turn() == "mine" and not held:
        status = page.find("#status").text
        if "round 5 of 5" in status or "a burial" in status:
            Select(page.find("#pace")).select_by_visible_text("quick")
        before = page.decision
        page.click_target(random)
        page.until(lambda old=before: page.state == "over" or page.decision != old)
        page.until(lambda: page.state != "others" or page.find("#on").is_displayed())
        held = page.find("#on").is_displayed()
    assert any(", laid by" in line.text for line in page.all("#lines li")), "card by card"
    page.screenshot(screenshots / "summary.png")
    page.press("ENTER")
    page.until(lambda: not page.find("#on").is_displayed())
    page.play_to_the_end(seed=4)
    assert page.find("#result").text.startswith(("You win", "You lose: "))
    assert page.find("#breakdown").text.startswith("after lap 1 2\n")
    record = json.loads(page.until(lambda: saved.exists() and saved.read_text()))
    end = replay(record).snapshot()
    scores = [row.text.split() for row in page.all("#scores tr")][1:]
    assert [int(row[1]) for row in scores] == end["scores"]
    page.screenshot(screenshots / "end.png")
    table = page.driver.current_url
    page.find("#review").click()
    page.until(lambda: page.find("#watching").is_displayed())
    page.driver.back()
    page.until(lambda: page.driver.current_url == table and page.find("#ending").is_displayed())
    assert page.problems() == []


def test_moves_are_clicked_and_judged_along_a_curve(
    serve: Callable[..., str], browse: Callable[..., Page], screenshots: Path
) -> None:
    page = browse(serve("watch", "yokai_septet_v0", "--players", "2", "--policies", "random", "--seed", "2"))
    page.until(lambda: page.find("#move").text == "Move 0 of 0 so far")
    page.driver.execute_script(
        "arguments[0].value = 1; arguments[0].dispatchEvent(new Event('change'))", page.find("#place")
    )
    for number in range(2, 9):
        page.until(lambda n=number: page.find("#move").text.startswith(f"Move {n - 1} "))
        page.press("ARROW_RIGHT")
    page.until(lambda: page.find("#move").text == "Move 8 of 8 so far")
    page.find("#analyse").click()
    page.until(lambda: len(page.all(".mark")) >= 8)
    assert page.find("#curve").is_displayed()
    assert len(page.all("#curve polyline")) == 2, "a line for each player"
    assert "search: " in page.find("#opinion").text
    page.screenshot(screenshots / "opinions.png")
    page.all("#history li.move")[2].click()
    page.until(lambda: not page.find("#move").text.startswith("Move 8"))
    Select(page.find("#view")).select_by_visible_text("player_1")
    page.until(lambda: len(page.all("#curve polyline")) == 1)
    assert page.problems() == []


MOVED = """
    window.moved = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
        window.moved.push(options.duration);
        return animate.call(this, frames, options);
    };
"""


def test_cards_move_for_a_moment_unless_motion_is_reduced(
    serve: Callable[..., str], browse: Callable[..., Page]
) -> None:
    page = browse(serve("play", "yokai_septet_v0", "--seed", "3", "--opponents", "random"))
    for motion in ("no-preference", "reduce"):
        features = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
        page.await_turn()
        page.driver.execute_script(MOVED)
        for _ in range(4):
            before = page.decision
            page.rings[0].click()
            page.await_turn(before)
        moved = page.driver.execute_script("return window.moved")
        assert bool(moved) == (motion == "no-preference")
        assert all(duration <= 400 for duration in moved)
        page.driver.refresh()
