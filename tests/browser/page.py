"""The page of a table, as a person uses it."""

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

PATIENCE = 60
"""Seconds for anything to happen; compiling a game for the first time takes a while."""


class Page:
    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def find(self, selector: str) -> WebElement:
        element: WebElement = self.driver.find_element(By.CSS_SELECTOR, selector)
        return element

    def all(self, selector: str) -> list[WebElement]:
        elements: list[WebElement] = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return elements

    def until(self, condition: Any) -> Any:
        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(lambda _: condition())

    @property
    def state(self) -> str:
        """Whose move it is: "mine", "others" or "over"; nothing before there is a table."""
        return self.find("body").get_attribute("data-state") or ""

    @property
    def decision(self) -> str:
        return self.find("body").get_attribute("data-decision") or ""

    @property
    def history(self) -> list[str]:
        script = "return [...document.querySelectorAll('#history li')].map((item) => item.textContent)"
        lines: list[str] = self.driver.execute_script(script)
        return lines

    @property
    def targets(self) -> list[str]:
        """What can be clicked, as it is read out."""
        return [element.get_attribute("aria-label") or "" for element in self.all("#scene .target")]

    def at_once(self) -> None:
        Select(self.find("#pace")).select_by_visible_text("at once")

    def await_turn(self, after: str = "none") -> str:
        """Wait for one's own turn, another than decision `after`, or the end."""
        self.until(lambda: self.state == "over" or (self.state == "mine" and self.decision != after))
        return self.state

    @property
    def rings(self) -> Any:
        """What can be clicked on, once it is drawn."""
        return self.until(lambda: self.all("#scene .target .ring"))

    def click_target(self, random: Random) -> None:
        """Click on something that can be chosen, and on one of its choices where it has several."""
        random.choice(self.rings).click()
        if self.all("#menu[open]"):
            random.choice(self.all("#choices button")).click()

    def press(self, key: str) -> None:
        self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def watch_the_clock(self) -> None:
        """From now on, note when the table is drawn anew, and whose turn it shows: see `gaps`."""
        script = """
            window.drawn = [];
            new MutationObserver(() => window.drawn.push([performance.now(), document.body.dataset.state]))
                .observe(document.getElementById("drawing"), { childList: true });
        """
        self.driver.execute_script(script)

    def gaps(self) -> list[float]:
        """For how many milliseconds each picture of others at play was to be seen."""
        drawn = self.driver.execute_script("return window.drawn")
        return [later[0] - earlier[0] for earlier, later in pairwise(drawn) if earlier[1] == "others"]

    def target_sizes(self) -> list[float]:
        """The shorter side of everything that can be clicked on the table, in pixels."""
        script = """
            return [...document.querySelectorAll("#scene .target .ring")].map((ring) => ring.getBoundingClientRect())
                .map(({ width, height }) => Math.min(width, height))
        """
        sizes: list[float] = self.driver.execute_script(script)
        return sizes

    def play_to_the_end(self, seed: int) -> int:
        """Play a whole game by clicks; returns the number of decisions."""
        random, decisions = Random(seed), 0
        self.at_once()
        while self.await_turn() == "mine":
            before = self.decision
            self.click_target(random)
            decisions += 1
            self.await_turn(before)
        return decisions

    def text_sizes(self) -> list[tuple[str, float]]:
        """Every text of the table with its height on the screen in pixels, as it is drawn."""
        script = """
            const scale = document.getElementById("scene").getScreenCTM().a;
            const { right } = document.getElementById("scene").getBoundingClientRect();
            const seen = (text) => text.getBoundingClientRect().right <= right;
            return [...document.querySelectorAll("#scene text")].filter(seen).map(
                (text) => [text.textContent, scale * Number(text.getAttribute("font-size"))])
        """
        return [(words, size) for words, size in self.driver.execute_script(script)]

    def resize(self, width: int, height: int) -> None:
        """Another size of the window; a narrow one is a phone's."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def screenshot(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))

    def problems(self) -> list[str]:
        """What the browser complained about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
