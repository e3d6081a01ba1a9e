"""What `docs/crawling.md` shows as code of a project, run in a project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.plugin.crawling import ADDON, QUIET, ROOT, environment
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
    return [block for block in BLOCK.findall(GUIDE.read_text("utf-8")) if word in block]


def test_the_main_image_is_downloaded_as_the_guide_says(tmp_path: Path, site: Site) -> None:
    """The image is another page of the site: the pipeline does not look into files."""
    classes, settings = blocks("MainImagePipeline")
    image = f'<meta property="og:image" content="{site.url("/index/1")}">'
    html = plain(1).replace("<head>", f"<head>{image}")
    (tmp_path / "page.html").write_text(html)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = newsfeed.settings\n")
    package = tmp_path / "newsfeed"
    package.mkdir()
    (package / "pipelines.py").write_text(classes)
    given = "".join(f"{name} = {value!r}\n" for name, value in {**QUIET, **ADDON}.items())
    (package / "settings.py").write_text(given + settings)
    (package / "spider.py").write_text(SPIDER.format(url=(tmp_path / "page.html").as_uri()))

    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", "newsfeed/spider.py", "-o", "items.jsonl"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    item = json.loads((tmp_path / "items.jsonl").read_text())
    (file,) = item["files"]
    assert file["url"] == item["main_image"] == site.url("/index/1")
    assert (tmp_path / "images" / file["path"]).stat().st_size > 0
