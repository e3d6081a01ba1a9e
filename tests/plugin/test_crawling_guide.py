"""What `docs/crawling.md` shows as code of a project, run in a project."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.plugin.crawling import ADDON, QUIET, ROOT, run_scrapy
from tests.plugin.site import Site, plain

GUIDE = ROOT / "docs" / "crawling.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPIDER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [{url!r}]

    def parse(self, response):
        pass
"""


def blocks(word: str) -> list[str]:
    """The code of the guide that contains *word*."""
    return [block for block in BLOCK.findall(GUIDE.read_text("utf-8")) if word in block]


def project(folder: Path, url: str, *settings: str, items: str = "") -> None:
    """A project with a spider for the page at *url*."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = newsfeed.settings\n")
    package = folder / "newsfeed"
    package.mkdir()
    (package / "items.py").write_text(items)
    given = "".join(f"{name} = {value!r}\n" for name, value in {**QUIET, **ADDON}.items())
    (package / "settings.py").write_text("\n".join((given, *settings)))
    (package / "spider.py").write_text(SPIDER.format(url=url))


def crawled(folder: Path) -> dict[str, Any]:
    done = run_scrapy(folder, "runspider", "newsfeed/spider.py", "-o", "items.jsonl")
    assert done.code == 0, done.err
    item: dict[str, Any] = json.loads((folder / "items.jsonl").read_text())
    return item


def illustrated(site: Site) -> str:
    """A page whose article has a main image, a figure and a recording."""
    figure = (
        f"<figure><img src={site.url('/picture/2')} alt='A harbour'>"
        "<figcaption>The harbour in winter</figcaption></figure>"
        f"<audio src={site.url('/sound/1')}></audio>"
    )
    image = f'<meta property="og:image" content="{site.url("/picture/1")}">'
    html = plain(1).replace("<head>", f"<head>{image}")
    before, found, after = html.partition("</p>")
    return f"{before}{found}{figure}{after}"


def test_images_and_audio_are_downloaded_as_the_guide_says(tmp_path: Path, site: Site) -> None:
    """By Scrapy's own pipelines, which read the pictures with Pillow."""
    (pipelines,) = blocks("ImagesPipeline")
    (items,) = blocks("class IllustratedArticle")
    (item_class,) = blocks("MSS_ITEM_CLASS =")
    (tmp_path / "page.html").write_text(illustrated(site))
    project(tmp_path, (tmp_path / "page.html").as_uri(), pipelines, item_class, items=items)

    item = crawled(tmp_path)

    pictures = [site.url("/picture/1"), site.url("/picture/2")]
    assert [each["url"] for each in item["images"]] == item["image_urls"] == pictures
    assert [each["url"] for each in item["files"]] == item["file_urls"] == [site.url("/sound/1")]
    for each in (*item["images"], *item["files"]):
        assert (tmp_path / "media" / each["path"]).stat().st_size > 0
    assert item["media"][1] == {
        "kind": "image",
        "url": pictures[1],
        "caption": "The harbour in winter",
        "alt": "A harbour",
    }
