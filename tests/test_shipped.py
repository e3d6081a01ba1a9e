from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from scrapy_mss.core.extractor import Extractor
from scrapy_mss.core.model import Model, fingerprint, from_bytes, read_header, to_bytes
from scrapy_mss.core.profiles import DEFAULT, PAPER
from scrapy_mss.shipped import FILE, box_of, completed, shipped
from tests.core.pages import news_page
from tests.page_cases import PAGES, read_cases

LARGEST = 8_000_000  # bytes
CASES = [case.name for case in read_cases() if case.untrained]


@pytest.fixture(scope="module")
def box() -> Model:
    return shipped()


def learned(*numbers: int) -> Model:
    """What a crawl learned."""
    model = Model(DEFAULT)
    for number in numbers:
        page = news_page(number)
        model.learn(page.tokens, page.inside)
    return model


def test_the_box_is_small_and_of_the_default_profile() -> None:
    data = files("scrapy_mss").joinpath(FILE).read_bytes()
    header, _ = read_header(data)

    assert len(data) < LARGEST
    assert header["profile"] == DEFAULT.name
    assert [row["name"] for row in header["families"]] == list(DEFAULT.families)
    assert header["fingerprint"] == fingerprint(DEFAULT.families)
    assert header["pages"] > 1000


def test_the_box_has_a_judge_and_comes_back_as_it_is(box: Model) -> None:
    assert box.judge is not None
    assert box.profile is DEFAULT
    assert to_bytes(box) == files("scrapy_mss").joinpath(FILE).read_bytes()


def test_each_copy_is_its_own(box: Model) -> None:
    pages = box.bayes.pages
    page = news_page(0)

    shipped().learn(page.tokens, page.inside)

    assert box.bayes.pages == shipped().bayes.pages == pages


def framed(source: str) -> str:
    """A page of two lists around its text, with the elements that real pages have for them."""
    menu, rest = source.split("</ul>", 1)
    text, links = rest.rsplit("<ul>", 1)
    return (
        f"{menu.replace('<ul>', '<nav><ul>')}</ul></nav><article class='article-body'>{text}"
        f"</article><footer><ul>{links.replace('</body>', '</footer></body>')}"
    )


@pytest.mark.parametrize("case", CASES)
def test_the_model_in_the_box_reads_the_pages_that_were_read_wrongly_once(
    case: str, box: Model
) -> None:
    """On a page as bare as these, menus may be text; between a menu and a footer they are not."""
    source = (PAGES / case / "source.html").read_text(encoding="utf-8")
    expected = (PAGES / case / "expected.txt").read_text(encoding="utf-8").rstrip("\n")

    bare, real = (Extractor(box).extract(page) for page in (source, framed(source)))

    assert expected in bare.text
    assert real.text == expected
    assert real.is_article


def test_the_model_in_the_box_reads_made_up_news(box: Model) -> None:
    """All of the text, nothing of the lists; the heading between them could be of either."""
    for number in range(3):
        page = news_page(number, site="seven")

        added = Extractor(box).extract(page.html).text.removeprefix(page.text)

        assert added in {"", "\n\nMore from seven"}


def test_what_a_crawl_learned_is_added_to_the_box(box: Model) -> None:
    crawl = learned(1, 2)
    before = to_bytes(crawl)

    whole = completed(crawl)

    assert whole.judge is not None
    assert whole.bayes.pages == box.bayes.pages + 2
    assert whole.bayes.tokens.tolist() == (box.bayes.tokens + crawl.bayes.tokens).tolist()
    for name, counts in whole.bayes.counts.items():
        assert np.array_equal(counts, box.bayes.counts[name] + crawl.bayes.counts[name])
    assert to_bytes(crawl) == before


def test_a_crawl_that_learned_nothing_has_the_box(box: Model) -> None:
    assert to_bytes(completed(Model(DEFAULT))) == to_bytes(box)


def test_a_complete_model_and_one_of_another_profile_stay_as_they_are(box: Model) -> None:
    for model in (box, Model(PAPER)):
        assert box_of(model) is None
        assert completed(model) is model


def test_a_model_file_of_a_crawl_merges_with_another() -> None:
    one, two = from_bytes(to_bytes(learned(1))), from_bytes(to_bytes(learned(2)))

    one.bayes.merge(two.bayes)

    assert to_bytes(one) == to_bytes(learned(1, 2))
    assert to_bytes(completed(one)) == to_bytes(completed(learned(1, 2)))
