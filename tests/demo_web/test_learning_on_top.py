"""What crawls of the demo web find and learn on top of the bundled model, an hour later, too."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import demo
import demo_web
import pytest

from scrapy_mss import Extractor
from scrapy_mss.models.files import with_bundled
from tests.plugin.models import stored_model

pytestmark = pytest.mark.slow("two crawls of all sites, and hundreds of pages by two models")

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
EVERY = 24  # so many pages of a set one is tried
HARM = 0.002
NOW = datetime.now(timezone.utc)
WRAPPED = ("daily-harbour", "northgate-post")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the items of a crawl and the store that it leaves."""
    folder = tmp_path_factory.mktemp("crawl")
    with pytest.MonkeyPatch.context() as patch, demo_web.serving(now=NOW) as proxy:
        patch.setattr(demo, "FEED", folder / "articles.jsonl")
        patch.setattr(demo, "STORE", folder / "store")
        assert demo.crawl(proxy) == 0
        yield folder


class Case(NamedTuple):
    html: str
    url: str
    text: str


def f1(extractor: Extractor, cases: Iterable[Case]) -> float:
    return fmean(demo.f1(extractor.extract(html, url).text, text) for html, url, text in cases)


def of_site(name: str) -> list[Case]:
    return [
        Case(each.html, each.url, each.expected) for each in demo_web.pages(name) if each.expected
    ]


def real_pages() -> dict[str, list[Case]]:
    """A sample of each set of labelled pages; nothing if they are not next to the project."""
    found = {}
    for path in DATA.glob("articles_*.jsonl.xz"):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in islice(lines, 0, None, EVERY)]
        found[path.name] = [Case(row["html"], row["url"] or "", row["golds"][0]) for row in rows]
    return found


def test_a_wrapper_gives_exact_text_and_the_model_most_of_it(crawled: Path) -> None:
    with (crawled / "articles.jsonl").open(encoding="utf-8") as lines:
        texts = {item["url"]: item["text"] for item in map(json.loads, lines)}

    for name in demo_web.SITES:
        articles = [page for page in demo_web.pages(name) if page.expected]
        scores = [demo.f1(texts.get(page.url, ""), page.expected) for page in articles]
        assert fmean(scores) >= (1.0 if name in WRAPPED else 0.65), name


def test_a_crawl_makes_sites_with_wrappers_better_and_no_others_worse(crawled: Path) -> None:
    cases = {name: of_site(name) for name in demo_web.SITES} | real_pages()
    bundled, learned = Extractor(), Extractor.of(with_bundled(stored_model(crawled / "store")))

    gains = {name: f1(learned, pages) - f1(bundled, pages) for name, pages in cases.items()}

    assert all(gains[name] > 0 for name in WRAPPED), gains
    assert min(gains.values()) > -HARM, gains


def test_an_hour_later_comes_what_is_new_and_changed_and_the_redesign_is_reported(
    crawled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(crawled / "store", tmp_path / "store")
    monkeypatch.setattr(demo, "STORE", tmp_path / "store")
    monkeypatch.setattr(demo, "REPORT", tmp_path / "report.html")
    demo.move_a_day_back()

    with demo_web.serving(sites=demo_web.LATER, now=NOW) as proxy:
        assert demo.crawl(proxy, tmp_path / "later.jsonl") == 0
    earlier = demo.read(crawled / "articles.jsonl")
    table = demo.later_report(demo.read(tmp_path / "later.jsonl"), earlier)
    capfd.readouterr()
    assert demo.write_report() == 0
    printed = capfd.readouterr().out.splitlines()

    assert table.splitlines()[-1].split()[:-2] == "all 19 of 19 5 of 5 2 of 2 0".split()
    assert printed[-1] == f"1 of 5 sites have alarms; the report is {tmp_path / 'report.html'}"
    heads = "site last success lists announced requested articles last error"
    assert printed[0].split() == heads.split()
    assert {line.partition(".")[0] for line in printed[1:6]} == set(demo_web.SITES)
    alarms = [line for line in printed[6:-1] if "articles came out" not in line]
    assert {line.partition(":")[0] for line in alarms} == {"northgate-post.example"}
    assert any(": articles with the known layout: 100% to 0%" in line for line in printed)
    assert any("the rule finds a title: 100% to 0%" in line for line in printed)
