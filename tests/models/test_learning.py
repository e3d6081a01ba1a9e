"""What a model learns from labelled pages, and what it reads better or no worse by that."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from research.studies import learning
from scrapy_mss.article import ReadOptions
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.blocks.text_labels import TRUST, label_blocks
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.format import ModelError, from_bytes, to_bytes
from scrapy_mss.models.model import Example, Model, example_of
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.model_files import assembled, parts_of

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

NOTICE = (
    "This text was written for our readers, and all of its rights belong to the publisher of it."
)


def page(site: str, number: int, size: int = 6) -> tuple[str, str, str]:
    """The source, text and address of a page whose site has a notice below each article."""
    lines = [f"Line {n} of story {number} on {site}: the ferry sails again." for n in range(size)]
    body = "".join(f"<p>{line}</p>" for line in lines)
    source = f"<html><body><div><h1>Story {number}</h1>{body}<p>{NOTICE}</p></div></body></html>"
    return source, " ".join(lines), f"https://{site}/{number}"


def taught(*sites: str, pages: int = 6) -> Extractor:
    extractor = Extractor()
    for site in sites:
        for number in range(pages):
            assert extractor.learn(*page(site, number)) is None
    return extractor


def probabilities(extractor: Extractor, site: str) -> tuple[float, float]:
    """Those of a new page of *site*: of its least likely line, and of the notice below."""
    source, _, address = page(site, 99)
    _, *lines, notice = (block.probability for block in extractor.explain(source, address).blocks)
    return min(lines), notice


def test_a_site_whose_pages_were_learned_is_read_as_they_were_labelled() -> None:
    _, before = probabilities(Extractor(), "a.example")

    line, notice = probabilities(taught("a.example"), "a.example")

    assert notice < 0.6
    assert min(before, line) > 0.9
    assert probabilities(taught("b.example"), "a.example")[1] == pytest.approx(before)


def test_what_several_sites_have_in_common_is_used_for_all() -> None:
    extractor = taught(*(f"{name}.example" for name in "abcdef"), pages=3)

    line, notice = probabilities(extractor, "other.example")

    assert notice < 0.8
    assert line > 0.9


def test_what_was_learned_is_saved_and_loaded(tmp_path: Path) -> None:
    extractor = taught("a.example")
    source, _, address = page("a.example", 99)
    extractor.save(tmp_path / "model")

    loaded = Extractor(tmp_path / "model")

    assert loaded.extract(source, address).text == extractor.extract(source, address).text
    known, again = extractor.model.learned.lessons, loaded.model.learned.lessons
    assert np.array_equal(known.keys, again.keys)
    assert np.array_equal(known.sums, again.sums)
    assert loaded.model.identifier == extractor.model.identifier


def test_texts_of_feeds_teach_a_site_less_and_without_counts(tmp_path: Path) -> None:
    extractor, long = Extractor(), 20
    work = PageWork(extractor.model, ReadOptions())
    _, before = probabilities(extractor, "a.example")
    learned = extractor.model.learned
    for number in range(8):
        source, text, address = page("a.example", number, long)
        answer = work.answer(PageRequest(source, address, text=FedText(text)))
        assert isinstance(answer.example, Example)
        learned.add(answer.example, 0)

    line, notice = probabilities(extractor, "a.example")
    extractor.save(tmp_path / "model")
    loaded = Extractor(tmp_path / "model")

    assert notice < before - 0.2
    assert line > 0.9
    assert learned.bayes.pages == 0
    assert loaded.model.identifier == extractor.model.identifier != Extractor().model.identifier
    for each in (learned, loaded.model.learned):
        assert each.lessons.pages == pytest.approx(8 * TRUST, abs=1e-3)
        assert len(each.learned_pages) == 8


def test_lessons_relative_to_another_model_start_from_zero_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    learned = taught("a.example").model.learned
    learned.lessons.reader += 1

    model = with_bundled(learned)

    assert not len(model.learned.lessons)
    assert model.learned.bayes.pages == 6
    assert "6 labelled pages" in caplog.text


@pytest.mark.parametrize("part", ["count", "keys"])
def test_damaged_lessons_are_an_error(part: str) -> None:
    header, body = parts_of(to_bytes(taught("a.example").model.learned))
    if part == "count":
        header["lessons"]["count"] += 1
    else:
        header["lessons"]["bytes"] -= 1

    with pytest.raises(ModelError):
        from_bytes(assembled(header, body))


def test_two_models_teach_together_what_one_does() -> None:
    whole = taught("a.example", "b.example").model.learned
    one, other = taught("a.example").model.learned, taught("b.example").model.learned
    one.merge(other)

    assert one.lessons.pages == whole.lessons.pages == pytest.approx(12, abs=1e-3)


def test_a_model_of_counts_alone_learns_no_lessons() -> None:
    extractor = Extractor(profile="paper")

    assert extractor.learn(*page("a.example", 1)) is None
    assert not len(extractor.model.lessons)
    assert not len(Model(DEFAULT).lessons)


@pytest.mark.slow("a set of labelled pages")
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the labelled pages of ../shared/data")
def test_pages_of_two_greek_sites_do_no_harm_to_others() -> None:
    """As they did when their words were taken for those of a language: .977 to .789 on one site."""
    sites = learning.pages_of(DATA, "sites_daniel", Extractor())
    greek = sorted(site for site in sites if site.endswith(".gr"))
    for first in range(0, len(greek) - 1, 2):
        extractor = Extractor()
        for site in greek[first : first + 2]:
            for each in sites[site][:5]:
                inside = each.page.blocks.spread(label_blocks(each.page, each.text))
                example = example_of(each.page, inside, extractor.model)
                assert isinstance(example, Example)
                extractor.model.learned.add(example, 0)
        for site in set(greek) - set(greek[first : first + 2]):
            read = list(islice(sites[site], 20))
            before = fmean(each.alone for each in read)
            after = fmean(learning.f1(extractor, each.page, each.text) for each in read)
            assert after >= before - learning.MOST_LOST, site
