"""What a crawl teaches the model in the box: it helps where it was learned and harms nowhere."""

from __future__ import annotations

import json
import lzma
from itertools import islice
from pathlib import Path
from statistics import fmean

import demo_web
import pytest

from research.bench import metrics
from scrapy_mss import Extractor
from scrapy_mss.core.alignment import label_passages
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ELSEWHERE = ("articles_fundus", "articles_l3s", "articles_rules", "articles_tools", "articles_wcxb")
EVERY = 6  # so many pages of a set one is asked about
HARM = 0.002
OK = 200

Case = tuple[Tokens, str]


def of_site(name: str) -> list[Case]:
    """The articles of a made-up site, with their texts."""
    return [
        (tokenize(page.body.decode()), page.gold.text)
        for page in demo_web.pages(name)
        if page.gold and page.status == OK
    ]


def f1(extractor: Extractor, cases: list[Case]) -> float:
    return fmean(
        metrics.bag(metrics.words(extractor.extract_tokens(t).text), metrics.words(gold)).f1
        for t, gold in cases
    )


def taught(cases: list[Case]) -> Extractor:
    """The model in the box with the pages of *cases* learned."""
    extractor = Extractor.load()
    for tokens, text in cases:
        inside = tokens.passages.spread(label_passages(tokens, text))
        assert extractor.learn(tokens, inside) is None
    return extractor


@pytest.fixture(scope="module")
def learned() -> Extractor:
    return taught([case for i, case in enumerate(of_site("courier-express")) if i % 4])


def test_pages_of_a_site_make_its_other_pages_better(learned: Extractor) -> None:
    unseen = of_site("courier-express")[::4]

    assert f1(learned, unseen) > f1(Extractor.load(), unseen) + 0.05


def test_pages_of_a_site_make_no_other_site_worse(learned: Extractor) -> None:
    if not DATA.is_dir():
        pytest.skip("no labelled pages beside the project")
    for name in ELSEWHERE:
        with lzma.open(DATA / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in islice(lines, 0, None, EVERY)]
        cases = [(tokenize(row["html"]), row["golds"][0]) for row in rows]
        assert f1(learned, cases) > f1(Extractor.load(), cases) - HARM, name
