"""A real Chromium without a screen, and the commands whose pages it opens.

`make test-browser` installs what is needed (Debian: apt-get install chromium chromium-driver) and runs these tests;
without MONSTERZOO_BROWSER=1, which it sets, they are left out.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page import Page

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    if os.environ.get("MONSTERZOO_BROWSER") == "1":
        return
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="a browser is needed: make test-browser"))


@pytest.fixture
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Starts `monsterzoo …` and returns the address it prints."""
    started = []

    def start(*words: str) -> str:
        command = [sys.executable, "-m", "monsterzoo.cli", *words, "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line, f"{' '.join(words)} printed {line!r}"
        return line.split()[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def browse(tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens an address in a window of a size."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    drivers = []

    def open_page(address: str, size: tuple[int, int] = (1366, 900)) -> Page:
        options = Options()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS, f"--user-data-dir={tmp_path / str(len(drivers))}", f"--window-size={size[0]},{size[1]}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        drivers.append(driver)
        driver.set_window_size(*size)
        driver.get(address)
        return Page(driver)

    yield open_page
    for driver in drivers:
        driver.quit()
