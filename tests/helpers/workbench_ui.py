"""The workbench in a real Chromium: what is clicked, and how it is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page

from scrapy_mss.workbench.serving import Origins
from tests.helpers.browser import SECONDS


@dataclass(slots=True)
class WorkbenchUI:
    """The workbench's page; ``errors`` is what went wrong."""

    page: Page
    errors: list[str]

    def settle(self) -> None:
        """Wait until nothing is asked any more."""
        self.page.wait_for_selector("main[aria-busy=false]", timeout=1000 * SECONDS)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something *holds* and nothing is asked any more."""
        for _ in range(SECONDS * 20):
            if holds():
                self.settle()
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("what was waited for has not come")

    def click(self, selector: str) -> None:
        self.page.click(selector)
        self.settle()

    def click_block(self, number: int) -> dict[str, Any]:
        """Click a block of the drawn page; what the workbench answered."""
        block = self.page.frame_locator("#frame").locator(f'[data-block="{number}"]').first
        with self.page.expect_response(lambda answer: "/api/click" in answer.url) as answered:
            block.click()
        self.settle()
        found: dict[str, Any] = answered.value.json()
        return found

    def press(self, key: str, question: str) -> None:
        """Press *key*, and wait for the answer to the *question* that it leads to."""
        with self.page.expect_response(lambda answer: f"/api/{question}" in answer.url):
            self.page.keyboard.press(key)
        self.settle()

    @property
    def rule(self) -> str:
        return self.page.input_value("#text")

    def text(self, selector: str) -> str:
        return self.page.text_content(selector) or ""


@contextmanager
def opened(chromium: Browser, origins: Origins) -> Iterator[WorkbenchUI]:
    """The workbench as it is when its address was opened and all of it is there."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    try:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto(origins.address)
        ui = WorkbenchUI(page, errors)
        ui.settle()
        yield ui
    finally:
        context.close()
