from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import SiteMemory
from tests.helpers.memories import address_memory
from tests.page_cases import PageCase, read_cases

CASES = read_cases()[::4]
SENTENCE = (
    "The harbour of the town was closed on day {n} because of the storm, and {n} boats stayed."
)


@cache
def extractor() -> Extractor:
    return Extractor()


def story(n: int) -> str:
    """The n-th article of a site that ends its articles with a long notice."""
    body = "".join(f"<p>{SENTENCE.format(n=f'{_word(n)} {_word(k)}')}</p>" for k in range(8))
    notice = (
        "<p>This article was written for the readers of our paper, who support it by their "
        "subscriptions, which we ask you to consider as well, today or on another day.</p>"
    )
    head = f"<h1>Storm on day {_word(n)}</h1>"
    return f"<body>{head}<div class=story>{body}{notice}</div></body>"


def _word(n: int) -> str:
    return "ab"[n % 2] + "cdef"[n // 2 % 4] + "ghij"[n // 8 % 4] + "er"


def read(html: str, visit: SiteContext | None = None) -> Extraction:
    return extractor().extract_page(Page.of(html), visit)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_without_memory_a_visit_reads_what_is_read_today(case: PageCase) -> None:
    visited, today = read(case.source, SiteContext(SiteMemory(), 1)), read(case.source)

    assert visited.text == today.text
    assert visited.probability == today.probability
    assert visited.scores.tolist() == today.scores.tolist()


def crawled(pages: Iterable[str]) -> SiteMemory:
    memory = SiteMemory()
    for page in pages:
        visit = SiteContext(memory, 1)
        read(page, visit)
        memory = memory.plus(visit.update.added)
    return memory


STORIES = [*map(story, range(6))]


def test_a_notice_under_every_article_is_no_longer_extracted() -> None:
    assert "subscriptions" in read(story(20)).text

    text = read(story(20), SiteContext(crawled(STORIES), 1)).text

    assert "subscriptions" not in text
    assert text.count("boats stayed") == 8


def test_a_teaser_stays_one_where_the_memory_takes_its_offer_away() -> None:
    page = story(20).replace("today or on another day", "subscribe to read on")
    declared = '<script type="application/ld+json">{"isAccessibleForFree": false}</script>'
    memory = crawled(
        each.replace("today or on another day", "subscribe to read on") for each in STORIES
    )

    teaser = read(declared + page, SiteContext(memory, 1))

    assert "subscribe" not in teaser.text
    assert teaser.kind == read(declared + page).kind == "teaser"
    assert read(page, SiteContext(memory, 1)).kind == "article"


def forecast(n: int) -> str:
    """The n-th forecast of the site: a table of values, and a line on the weekend."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    cells = "".join(f"<tr><td>{day}<td>{n + at}°<td>{at}<td>1010" for at, day in enumerate(days))
    lines = (
        f"<p>{SENTENCE.format(n=_word(n))}</p><p>In the {_word(n)} hills the first snow fell.</p>"
    )
    return f"<body><h1>Weather of day {n}</h1><div class=story><table>{cells}</table>{lines}</div>"


def test_a_forecast_is_none_where_the_memory_takes_its_table_away() -> None:
    memory = crawled(story(n) if n % 2 else forecast(n) for n in range(16))

    alone, known = read(forecast(20)), read(forecast(20), SiteContext(memory, 1))

    assert "Monday" in alone.text
    assert "Monday" not in known.text
    assert known.kind == alone.kind == "other"


def test_what_a_page_adds_does_not_depend_on_what_is_known() -> None:
    first, later = SiteContext(SiteMemory(), 1), SiteContext(crawled(STORIES), 1)
    read(story(20), first)
    read(story(20), later)

    assert first.update.added == later.update.added


def test_blocks_that_look_like_the_article_of_other_pages_make_no_article_of_a_page() -> None:
    visit = SiteContext(crawled(STORIES), 1, "http://a.example/pictures/1")

    assert visit.article_probability(0.4, 0.7) == 0.4
    assert visit.article_probability(0.7, 0.4) == 0.4


def test_the_probability_of_a_page_is_adjusted_by_what_others_at_such_addresses_were() -> None:
    memory = SiteMemory()
    for n in range(10):
        for path, probability in (("news", 0.95), ("pictures", 0.05)):
            url = f"http://a.example/{path}/{n}"
            memory = memory.plus(address_memory(url, probability, 1))

    assert SiteContext(memory, 1, "http://a.example/news/99").article_probability(0.4, 0.4) > 0.5
    assert (
        SiteContext(memory, 1, "http://a.example/pictures/99").article_probability(0.6, 0.6) < 0.5
    )


def test_a_page_without_an_article_adds_its_address_alone() -> None:
    visit = SiteContext(SiteMemory(), 1, "http://a.example/section/council")

    read("<ul>" + "".join(f"<li><a href=/{n}>Story {_word(n)}</a>" for n in range(20)), visit)

    added = visit.update.added
    assert added.pages == len(added.texts) == len(added.containers) == 0
    assert added.addresses.find("/section/{word}").pages == 1
