"""A real Chromium draws small pages; without one these tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from research.rendering.browser import WIDTH, Browser, chromium
from research.rendering.drawing import Drawing
from tests.helpers.browser import noting

pytestmark = [
    pytest.mark.skipif(chromium() is None, reason="there is no chromium here"),
    pytest.mark.slow("a browser"),
    # A transport of asyncio, in playwright, is closed by the collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("playwright")

PATIENT = 600  # seconds: other programs may be running

TWO_COLUMNS = """<!doctype html><style>
  body { margin: 0; font: 16px/20px sans-serif; background: white }
  nav { float: left; width: 200px; height: 300px; background: rgb(0, 0, 128); color: white }
  main { margin-left: 200px; height: 300px }
  h1 { margin: 0; font-size: 30px; font-weight: 700 }
  .gone { display: none } .unseen { visibility: hidden } .faint { opacity: 0 }
</style><nav>menu of the site</nav>
<main><h1>Title</h1><p>some <b>words</b> about it</p><p class=gone>gone</p>
<p class=unseen>unseen</p><div class=faint><p>faint</p></div></main>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with closing(Browser(PATIENT)) as started:
        yield started


def drawn(browser: Browser, html: str) -> Drawing:
    drawing = browser.draw(html)
    assert isinstance(drawing, Drawing), drawing
    return drawing


def seen(drawing: Drawing) -> list[str]:
    """The visible texts."""
    rows = zip(drawing.text, drawing.visible, strict=True)
    return [" ".join(text.split()) for text, visible in rows if text and visible]


def test_boxes_fonts_and_colours_are_those_of_the_style(browser: Browser) -> None:
    drawing = drawn(browser, TWO_COLUMNS)

    nav, main = drawing.tag.index("nav"), drawing.tag.index("main")
    menu, title = drawing.text.index("menu of the site"), drawing.text.index("Title")
    assert drawing.box[0].width == WIDTH
    assert drawing.box[nav] == (0, 0, 200, 300)
    assert drawing.box[main] == (200, 0, WIDTH - 200, 300)
    assert drawing.placed[nav] == "style"
    assert drawing.background[menu] == drawing.background[nav] == "rgb(0, 0, 128)"
    assert drawing.background[title] == "rgb(255, 255, 255)"
    assert drawing.color[menu] == "rgb(255, 255, 255)"
    assert (drawing.font_size[title], drawing.font_weight[title]) == (30, 700)
    assert drawing.inline[drawing.tag.index("b")]
    assert not drawing.inline[main]
    assert drawing.styles > 300


def test_nothing_is_fetched_and_no_script_runs(browser: Browser) -> None:
    asked = set[str]()
    with noting([b""], asked) as server:
        away = f"{server}/"
        drawing = drawn(
            browser,
            f"""<meta http-equiv=refresh content="0; url={away}refresh">
            <base href="{away}"><link rel=stylesheet href=sheet><link rel=preload as=image href=pre>
            <link rel=preconnect href="{away}"><link rel=prefetch href=later>
            <link rel=dns-prefetch href="{away}"><link rel=icon href=icon>
            <style>@import "{away}import"; p {{ background: url({away}background) }}
            @font-face {{ font-family: f; src: url({away}font) }} p {{ font-family: f }}</style>
            <p>text<img src=image srcset="set 2x"><iframe src=frame></iframe>
            <video src=video poster=poster autoplay></video><object data=object></object>
            <embed src=embed><svg><image href=svg /><use href="use#a" /></svg>
            <input type=image src=input><a ping="{away}ping" href=link>link</a>
            <script>document.body.append("ran"); fetch("{away}fetch");
            new WebSocket("{away.replace("http", "ws")}")</script>
            <img src=x onerror="document.body.append('ran')">
            <noscript>without scripts</noscript>""",
        )
        browser.draw("<p>and the next page")  # whatever was late has had its time

    assert asked == set()
    assert {"text", "link", "without scripts"} <= set(seen(drawing))
    assert "ran" not in drawing.text
