from __future__ import annotations

from research.datasets.pages import LabelledPage
from research.studies.site_memory import crawl, read
from scrapy_mss.extractor import Extractor

WORDS = "harbour storm boats council bridge ferry market school tram river bank mill".split()


def labelled(number: int) -> LabelledPage:
    """A page of a site that puts a long notice under each of its articles."""
    own = WORDS[number % len(WORDS)]
    text = [
        f"The {own} of the town was closed by {w}, and {w} stayed there all day." for w in WORDS
    ]
    notice = "This notice is under every article of our paper, and it asks all readers for money."
    body = "".join(f"<p>{line}</p>" for line in [*text, notice])
    html = f"<h1>{own}</h1><div class=story>{body}</div>"
    return LabelledPage(str(number), "a.example", html, ("\n\n".join(text),))


def test_pages_are_read_with_the_memory_of_those_before_them() -> None:
    extractor = Extractor()
    pages = [read(labelled(number), extractor) for number in range(8)]

    found = list(crawl(pages, 0, extractor))

    assert found[:3] == [page.today for page in pages[:3]]
    assert all(f1 > page.today for f1, page in zip(found[3:], pages[3:], strict=True))
    assert all(first.today < 1 for first in pages)


def test_with_labels_the_first_pages_teach_what_is_labelled() -> None:
    extractor = Extractor()
    pages = [read(labelled(number), extractor) for number in range(6)]

    unlabelled, by_labels = (list(crawl(pages, n, extractor))[-1] for n in (0, 5))

    assert by_labels >= unlabelled
    assert pages[0].adds_labelled.labelled_pages == 1
