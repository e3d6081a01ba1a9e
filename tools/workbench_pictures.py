"""The pictures of `docs/workbench.md`: the workbench in Chromium, on the made-up sites of the demo.

    PYTHONPATH=. python tools/workbench_pictures.py

They are real: what is in them is what a user sees. They are reduced to 128 colours, which keeps a
picture below 150 kB.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "workbench"
sys.path.append(str(ROOT / "example_project"))

from demo_web import pages  # noqa: E402 - it is beside the package
from playwright.sync_api import Page, ViewportSize  # noqa: E402

from scrapy_mss.files.stored_pages import StoredPage  # noqa: E402
from tests.helpers.browser import browser  # noqa: E402
from tests.helpers.workbench_ui import WorkbenchUI, opened  # noqa: E402
from tests.helpers.workbenches import served, workbench  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

N_PAGES = 24
DEEP = 5  # slashes in the address of an article
RULE = """site: daily-harbour.example
body: .story-body
exclude: figure
title: h1
authors: a[rel="author"]
published: time::attr(datetime)
"""
CLICKED = "Enjoying this story?"
WIDE: ViewportSize = {"width": 1280, "height": 800}
COLOURS = 128


def stored() -> Iterator[StoredPage]:
    """Articles of two made-up sites."""
    for name in ("daily-harbour", "northgate-post"):
        for page in [each for each in pages(name) if each.url.count("/") > DEEP][:N_PAGES]:
            yield StoredPage(page.url, page.html)


def draw(ui: WorkbenchUI) -> None:
    """Do what the page tells about, and keep what is seen."""
    page = ui.page
    page.set_viewport_size(WIDE)
    page.fill("#text", RULE)
    page.wait_for_timeout(1000)
    ui.settle()
    block = page.frame_locator("#frame").locator("[data-block]", has_text=CLICKED).first
    ui.click_block(int(block.get_attribute("data-block") or -1))
    page.mouse.move(5, 5)
    keep(page, "click")
    ui.click("#undo")
    ui.click("#tab-differences")
    keep(page, "differences")


def keep(page: Page, name: str) -> None:
    """Write a picture of what is seen."""
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(COLOURS).save(OUT / f"{name}.png", optimize=True)
    print(f"{OUT / name}.png")


def main() -> None:
    """Draw all pictures anew."""
    OUT.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as folder,
        served(workbench(stored(), Path(folder))) as origins,
        browser() as chrome,
        opened(chrome, origins) as ui,
    ):
        draw(ui)


if __name__ == "__main__":
    main()
